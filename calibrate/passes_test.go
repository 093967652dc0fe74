package calibrate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/calibrate/measured"
	"blis/latency"
)

// plantedPass are the coefficients of the passes of syntheticPasses.
var plantedPass = latency.BetaVector{0: 1, 1: 2, 2: 1.2, 4: 1.1, 8: 0.8, 13: 1, 16: 3, 17: 0.5, 18: 30, 20: 0.8, 23: 2, 27: 0.3}

// syntheticPasses are forward passes at some TP with the coefficients of plantedPass,
// off by a relative noise: 300 decodes, 60 mixed and 30 prefills. The lines are those of
// a file with a header.
func syntheticPasses(t *testing.T, tp int, noise float64) StepData {
	t.Helper()
	o := Overrides{Model: "meta-llama/Llama-3.1-8B", Hardware: "H100", TP: tp}
	d, limits, err := o.Deployment("", 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := latency.NewFeatures(d, limits)
	if err != nil {
		t.Fatal(err)
	}
	m, err := latency.NewPhysics(f, latency.AlphaVector{}, plantedPass)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, uint64(tp)))
	data := StepData{Name: fmt.Sprint("passes at TP ", tp), Features: f, Async: true, ChunkedPrefill: true}
	for i, kind := range random.Perm(390) {
		s := measured.Step{ID: int64(i + 2), OwnTime: true, HasSums: true}
		if kind >= 300 {
			s.PrefillTokens, s.PrefillRequests = 1<<(6+random.Int64N(8)), 1
			s.PrefillPairs = s.PrefillTokens * (s.PrefillTokens + 1) / 2
		}
		if kind < 360 {
			s.DecodeRequests = 1 + random.Int64N(32)
			s.DecodeContext = s.DecodeRequests * (100 + random.Int64N(4000))
		}
		s.DecodeTokens = s.DecodeRequests
		s.Running, s.SampledRows = s.PrefillRequests+s.DecodeRequests, s.PrefillRequests+s.DecodeRequests
		s.ScheduledTokens = s.PrefillTokens + s.DecodeTokens
		s.Period = m.Step(stepBatch(&s, 0)) * (1 + float64(noise*random.NormFloat64()))
		data.Steps = append(data.Steps, s)
	}
	return data
}

func TestOutlyingPassesAreLeftOut(t *testing.T) {
	data := syntheticPasses(t, 1, 0.05)
	all, none := data.Passes()
	if len(all) != 390 || len(none) > 0 {
		t.Fatalf("%d passes, outliers %+v", len(all), none)
	}
	if p := all[7]; p.Line != 9 || p.Seconds != data.Steps[7].Period/1e6 || p.Batch != *stepBatch(&data.Steps[7], 0) {
		t.Errorf("%+v is not %+v", p, data.Steps[7])
	}
	planted := map[int]float64{} // two of each kind
	factors := [passKinds][]float64{{2.2, 0.4}, {100, 0.03}, {30, 2.5}}
	for i := range all {
		if of := &factors[all[i].kind()]; i%7 == 3 && len(*of) > 0 {
			planted[i], *of = (*of)[0], (*of)[1:]
		}
	}
	for i, factor := range planted {
		data.Steps[i].Period *= factor
	}
	kept, outliers := data.Passes()
	if len(kept) != 384 || len(outliers) != len(planted) {
		t.Errorf("%d kept, outliers %+v", len(kept), outliers)
	}
	for _, o := range outliers {
		s := &data.Steps[o.Line-2]
		if f := planted[int(o.Line-2)]; math.Abs(o.Factor/f-1) > 0.4 || o.Measured != 1e3*(s.Period/1e6) || o.Configuration != data.Name || o.Batch != all[o.Line-2].batchText() {
			t.Errorf("%+v, planted %v", o, f)
		}
	}
	if fit := mustFitPasses(t, data); !slices.Equal(fit.Outliers, outliers) || fit.Passes != 384 {
		t.Errorf("%d passes, %+v", fit.Passes, fit.Outliers)
	}
}

// What is known of the public passes: which six are outliers.
func TestOutliersOfPublicPasses(t *testing.T) {
	var lines []int64
	total := 0
	for i, d := range publicPasses(t) {
		if want := fmt.Sprintf("TP %d", 1<<i); !strings.HasSuffix(d.Name, want) {
			t.Errorf("%s is not of %s", d.Name, want)
		}
		kept, outliers := d.Passes()
		total += len(kept) + len(outliers)
		for _, o := range outliers {
			lines = append(lines, o.Line)
		}
	}
	if want := []int64{42, 43, 232, 233, 305, 36}; total != 20774 || !slices.Equal(lines, want) {
		t.Errorf("%d passes, outliers in lines %v, want %v", total, lines, want)
	}
}

// publicPasses are those of Qwen3-32B on a B200 at TP 1, 2 and 4.
func publicPasses(t *testing.T) []StepData {
	t.Helper()
	needMeasured(t)
	files, err := filepath.Glob(filepath.Join(measuredRuns, "steps", "*.csv.gz"))
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	data, _, err := ReadStepData(files, Overrides{Model: "Qwen/Qwen3-32B", Hardware: "B200"}, true)
	if err != nil || len(data) != 3 {
		t.Fatal(err)
	}
	return data
}

// Passes and periods are told apart, and not mixed.
func TestPassesAndPeriodsAreFittedApart(t *testing.T) {
	passes, periods := syntheticPasses(t, 1, 0), syntheticSteps(t)[0]
	periods.Name = "periods"
	for _, c := range []struct {
		data []StepData
		want bool
	}{{nil, false}, {[]StepData{passes}, true}, {[]StepData{periods, periods}, false}} {
		if got, err := ArePasses(c.data); got != c.want || err != nil {
			t.Errorf("%v, %v, want %v", got, err, c.want)
		}
	}
	const want = "passes at TP 1 holds forward passes measured alone, periods periods of steps: want one of the two in a fit"
	for _, data := range [][]StepData{{passes, periods}, {periods, passes}} {
		if _, err := ArePasses(data); err == nil || err.Error() != want {
			t.Errorf("%v", err)
		}
	}
	if _, err := FitSteps(context.Background(), []StepData{passes}, StepOptions{}); err == nil || err.Error() != "steps of passes at TP 1: forward passes measured alone, not periods of steps" {
		t.Error(err)
	}
	if _, err := FitPasses(context.Background(), []StepData{periods}, PassOptions{}); err == nil || err.Error() != "steps of periods: no forward passes measured alone" {
		t.Error(err)
	}
}
