package accept

import (
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/gateway/quota"
	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
)

// A Stage lets callers through one step on their way in, such as a login: each
// address and each tenant at a rate, and all together. It is safe for
// concurrent use. The nil Stage lets everybody through.
type Stage struct {
	Name               string
	rate               *shared
	addresses, tenants *quota.Table
	observe            bool
	passed             atomic.Uint64
	refused            [Limits]atomic.Uint64
}

// NewStage returns a stage of the way in.
func NewStage(way settings.Accept, s settings.Stage) *Stage {
	return &Stage{
		Name:      s.Name,
		rate:      newShared(s.Rate, s.Burst, way.RetryAfter),
		addresses: quota.New(s.PerAddress.Rate, s.PerAddress.Burst, way.Keys),
		tenants:   quota.New(s.PerTenant.Rate, s.PerTenant.Burst, way.Keys),
		observe:   way.Observe,
	}
}

// WantsAddress reports whether Take looks at the address: finding it out costs
// something.
func (s *Stage) WantsAddress() bool { return s != nil && s.addresses != nil }

// Take reports whether somebody may take the step now. Otherwise it says what
// is used up, and when to come back. What is used up last costs those who are
// refused for it nothing of their own.
func (s *Stage) Take(now policy.Instant, address, tenant uint64) (over Limit, after time.Duration, ok bool) {
	if s == nil {
		return 0, 0, true
	}
	over, own, ok := s.over(now, address, tenant)
	if !ok {
		s.refused[over].Add(1)
		if !s.observe {
			return over, s.rate.comeBack(now, over, own), false
		}
	}
	s.passed.Add(1)
	return 0, 0, true
}

func (s *Stage) over(now policy.Instant, address, tenant uint64) (over Limit, own policy.Instant, ok bool) {
	if own, ok = s.addresses.Take(now, address); !ok {
		return Address, own, false
	}
	if own, ok = s.tenants.Take(now, tenant); !ok {
		s.addresses.Undo(now, address)
		return Tenant, own, false
	}
	if !s.rate.allow(now) {
		s.addresses.Undo(now, address)
		s.tenants.Undo(now, tenant)
		return Rate, 0, false
	}
	return 0, 0, true
}

// Passed returns how many were let through.
func (s *Stage) Passed() uint64 { return s.passed.Load() }

// Refused returns how many were over the limit; when only observing, how many
// would have been.
func (s *Stage) Refused(l Limit) uint64 { return s.refused[l].Load() }
