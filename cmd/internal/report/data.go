package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/kalan-go/kalan/sim"
)

// A download is data to copy.
type download struct{ ID, Title, Text string }

// newDownloads returns what other programs read.
func newDownloads(r *sim.Result) ([]download, error) {
	summary, err := asJSON(r)
	if err != nil {
		return nil, err
	}
	arms, err := asCSV(armRows(r))
	if err != nil {
		return nil, err
	}
	series, err := asCSV(seriesRows(r))
	if err != nil {
		return nil, err
	}
	return []download{
		{"data-json", "Summary as JSON, as --format json writes it", copied(summary)},
		{"data-arms", "Arms as CSV", copied(arms)},
		{"data-series", "Course over time as CSV", copied(series)},
	}, nil
}

// asJSON writes the result without the time it took, which is the one figure
// that is never the same twice.
func asJSON(r *sim.Result) (string, error) {
	text, err := json.Marshal(*r)
	if err != nil {
		return "", err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return "", err
	}
	delete(fields, "cpu_s")
	text, err = json.Marshal(fields)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = json.Indent(&out, text, "", "  ")
	return out.String(), err
}

func asCSV(rows [][]string) (string, error) {
	var out strings.Builder
	w := csv.NewWriter(&out)
	err := w.WriteAll(rows)
	return out.String(), err
}

// cell keeps a name from being taken for a formula by the program that it is
// pasted into (OWASP, "CSV injection").
func cell(name string) string {
	name = strings.ToValidUTF8(name, "�")
	if strings.ContainsAny(name[:min(1, len(name))], "=+-@\t\r") {
		return "'" + name
	}
	return name
}

func exact(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

func armRows(r *sim.Result) [][]string {
	rows := [][]string{{"arm", "verdict", "offered_rps", "goodput_rps", "goodput_ci95", "attempts_rps", "attempts_per_request", "wasted_share",
		"p50_s", "p95_s", "p99_s", "capacity_rps", "recovery_s"}}
	for i := range r.Arms {
		a := &r.Arms[i]
		at := func(q float64) string { return exact(a.Latency.Quantile(q).Seconds()) }
		recovery := ""
		if a.Verdict == sim.Recovers {
			recovery = exact(a.Recovery.Mean)
		}
		half := ""
		if a.Goodput.N > 1 {
			half = exact(a.Goodput.Half)
		}
		rows = append(rows, []string{cell(a.Name), a.Verdict.String(), exact(a.Offered.Mean), exact(a.Goodput.Mean), half,
			exact(a.Attempts.Mean), exact(a.Amplification.Mean), exact(a.Wasted.Mean), at(.5), at(.95), at(.99), exact(a.Capacity), recovery})
	}
	return rows
}

func seriesRows(r *sim.Result) [][]string {
	rows := [][]string{{"arm", "from_s", "offered_rps", "goodput_rps", "attempts_rps"}}
	for i := range r.Arms {
		for _, m := range courseOf(r, &r.Arms[i], points(r, pointsInTime)).moments {
			rows = append(rows, []string{cell(r.Arms[i].Name), exact(m.At.Seconds()), exact(m.Offered), exact(m.Answered), exact(m.Attempts)})
		}
	}
	return rows
}
