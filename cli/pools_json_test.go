package cli

import (
	"strings"
	"testing"

	"blis/actors"
	"blis/metrics"
	"blis/report"
	"blis/vtime"
	"blis/workload"
)

// disaggregated is the report of requests on two deployments: instance 0 computes prompts for instance 1, and
// instance 2 serves alone.
func disaggregated(t *testing.T, completed bool) *metrics.Report {
	t.Helper()
	run := metrics.Run{End: 1e6, Classes: []string{"c"}, Tenants: []string{"t"}, Models: []string{"m"}, InstanceNames: []string{"instance-0", "instance-1", "instance-2"},
		Disaggregated: make([]metrics.Disaggregation, 3), Counters: make([]metrics.Counters, 3)}
	for range 3 {
		run.Instances = append(run.Instances, metrics.NewRecorder(metrics.Options{To: vtime.Never}))
	}
	for i := range int64(40) {
		o := metrics.Outcome{Identity: workload.Identity{ID: i, Arrival: vtime.Time(1000 * i), Input: 9}, Progress: metrics.NoProgress(), HandOver: metrics.NoHandOver(), Instance: 1 + int32(i%2)}
		o.Admitted, o.Routed = o.Arrival, o.Arrival+1500
		o.State, o.Queued = metrics.Queued, o.Arrival+1594
		if i%4 == 1 {
			o.HandOver = metrics.HandOver{Cached: 4, Queued: o.Arrival, Scheduled: o.Arrival + 50, Ended: o.Arrival + 1094, PullStart: o.Arrival + 1600, PullEnd: o.Arrival + 1885, RemoteTokens: 8}
		}
		if completed {
			o.State, o.Scheduled, o.FirstToken, o.LastToken, o.Finished = metrics.Completed, o.Arrival+1885, o.Arrival+2895, o.Arrival+2895, o.Arrival+2895
			o.Cached, o.Generated = 8, 1
		} else {
			o.Finished = vtime.Never
			o.HandOver.PullStart, o.HandOver.PullEnd, o.HandOver.RemoteTokens = vtime.Never, vtime.Never, 0
		}
		run.Instances[o.Instance].Record(&o)
		run.Injected++
	}
	run.Deployments = []metrics.Deployment{
		{Name: "chat", Coordination: &metrics.Coordination{Disaggregated: 10, Direct: 10, Backpressure: 2}, Pools: []metrics.Pool{
			{Name: "chat/prefill", Role: metrics.PrefillRole, Model: "m", GPU: "H100", TP: 1, Instances: []int{0}, PaidMicros: 1e6},
			{Name: "chat/decode", Role: "decode", Model: "m", GPU: "H100", TP: 2, Instances: []int{1}, PaidMicros: 1e6, Price: 3},
		}},
		{Name: "small", Pools: []metrics.Pool{{Name: "small", Role: "monolithic", Model: "m", GPU: "H100", TP: 1, Instances: []int{2}, PaidMicros: 1e6}}},
	}
	if completed {
		run.Disaggregated[0] = metrics.Disaggregation{HandOvers: 10, NoticedEnds: 9, PeakAwaiting: 3}
		run.Disaggregated[1] = metrics.Disaggregation{Pulls: 10, PulledBlocks: 30, PullMicros: 2850, NoticedPulls: 10, PullNotice: 5, RemoteTokens: 80, PulledPrompts: 90}
		for i := range run.Counters {
			run.Counters[i].LifeMicros = 1e6
		}
	}
	run.Counters[1].LookedUpTokens, run.Counters[1].CachedTokens = run.Disaggregated[1].PulledPrompts, run.Disaggregated[1].RemoteTokens
	r, err := metrics.Collect(run)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Results with pools and hand-overs fit the schema, with and without anything that completed.
func TestResultsWithPoolsFitTheSchema(t *testing.T) {
	cfg := actors.DefaultConfig()
	cfg.NumRequests = 10
	for name, completed := range map[string]bool{"served": true, "not served": false} {
		result, err := actors.Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		use := result.Report.KVUse
		result.Report = disaggregated(t, completed)
		result.Report.KVUse = use
		var b strings.Builder
		if err := report.JSON(&b, result); err != nil {
			t.Fatal(err)
		}
		for _, bad := range loadSchema(t).check(b.String()) {
			t.Errorf("%s: %s", name, bad)
		}
		for _, key := range []string{`"pd": {`, `"per_deployment": {`, `"per_pool": {`} {
			if !strings.Contains(b.String(), key) {
				t.Errorf("%s: no %s in the result", name, key)
			}
		}
	}
}
