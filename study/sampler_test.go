package study

import (
	"math"
	"testing"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

// Samplers of two runs together have the value of one sampler over both, and what is lost is
// infinitely late.
func TestSamplersJoin(t *testing.T) {
	row := func(state metrics.State, ms int64) *actors.Row {
		at := vtime.Time(ms * 1000)
		o := &metrics.Outcome{State: state, Progress: metrics.Progress{Queued: 0, Scheduled: at, FirstToken: at, LastToken: at, Generated: 1}, Finished: at}
		return &actors.Row{Outcome: o}
	}
	for _, c := range []struct {
		measure   string
		one, both float64 // of the first run, of both
		unsent    float64 // with 100 requests that were never sent
	}{
		{"mean_ttft", 1500, 2500, math.Inf(1)},
		{"p50_ttft", 1500, 2500, math.Inf(1)},
		{"completed_share", 1, 1, 4.0 / 104},
	} {
		m, err := metrics.FindMeasure(c.measure)
		if err != nil {
			t.Fatal(err)
		}
		a, ok := NewSampler(&m)
		b, _ := NewSampler(&m)
		if !ok {
			t.Fatalf("%s has no sampler", c.measure)
		}
		a.Add(row(metrics.Completed, 1))
		a.Add(row(metrics.Completed, 2))
		b.Add(row(metrics.Completed, 4))
		b.Add(row(metrics.Completed, 3))
		if got := a.Value(); got != c.one {
			t.Errorf("%s of one run is %v, want %v", c.measure, got, c.one)
		}
		if a.Join(b); a.Value() != c.both {
			t.Errorf("%s of both runs is %v, want %v", c.measure, a.Value(), c.both)
		}
		if a.AddLost(100); a.Value() != c.unsent {
			t.Errorf("%s with lost requests is %v, want %v", c.measure, a.Value(), c.unsent)
		}
	}
	goodput, err := metrics.FindMeasure("goodput")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := NewSampler(&goodput); ok {
		t.Error("goodput has a sampler: it is of a time, not of requests")
	}
}
