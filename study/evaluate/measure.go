package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"blis/metrics"
	"blis/study"
)

// Weighted is a measure with its weight in the score of a scenario. One of weight 0 is
// reported and does not count.
type Weighted struct {
	metrics.Measure
	Class, Tenant string // whose requests it is of: at most one is given; none: all requests
	Weight        float64
}

// key is the name of the measure in a suite: p99_ttft, batch:p99_ttft or tenant/gold:p99_ttft.
func (w *Weighted) key() string { return w.of() + w.Name }

// of is whose requests the measure is of, as its name begins.
func (w *Weighted) of() string {
	switch {
	case w.Class != "":
		return w.Class + ":"
	case w.Tenant != "":
		return metrics.TenantPrefix + w.Tenant + ":"
	}
	return ""
}

// ofAll reports whether the measure is of all requests.
func (w *Weighted) ofAll() bool { return w.Class == "" && w.Tenant == "" }

// counts reports whether a request of a class and a tenant is one of those that the measure is of.
func (w *Weighted) counts(class, tenant string) bool {
	return (w.Class == "" || w.Class == class) && (w.Tenant == "" || w.Tenant == tenant)
}

// wholeRuns are the measures that may count although they are of a whole run, not of its
// requests: a request that is refused adds nothing to them.
var wholeRuns = strings.Fields("goodput throughput tokens_per_second jain replica_hours scale_efficiency completed_per_replica_hour " +
	"cost cost_per_mtok_input cost_per_mtok_output cost_per_mtok")

// ofAllRequests are the measures by which a policy cannot win by refusing work.
var ofAllRequests = []string{"goodput", "slo_attainment", "completed_share"}

// mayCount reports whether a measure may have a weight: whether it counts all requests that
// arrived.
func mayCount(m *metrics.Measure) bool {
	return ofRequests(m) || slices.Contains(wholeRuns, m.Name)
}

// ofRequests reports whether a measure is made of single requests, so that it may be that of a class.
func ofRequests(m *metrics.Measure) bool {
	_, ok := study.NewSampler(m)
	return ok
}

// namesOf are the names of all measures of a kind.
func namesOf(kind func(*metrics.Measure) bool) string {
	var names []string
	for _, m := range metrics.Measures() {
		if kind(&m) {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}

// rate reports whether the measure is a number per time in which a run completed requests.
func (w *Weighted) rate() bool {
	return w.Kind == metrics.PerSecond || w.Name == "completed_per_replica_hour"
}

// metric is the name of the measure in answers, which has the unit.
func (w *Weighted) metric() string {
	switch {
	case w.Kind == metrics.Latency:
		return w.key() + "_ms"
	case w.Kind == metrics.PerSecond && w.Unit == "requests/s":
		return w.key() + "_rps"
	}
	return w.key()
}

// inUnit is a value in the unit of the metric.
func (w *Weighted) inUnit(x float64) float64 {
	if w.Kind == metrics.Latency {
		return x / 1000
	}
	return x
}

// text is a value for people.
func (w *Weighted) text(x float64) string {
	switch {
	case math.IsNaN(x):
		return "not measured"
	case math.IsInf(x, 1):
		return "infinite"
	case w.Kind == metrics.Latency:
		return number(x/1000) + " ms"
	}
	return number(x)
}

// number has three significant digits, or all before the point.
func number(x float64) string {
	if math.Abs(x) >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// worst is the metric of a candidate that failed: finite, and nothing that one could want.
func (w *Weighted) worst() float64 {
	if w.Better == metrics.Higher {
		return 0
	}
	return Worst
}

// Worst is the metric of a candidate that failed where less is better, in the metric's unit.
const Worst = 1e9

// resolution is the smallest difference of a measure that matters, in its unit: 1 ms, or a
// thousandth.
func (w *Weighted) resolution() float64 {
	switch w.Kind {
	case metrics.Latency:
		return 1000
	case metrics.Number:
		return 1e-6 // hours of a run of a minute
	}
	return 1e-3
}
