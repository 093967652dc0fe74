package actors

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blis/latency"
	"blis/setup"
)

// congested is a run that preempts, with a physics set whose steps take longer
// the more preemptions there were lately. gamma is that of the set.
func congested(t *testing.T, gamma float64) Config {
	t.Helper()
	shipped, err := latency.FindPhysicsSet("h100")
	if err != nil {
		t.Fatal(err)
	}
	set := *shipped
	set.Name, set.TrainedOn.Gamma, set.Beta[11] = "preempting", gamma, 0.05
	file := filepath.Join(t.TempDir(), fmt.Sprintf("gamma%g.yaml", gamma))
	if err := os.WriteFile(file, set.Format(), 0o644); err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig()
	c.Coefficients, c.NumInstances, c.TotalKVBlocks, c.NumRequests, c.Rate = file, 2, 300, 150, 20
	c.SchedulerReserveFullISL = false
	return c
}

// The engine averages preemptions with the γ that the coefficients were fitted
// with, and so does every executor.
func TestGammaOfASetIsUsed(t *testing.T) {
	digests := map[float64]string{}
	for _, gamma := range []float64{0.3, 0.9} {
		c := congested(t, gamma)
		for _, report := range []bool{true, false} {
			c.AsyncScheduling = &report
			equal, err := Verify(context.Background(), c, Executors(3), func(v Verification) {
				if !v.Equal {
					t.Errorf("γ %g, async %v: %s differs at %s", gamma, report, v.Executor, v.Where)
				}
			})
			if err != nil || !equal {
				t.Fatalf("γ %g: equal %v, %v", gamma, equal, err)
			}
		}
		result, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		if result.Report.Overall.Preemptions == 0 {
			t.Fatal("nothing was preempted, so nothing is averaged")
		}
		digests[gamma] = result.Digest
	}
	if digests[0.3] == digests[0.9] {
		t.Error("γ 0.3 and 0.9 give the same run")
	}
	// The setting wins over the set.
	c := congested(t, 0.3)
	c.PreemptionGamma = 0.9
	c.AsyncScheduling = new(false)
	result, err := Run(context.Background(), c)
	if err != nil || result.Digest != digests[0.9] {
		t.Errorf("--preemption-ema-gamma 0.9: digest %v, want %s of a set with that γ (%v)", result, digests[0.9], err)
	}
}

func TestGammaThatCannotBe(t *testing.T) {
	for _, gamma := range []float64{-0.1, 1.1} {
		c := DefaultConfig()
		c.PreemptionGamma = gamma
		refusal(t, c, "--preemption-ema-gamma", "above 0 and at most 1")
	}
	c := DefaultConfig()
	c.LatencyModel, c.PreemptionGamma = "roofline", 0.5
	notes, _ := idleNotes(t, c)
	if len(notes) != 1 || notes[0] != "preemption-ema-gamma has no effect: only physics reads the average of preemptions" {
		t.Errorf("%q", notes)
	}
}

// Eleven and twenty-eight numbers on the command line, or the first sixteen of these,
// are the coefficients of physics: the same run as a file with them.
func TestVectorsOfPhysics(t *testing.T) {
	c := congested(t, 0.3)
	set, err := setup.OpenCoefficients(c.Coefficients)
	if err != nil {
		t.Fatal(err)
	}
	c.AsyncScheduling = new(false)
	want, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for i, model := range []string{"auto", "physics", "auto", "physics"} {
		betas := set.Beta[:latency.BetasOfVersion1]
		if i < 2 {
			betas = set.Beta[:]
		}
		given := c
		given.LatencyModel, given.Coefficients, given.AlphaCoeffs, given.BetaCoeffs = model, "", set.Alpha[:], betas
		got, err := Run(context.Background(), given)
		if err != nil {
			t.Fatal(err)
		}
		if i == 2 { // the first sixteen alone are another model
			if got.Digest == want.Digest {
				t.Error("the features of version 2 do not count")
			}
			padded := make([]float64, len(set.Beta))
			copy(padded, betas)
			given.BetaCoeffs = padded
			if want, err = Run(context.Background(), given); err != nil {
				t.Fatal(err)
			}
		}
		if got.Digest != want.Digest {
			t.Errorf("%s: digest %s, want %s of a file with these coefficients", model, got.Digest, want.Digest)
		}
		if !strings.HasPrefix(got.Setup.Latency, "physics with given coefficients α ") {
			t.Errorf("%s: %q", model, got.Setup.Latency)
		}
	}
	given := c
	given.LatencyModel, given.Coefficients, given.AlphaCoeffs, given.BetaCoeffs = "blackbox", "", set.Alpha[:], set.Beta[:]
	refusal(t, given, "--alpha-coeffs", "11 and 28 numbers", "that is blackbox")
	given.LatencyModel, given.BetaCoeffs = "physics", set.Beta[:17]
	refusal(t, given, "--alpha-coeffs", "11 and 17 numbers", "11 numbers with --beta-coeffs of 16 or 28: that is physics")
	// One more second for each layer of each step is not the same run.
	second := c
	second.LatencyModel, second.Coefficients, second.AlphaCoeffs = "physics", "", set.Alpha[:]
	second.BetaCoeffs = append(append([]float64{}, set.Beta[:18]...), 10, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	if got, err := Run(context.Background(), second); err != nil || got.Digest == want.Digest {
		t.Errorf("10 µs more per layer: the same digest, or %v", err)
	}
}
