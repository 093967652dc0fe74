package actors

import (
	"fmt"
	"strings"
	"testing"

	"blis/bundle"
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
	{"class inversion", func(r *Result) int64 { return r.Report.Anomalies.ClassInversion }},
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
// its own measure the order is right. What is wrong with it shows in the
// priorities themselves, and in the targets of those it makes wait.
func TestPathologies(t *testing.T) {
	const urgentFirst = "priority: {type: slo-based}\nscheduler: {type: priority-fcfs}\nrouting: {type: least-loaded}\n"
	const asked = "min: 3, max: 4, interval: 50ms, actuation: {provisioning: 0, model_load: 0, drain: redirect}}"
	covered := map[string]bool{}
	for _, c := range []struct {
		template   string
		sane, sick string
		raises     string // separated by commas
	}{
		{"inverted-slo", urgentFirst, strings.Replace(urgentFirst, "slo-based", "inverted-slo", 1), "class inversion,urgent beyond target"},
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
func rush(t *testing.T, text string) *Result {
	t.Helper()
	b, err := bundle.Parse("bundle", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig()
	c.AlphaCoeffs, c.BetaCoeffs = []float64{0, 0, 0}, []float64{6910.42, 17.67, 2.84}
	c.NumInstances, c.MaxNumSeqs, c.MaxNumBatchedTokens, c.Policies = 3, 4, 2048, b
	c.SLOTargets = "realtime:ttft=1s"
	requests, labels := mixed()
	return runTraffic(t, c, requests, labels)
}

// mixed are the requests of a rush.
func mixed() ([]workload.Request, workload.Labels) {
	var labels workload.Labels
	labels.Tenants.Label("")
	labels.Models.Label("")
	var requests []workload.Request
	for i := range 240 {
		r := request(vtime.Time(i*8000), int32(100+i*37%300), int32(20+i*13%60))
		r.Class = labels.Classes.Label([...]string{"batch", "standard", "realtime", "background", "batch", "standard", "sheddable", "batch"}[i%8])
		requests = append(requests, r)
	}
	return requests, labels
}

// TestClassInversionsWithoutTargets: inverted-slo is found without any SLO
// targets, and so are others that put less urgent classes first; sane policies
// are not, even where admission changes the order of requests.
func TestClassInversionsWithoutTargets(t *testing.T) {
	const tenants = "priority: {type: tenant-priority, tenants: {few: 5, many: 1}}\n"
	const delays = "admission: {type: tenant-quota, params: {max_active: 20, delay: 100ms, max_delays: 100}}\n"
	for _, c := range []struct {
		name, bundle string
		targets      string
		few          string // the class of tenant few; the others are of tenant many
		want         bool
	}{
		{"constant", "priority: {type: constant}\n", "", "", false},
		{"slo-based", "priority: {type: slo-based}\n", "", "", false},
		{"slo-based, scores of one's own in order", "priority: {type: slo-based, params: {critical: 3, standard: 2, batch: 1, background: 1, sheddable: -1}}\n", "", "", false},
		{"slo-based, scores out of order", "priority: {type: slo-based, params: {critical: 3, batch: 4}}\n", "", "", true},
		{"inverted-slo", "priority: {type: inverted-slo}\n", "", "", true},
		{"deadline-aware without targets", "priority: {type: deadline-aware}\n", "", "", false},
		{"deadline-aware, urgent ones have less time", "priority: {type: deadline-aware}\n", "realtime:ttft=1s;standard:ttft=2s;batch:ttft=9s", "", false},
		{"deadline-aware, batch has less time", "priority: {type: deadline-aware}\n", "realtime:ttft=1s;batch:ttft=100ms", "", true},
		{"tenants of one class each, the urgent one first", tenants, "", "realtime", false},
		{"tenants of one class each, the other first", tenants, "", "sheddable", true},
	} {
		for _, admission := range []string{"", delays} {
			b, err := bundle.Parse("bundle", []byte(c.bundle+admission+"scheduler: {type: priority-fcfs}\nrouting: {type: least-loaded}\n"))
			if err != nil {
				t.Fatal(err)
			}
			x := DefaultConfig()
			x.AlphaCoeffs, x.BetaCoeffs = []float64{0, 0, 0}, []float64{6910.42, 17.67, 2.84}
			x.NumInstances, x.MaxNumSeqs, x.MaxNumBatchedTokens, x.Policies, x.SLOTargets = 3, 4, 2048, b, c.targets
			requests, labels := mixed()
			few, many := labels.Tenants.Label("few"), labels.Tenants.Label("many")
			for i := range requests {
				if requests[i].Tenant = many; labels.Classes.Name(requests[i].Class) == c.few {
					requests[i].Tenant = few
				}
			}
			r := runTraffic(t, x, requests, labels)
			a := &r.Report.Anomalies
			if (a.ClassInversion > 0) != c.want || a.PriorityInversion > 0 || a.SLOViolation.Total() > 0 && c.targets == "" {
				t.Errorf("%s, admission %q: %d class inversions, want some: %v; anomalies %+v", c.name, admission, a.ClassInversion, c.want, *a)
			}
			if admission != "" && r.Report.Overall.States[metrics.Completed] != r.Report.Injected {
				t.Errorf("%s: %d completed", c.name, r.Report.Overall.States[metrics.Completed])
			}
			t.Logf("%-48s %d of %d", c.name, a.ClassInversion, r.Report.Injected)
		}
	}
}

// TestClassInversionsAreOfTheMeasured, and are the same whatever the others are.
func TestClassInversionsAreOfTheMeasured(t *testing.T) {
	for _, from := range []vtime.Duration{0, 800_000, 1_600_000} {
		c := DefaultConfig()
		c.AlphaCoeffs, c.BetaCoeffs = []float64{0, 0, 0}, []float64{6910.42, 17.67, 2.84}
		c.PriorityPolicy, c.MeasureFrom = "inverted-slo", from
		requests, labels := mixed()
		r := runTraffic(t, c, requests, labels)
		urgency := map[string]int{"realtime": 0, "standard": 1, "batch": 2, "background": 3, "sheddable": 4}
		want, most := int64(0), 5
		for i := range requests {
			place := urgency[labels.Classes.Name(requests[i].Class)]
			if place > most && requests[i].Arrival >= vtime.Time(from) {
				want++
			}
			most = min(most, place)
		}
		if got := r.Report.Anomalies.ClassInversion; got != want || want == 0 {
			t.Errorf("from %v: %d class inversions, want %d", from, got, want)
		}
	}
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
