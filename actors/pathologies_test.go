package actors

import (
	"fmt"
	"strings"
	"testing"

	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// anomalies are what a pathological policy is found by.
var anomalies = []struct {
	name  string
	count func(*Result) int64
}{
	{"priority inversion", func(r *Result) int64 { return r.Report.Anomalies.PriorityInversion }},
	{"head-of-line blocking", func(r *Result) int64 { return r.Report.Anomalies.HeadOfLineBlocking }},
	{"queue imbalance", func(r *Result) int64 { return r.Report.Anomalies.QueueImbalance }},
	{"urgent beyond target", func(r *Result) int64 { return r.Report.Anomalies.SLOViolation.Total() }},
	{"oscillation", func(r *Result) int64 {
		n := r.Report.Anomalies.ScaleOscillation
		if n == nil { // nothing scales
			return 0
		}
		return *n
	}},
	{"rejection", func(r *Result) int64 { return r.Report.Overall.States[metrics.Rejected] }},
}

// TestPathologies runs each pathological template and the sane one of its kind
// under the same rush: what it is there to raise it raises, and nothing else;
// the sane one raises nothing.
//
// inverted-slo is not found by a priority inversion. Schedulers go by the
// priorities that are given and so do the two anomalies that compare them: by
// its own measure the order is right. What is wrong with it shows in the targets
// of those it makes wait.
func TestPathologies(t *testing.T) {
	const urgentFirst = "priority: {type: slo-based}\nscheduler: {type: priority-fcfs}\nrouting: {type: least-loaded}\n"
	const asked = "min: 3, max: 4, interval: 50ms, actuation: {provisioning: 0, model_load: 0, drain: redirect}}"
	covered := map[string]bool{}
	for _, c := range []struct {
		template   string
		sane, sick string
		raises     string // separated by commas
	}{
		{"inverted-slo", urgentFirst, strings.Replace(urgentFirst, "slo-based", "inverted-slo", 1), "urgent beyond target"},
		{"reverse-priority", urgentFirst, strings.Replace(urgentFirst, "priority-fcfs", "reverse-priority", 1), "priority inversion,head-of-line blocking,urgent beyond target"},
		{"always-busiest", urgentFirst, strings.Replace(urgentFirst, "least-loaded", "always-busiest", 1), "queue imbalance"},
		{"oscillator", urgentFirst + "autoscale: {type: threshold, params: {up: 0.5, down: 0.1}, " + asked, urgentFirst + "autoscale: {type: oscillator, " + asked, "oscillation"},
		{"reject-all", urgentFirst, urgentFirst + "admission: {type: reject-all}\n", "rejection"},
	} {
		t.Run(c.template, func(t *testing.T) {
			for _, run := range []struct{ name, bundle, raises string }{{"the sane one", c.sane, ""}, {c.template, c.sick, c.raises}} {
				r := rush(t, run.bundle)
				var found []string
				for _, a := range anomalies {
					n := a.count(r)
					if wanted := strings.Contains(run.raises, a.name); wanted != (n > 0) {
						t.Errorf("%s: %s %d, want some: %v", run.name, a.name, n, wanted)
					}
					if n > 0 {
						found = append(found, fmt.Sprintf("%s %d", a.name, n))
					}
				}
				if n := r.Report.Overall.States[metrics.Completed]; run.raises == "rejection" && n > 0 {
					t.Errorf("%s: %d requests completed", run.name, n)
				} else if run.raises != "rejection" && n != r.Report.Injected {
					t.Errorf("%s: %d of %d requests completed", run.name, n, r.Report.Injected)
				}
				t.Logf("%-16s  %s", run.name, strings.Join(found, ", "))
			}
		})
		covered[c.template] = true
	}
	for _, template := range policy.Templates() {
		if strings.Contains(template.Help, "pathological") && !covered[template.Name] {
			t.Errorf("%s is pathological and not tested", template.Name)
		}
	}
}

// rush is a run of a bundle under more than three instances can serve at once, of
// urgent requests and others. Urgent ones have a second.
func rush(t *testing.T, bundle string) *Result {
	t.Helper()
	b, err := policy.ParseBundle("bundle", []byte(bundle))
	if err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig()
	c.AlphaCoeffs, c.BetaCoeffs = []float64{0, 0, 0}, []float64{6910.42, 17.67, 2.84}
	c.NumInstances, c.MaxNumSeqs, c.MaxNumBatchedTokens, c.Policies = 3, 4, 2048, b
	c.SLOTargets = "realtime:ttft=1s"
	var labels workload.Labels
	labels.Tenants.Label("")
	labels.Models.Label("")
	var requests []workload.Request
	for i := range 240 {
		r := request(vtime.Time(i*8000), int32(100+i*37%300), int32(20+i*13%60))
		r.Class = labels.Classes.Label([...]string{"batch", "standard", "realtime", "background", "batch", "standard", "sheddable", "batch"}[i%8])
		requests = append(requests, r)
	}
	return runTraffic(t, c, requests, labels)
}

// TestAlwaysBusiestIsFoundOnTwoInstances, without targets; sane routing is not.
func TestAlwaysBusiestIsFoundOnTwoInstances(t *testing.T) {
	for _, routing := range []string{"always-busiest", "round-robin", "least-loaded", "weighted", "power-of-two", "prefix-affinity"} {
		for _, gap := range []vtime.Duration{4000, 12_000, 16_000, 40_000} { // beyond what two serve, near it, and below
			c := DefaultConfig()
			c.AlphaCoeffs, c.BetaCoeffs = []float64{0, 0, 0}, []float64{6910.42, 17.67, 2.84}
			c.NumInstances, c.MaxNumSeqs, c.MaxNumBatchedTokens, c.RoutingPolicy = 2, 4, 2048, routing
			var requests []workload.Request
			for i := range 400 {
				requests = append(requests, request(vtime.Time(gap)*vtime.Time(i), int32(100+i*37%300), int32(20+i*13%60)))
			}
			n := serve(t, c, requests...).Report.Anomalies.QueueImbalance
			if want := routing == "always-busiest"; (n > 0) != want && (!want || gap < 40_000) {
				t.Errorf("%s, a request every %v: %d instances out of balance, want some: %v", routing, gap, n, want)
			}
		}
	}
}
