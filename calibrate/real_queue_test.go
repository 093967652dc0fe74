package calibrate

import (
	"math"
	"testing"

	"blis/latency"
)

// The measured way from arrival to the first token of a cached prompt is the
// front end, half a step to wait, a step that is formed already, and the
// request's own step: what async scheduling does. Without it the same steps give
// first tokens a step too early, and no constant makes up for that at both of
// two loads.
func TestMeasuredQueuePathIsAsync(t *testing.T) {
	set, err := latency.FindPhysicsSet("h100-llama-2-7b")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range ofModel(t, "Llama-2-7b") {
		if s.overloaded() {
			continue
		}
		ttft := func(async bool) float64 {
			server := *s.Server
			server.Config.AsyncScheduling = &async
			other, err := NewSample(s.Run, &server, 0)
			if err != nil {
				t.Fatal(err)
			}
			c, err := other.evaluate(&Coefficients{set.Alpha, set.Beta})
			if err != nil {
				t.Fatal(err)
			}
			score := c.score(TTFT, "p50")
			t.Logf("%s, async %v: TTFT %.1f ms in the median, measured %.1f", s.Run.ID, async, score.Predicted, score.Measured)
			return score.Error()
		}
		if e := ttft(true); math.Abs(e) > 0.04 {
			t.Errorf("%s: TTFT %+.1f %% with async scheduling", s.Run.ID, 100*e)
		}
		if e := ttft(false); e > -0.15 {
			t.Errorf("%s: TTFT %+.1f %% without async scheduling, want a step less", s.Run.ID, 100*e)
		}
	}
}
