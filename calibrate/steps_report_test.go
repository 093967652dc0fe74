package calibrate

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"blis/latency"
)

// The order of configurations is that of the report and changes nothing else,
// to the last bit.
func TestOrderOfConfigurationsChangesNothing(t *testing.T) {
	data := noisySteps(syntheticSteps(t), 0.02, 3)
	one := mustFit(t, data, StepOptions{})
	for c, d := range data {
		if one.Configurations[c].Name != d.Name {
			t.Errorf("configuration %d is %s, want %s", c, one.Configurations[c].Name, d.Name)
		}
	}
	slices.Reverse(data)
	data[0], data[2] = data[2], data[0]
	other := mustFit(t, data, StepOptions{})
	for c, d := range data {
		if other.Configurations[c].Name != d.Name {
			t.Errorf("configuration %d is %s, want %s", c, other.Configurations[c].Name, d.Name)
		}
	}
	byName := func(f *StepFit) {
		slices.SortFunc(f.Configurations, func(a, b StepErrors) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	}
	byName(one)
	byName(other)
	if !reflect.DeepEqual(one, other) {
		t.Errorf("%+v\n%+v", one, other)
	}
}

// patience is a context that ends when it has been asked so often.
type patience struct {
	context.Context
	left int
}

var errImpatient = errors.New("impatient")

func (p *patience) Err() error {
	if p.left--; p.left < 0 {
		return errImpatient
	}
	return nil
}

func TestAFitEndsWithItsContext(t *testing.T) {
	data := syntheticSteps(t)
	for _, left := range []int{0, 1, 50, 90, 91, 400} {
		ctx := &patience{context.Background(), left}
		if fit, err := FitSteps(ctx, data, StepOptions{}); fit != nil || !errors.Is(err, errImpatient) || ctx.left != -1 {
			t.Errorf("after %d solutions: %v, %v, %d", left, fit, err, ctx.left)
		}
	}
}

// One model tells nothing of what differs between models: its weights are the
// same in every step.
func TestTermsThatDoNotMoveAreNotFitted(t *testing.T) {
	data := syntheticSteps(t)[:1] // TP 1, dense, enough blocks
	// What is left of a preemption in the first step is beyond telling.
	data[0].Steps[0].Preempted, data[0].Steps[0].Running = 1, 64
	fit := mustFit(t, data, StepOptions{})
	if want := []string{"weight_streaming", "expert_share", "all_reduce", "kv_head_ratio", "preemption", "kv_transfer", "offload_read"}; !slices.Equal(fit.Unmoved, want) {
		t.Errorf("unmoved %v, want %v", fit.Unmoved, want)
	}
	for j, name := range latency.BetaNames {
		if slices.Contains(fit.Unmoved, name) && (fit.Beta[j] != 0 || fit.Errors[j] != 0) {
			t.Errorf("%s is %v ± %v", name, fit.Beta[j], fit.Errors[j])
		}
	}
	c := fit.Configurations[0]
	if c.LeftOut != (StepDeviation{}) || len(fit.Targets) != 1 || fit.Targets[0].Of != c.Name || fit.Targets[0].Worst != c.HeldOut.MAPE {
		t.Errorf("%+v, targets %+v: nothing is known across configurations", c, fit.Targets)
	}

	// With a word on what the weights take the constant is what is left.
	toward := latency.BetaVector{2: planted[2], 9: planted[9]}
	told := mustFit(t, data, StepOptions{Toward: toward})
	if told.Beta[2] != toward[2] || told.Beta[9] != toward[9] || math.Abs(told.Beta[constant]/planted[constant]-1) > 0.02 {
		t.Errorf("told of weights and heads: %v", told.Beta)
	}
	if d := told.Configurations[0].HeldOut; math.Abs(d.MAPE-c.HeldOut.MAPE) > 1e-5 {
		t.Errorf("the same in another place is off by %v, else by %v", d.MAPE, c.HeldOut.MAPE)
	}
}

// Two dense models differ in their weights and in their heads at once.
func TestTermsThatMoveTogetherAreNamed(t *testing.T) {
	fit := mustFit(t, syntheticSteps(t)[1:3], StepOptions{})
	for _, name := range []string{"weight_streaming", "kv_head_ratio"} {
		if !slices.Contains(fit.Entangled, name) {
			t.Errorf("%s is not among the entangled %v", name, fit.Entangled)
		}
	}
	for _, name := range []string{"prefill_attention", "inverse_batch"} {
		if slices.Contains(fit.Entangled, name) {
			t.Errorf("%s is among the entangled %v", name, fit.Entangled)
		}
	}
	if fit.Configurations[0].HeldOut.MAPE > 1e-3 || fit.Configurations[1].HeldOut.MAPE > 1e-3 {
		t.Errorf("%+v: who gets what should not matter here", fit.Configurations)
	}
}

// Models with other heads and all but the same weights: what differs does so
// alike, and little beside what is the same. Sums over many steps must still
// give a fit.
func TestModelsThatHardlyDiffer(t *testing.T) {
	data := syntheticSteps(t)[:1]
	model, err := latency.FindModel(stepLoads[0].model)
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := latency.FindHardware(stepLoads[0].gpu)
	if err != nil {
		t.Fatal(err)
	}
	model.KVHeads, model.Intermediate, model.Vocab = 32, model.Intermediate-2048, model.Vocab+512
	features, err := latency.NewFeatures(&latency.Deployment{Model: &model, GPU: &gpu, TP: 1},
		latency.EngineLimits{MaxBatchedTokens: 2048, MaxSeqs: 128, BlockSize: 16, GPUBlocks: 20000, ChunkedPrefill: true})
	if err != nil {
		t.Fatal(err)
	}
	data[0].Steps = slices.Repeat(data[0].Steps, 30)
	for n := range data[0].Steps {
		s := &data[0].Steps[n]
		s.PreviousInSample = s.ID > 0
	}
	data = append(data, data[0])
	data[1].Name, data[1].Features = "other heads", features
	for _, signed := range []bool{false, true} {
		if fit := mustFit(t, data, StepOptions{Signed: signed}); !fit.Targets[0].Met || slices.Contains(fit.Unmoved, "weight_streaming") {
			t.Errorf("signed %v: %+v, unmoved %v", signed, fit.Targets, fit.Unmoved)
		}
	}
}

// A constant below 0 is no physics: without Signed it is 0, with it it is named.
func TestSigns(t *testing.T) {
	data := noisySteps(syntheticSteps(t), 0.02, 1)
	for _, d := range data {
		for n := range d.Steps {
			d.Steps[n].Period -= 3000
		}
	}
	fit := mustFit(t, data, StepOptions{})
	if slices.Min(fit.Beta[:]) < 0 || len(fit.Negative) > 0 {
		t.Errorf("%v, negative %v", fit.Beta, fit.Negative)
	}
	signed := mustFit(t, data, StepOptions{Signed: true})
	if !slices.Equal(signed.Negative, []string{"constant"}) || signed.Beta[constant] > -1e-3 {
		t.Errorf("%v, negative %v", signed.Beta, signed.Negative)
	}
	if a, b := fit.Configurations[0].Training.MAPE, signed.Configurations[0].Training.MAPE; b > a {
		t.Errorf("error %v with signs, %v without", b, a)
	}
}

func TestErrorsAreCounted(t *testing.T) {
	table := &stepTable{}
	for _, r := range []struct {
		tokens  int64
		seconds float64
	}{{1, 1}, {2, 2}, {8, 4}, {9, 5}, {2048, 1}, {2049, 1}, {100000, 2}} {
		table.rows = append(table.rows, stepRow{tokens: r.tokens, seconds: r.seconds})
	}
	rows := []int{0, 1, 2, 3, 4, 5, 6}
	predicted := func(i int) float64 { return []float64{1.5, 1, 4, 6, 1, 1, 1}[i] }
	if got, want := table.deviation(rows[:4], predicted), (StepDeviation{4, 0.3, 0.05}); got.Steps != 4 || math.Abs(got.MAPE-want.MAPE) > 1e-12 || math.Abs(got.Bias-want.Bias) > 1e-12 {
		t.Errorf("%+v, want %+v", got, want)
	}
	bins := table.bins(table.bins(nil, rows[:3], predicted), rows[3:], predicted)
	want := []StepBin{{1, 1, 1, 0.5}, {2, 8, 2, -0.25}, {9, 32, 1, 0.2}, {33, 128, 0, 0}, {129, 512, 0, 0}, {513, 2048, 1, 0}, {2049, 0, 2, -0.25}}
	for k, b := range bins {
		if b.From != want[k].From || b.To != want[k].To || b.Steps != want[k].Steps || math.Abs(b.Bias-want[k].Bias) > 1e-12 {
			t.Errorf("%+v, want %+v", b, want[k])
		}
	}

	fit := &StepFit{Configurations: []StepErrors{
		{Name: "a", HeldOut: StepDeviation{Steps: 9, MAPE: 0.15}, LeftOut: StepDeviation{Steps: 9, MAPE: 0.1}},
		{Name: "b", HeldOut: StepDeviation{Steps: 9, MAPE: 0.02}, LeftOut: StepDeviation{Steps: 9, MAPE: 0.2501}},
	}}
	fit.checkTargets()
	if want := []StepTarget{{"within configurations", 0.15, 0.15, "a", true}, {"across configurations", 0.25, 0.2501, "b", false}}; !slices.Equal(fit.Targets, want) {
		t.Errorf("%+v, want %+v", fit.Targets, want)
	}
}
