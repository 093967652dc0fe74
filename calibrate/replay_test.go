package calibrate

import (
	"testing"

	"pgregory.net/rapid"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

// A replay without a cluster around the engine says of every request what a run
// of a cluster of one instance says, to the bit: the twin is the program that
// the coefficients are for. rapid prints the seed of a failure.
func TestReplayIsARunOfOneInstance(t *testing.T) {
	var seen struct{ cases, timedOut, dropped, preempted, cached, capped, unanswered int }
	property := func(t *rapid.T) {
		s := drawSample(t)
		m, err := s.Model(drawCoefficients(t))
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Server.Replay(s.Run, m, s.Timeout)
		if err != nil {
			t.Fatal(err)
		}
		cfg := s.Server.Config
		cfg.Custom.Source, cfg.Custom.Latency = newSource(s.Run, s.Timeout), m
		rows := 0
		cfg.Row = func(r *actors.Row) {
			rows++
			want := Predicted{Completed: r.State == metrics.Completed, Cached: r.Cached, Scheduled: r.Scheduled, Finished: r.Finished}
			if v, ok := r.TTFT(); ok {
				want.TTFT = float64(v)
			}
			if v, ok := r.E2E(); ok {
				want.E2E = float64(v)
			}
			if v, ok := r.Outcome.TPOT(0, 0); ok && want.Completed {
				want.TPOT = (want.E2E - want.TTFT) / float64(r.Generated-1)
				if vtime.Duration(want.TPOT) != v {
					t.Errorf("request %d: TPOT %v, the cluster says %v", r.ID, want.TPOT, v)
				}
			}
			if got[r.ID] != want {
				t.Errorf("request %d: replay %+v, cluster %+v", r.ID, got[r.ID], want)
			}
			for _, x := range []struct {
				n  *int
				is bool
			}{
				{&seen.timedOut, r.State == metrics.TimedOut}, {&seen.dropped, r.State == metrics.Dropped}, {&seen.preempted, r.Preemptions > 0},
				{&seen.cached, r.Cached > 0}, {&seen.capped, r.Reason == metrics.LengthCapped}, {&seen.unanswered, want.Completed && want.TTFT == 0},
			} {
				if x.is {
					*x.n++
				}
			}
		}
		if _, err := actors.Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if rows != len(got) {
			t.Errorf("%d rows, %d predictions", rows, len(got))
		}
		seen.cases++
	}
	for range 3 {
		rapid.Check(t, property)
	}
	t.Logf("%+v", seen)
	if thorough() && !t.Failed() {
		if seen.timedOut == 0 || seen.dropped == 0 || seen.preempted == 0 || seen.cached == 0 || seen.capped == 0 || seen.unanswered == 0 {
			t.Errorf("%+v: want some of everything", seen)
		}
	}
}
