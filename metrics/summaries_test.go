package metrics

import (
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
)

// allAtOnce and backwards are other ways to be Run.Each.
func allAtOnce(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

func backwards(n int, f func(i int)) {
	for i := range n {
		f(n - 1 - i)
	}
}

// The report must not depend on who computed what of it, and when; the race
// detector watches.
func TestCollectIsTheSameWhoeverComputesIt(t *testing.T) {
	seed := rand.Uint64()
	var want *Report
	each := []func(int, func(int)){nil, sequentially, allAtOnce, backwards}
	for way := range each {
		r := rand.New(rand.NewPCG(seed, 9))
		o := options()
		run := named(Run{Routers: []*Recorder{NewRecorder(o)}, Instances: []*Recorder{NewRecorder(o), NewRecorder(o), NewRecorder(o)},
			End: 1e10, Cut: true, Injected: 20_000, Each: each[way]})
		for i := range run.Injected {
			x := randomOutcome(r, i)
			recorder := run.Routers[0]
			if x.State != Rejected && x.State != Pending {
				x.Instance = r.Int32N(2) // the third stays empty
				recorder = run.Instances[x.Instance]
			}
			recorder.Record(&x)
			recordITL(recorder, &x)
		}
		report, err := Collect(run)
		if err != nil {
			t.Fatalf("seed %d, way %d: %v", seed, way, err)
		}
		if want == nil {
			want = report
		}
		if !reflect.DeepEqual(report, want) {
			t.Fatalf("seed %d: way %d reports something else", seed, way)
		}
		for _, scopes := range []Scopes{{{Scope: report.Overall}}, report.PerClass, report.PerInstance[:2]} {
			for _, s := range scopes {
				if s.ITL == nil || s.ITL.P99 == 0 || s.E2E == nil || s.E2E.P50 == 0 || s.QueueWait.P99 == 0 {
					t.Fatalf("seed %d, way %d: a summary of %q was not computed", seed, way, s.Name)
				}
			}
		}
	}
}
