package gateway

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kalan-go/kalan/cmd/internal/gateway/accept"
)

var (
	descOpen        = prometheus.NewDesc("kalan_connections_open", "Open connections of clients.", nil, nil)
	descMost        = prometheus.NewDesc("kalan_connections_limit", "Connections of clients that may be open.", nil, nil)
	descAccepted    = prometheus.NewDesc("kalan_connections_accepted_total", "Connections that were let in.", nil, nil)
	descTurned      = prometheus.NewDesc("kalan_connections_refused_total", "Connections over a limit: refused, or only counted where accept observes.", []string{"limit"}, nil)
	descAddresses   = prometheus.NewDesc("kalan_addresses", "Addresses that are told apart.", nil, nil)
	descPassed      = prometheus.NewDesc("kalan_stage_passed_total", "Requests that a stage let through.", []string{"stage"}, nil)
	descStopped     = prometheus.NewDesc("kalan_stage_refused_total", "Requests over a stage's limit: refused, or only counted where accept observes.", []string{"stage", "limit"}, nil)
	descTenants     = prometheus.NewDesc("kalan_tenants", "Tenants that are told apart.", nil, nil)
	descEvicted     = prometheus.NewDesc("kalan_tenants_evicted_total", "Tenants whose place was given to another.", nil, nil)
	descOverTenants = prometheus.NewDesc("kalan_tenant_refused_total", "Requests over their tenant's rate: refused, or only counted where tenant observes.", nil, nil)
)

var entranceDescs = []*prometheus.Desc{
	descOpen, descMost, descAccepted, descTurned, descAddresses, descPassed, descStopped, descTenants, descEvicted, descOverTenants,
}

// collectEntrance reads what stands before the guards.
func (c collector) collectEntrance(out chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	count := func(desc *prometheus.Desc, n uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), labels...)
	}
	gate, tenants := c.gate.Snapshot(), c.tenants.Snapshot()
	gauge(descOpen, float64(gate.Open))
	gauge(descMost, float64(gate.Most))
	count(descAccepted, gate.Accepted)
	for _, limit := range []accept.Limit{accept.Open, accept.Address, accept.Rate} {
		count(descTurned, gate.Refused[limit], limit.String())
	}
	gauge(descAddresses, float64(gate.Addresses.Keys))
	gauge(descTenants, float64(tenants.Keys))
	count(descEvicted, tenants.Evicted)
	count(descOverTenants, tenants.Refused)
	for _, s := range c.stages {
		count(descPassed, s.Passed(), s.Name)
		for _, limit := range []accept.Limit{accept.Address, accept.Tenant, accept.Rate} {
			count(descStopped, s.Refused(limit), s.Name, limit.String())
		}
	}
}
