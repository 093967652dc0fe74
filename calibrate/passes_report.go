package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"blis/latency"
)

// PassErrors are the errors of predictions of the forward passes of one kind in one
// configuration, as shares: 0.1 is 10 %.
type PassErrors struct {
	Configuration string  `json:"configuration"`
	Kind          string  `json:"kind"` // prefill, decode, mixed
	Passes        int     `json:"passes"`
	Median        float64 `json:"median_ape"` // of the absolute errors
	P90           float64 `json:"p90_ape"`    // 90th percentile of the same
	Bias          float64 `json:"bias"`       // median of the signed ones

	place  int       // of the configuration, in the data
	signed []float64 // errors, the smallest first
}

// passErrors returns the errors of the rows of a configuration, by kind.
func passErrors(name string, place int, rows []passRow, beta *latency.BetaVector) (list []PassErrors) {
	var byKind [passKinds][]float64
	for i := range rows {
		byKind[rows[i].kind] = append(byKind[rows[i].kind], rows[i].error(beta))
	}
	for kind, signed := range byKind {
		if len(signed) == 0 {
			continue
		}
		slices.Sort(signed)
		absolute := make([]float64, len(signed))
		for i, e := range signed {
			absolute[i] = math.Abs(e)
		}
		slices.Sort(absolute)
		list = append(list, PassErrors{name, kindNames[kind], len(signed), percentile(absolute, 50), percentile(absolute, 90), percentile(signed, 50), place, signed})
	}
	return list
}

// PassRange is the range of the forward passes of a fit. Outside it nothing is known.
type PassRange struct {
	PrefillSizes []int64 `json:"prefill_sizes"` // tokens of passes that only prefill, each number once, in order
	MixedPrefill int64   `json:"mixed_prefill"` // the most prefill tokens beside decodes
	Decodes      int64   `json:"decodes"`       // the most decoding requests
	Requests     int64   `json:"requests"`      // the most in a pass
	Tokens       int64   `json:"tokens"`        // the most in a pass
	Context      int64   `json:"context"`       // the most keys of a request, as the mean over the prefills or the decodes of a pass
}

func (r *PassRange) add(passes []Pass) {
	for i := range passes {
		b := &passes[i].Batch
		switch passes[i].kind() {
		case prefillPass:
			if at, known := slices.BinarySearch(r.PrefillSizes, b.PrefillTokens); !known {
				r.PrefillSizes = slices.Insert(r.PrefillSizes, at, b.PrefillTokens)
			}
		case mixedPass:
			r.MixedPrefill = max(r.MixedPrefill, b.PrefillTokens)
		}
		r.Decodes = max(r.Decodes, b.DecodeRequests)
		r.Requests = max(r.Requests, b.PrefillRequests+b.DecodeRequests)
		r.Tokens = max(r.Tokens, b.Scheduled())
		r.Context = max(r.Context, (b.PrefillContext+b.PrefillTokens)/max(1, b.PrefillRequests), b.DecodeContext/max(1, b.DecodeRequests))
	}
}

// Set returns a coefficient set of a fit to passes: β is fitted, α is the constant front
// end of roofline. deployments are those of the data, in the same order.
func (f *PassFit) Set(deployments []*latency.Deployment, o TrainOptions, engine string, async bool) *latency.PhysicsSet {
	set := stepSet(f.Beta, deployments, o, engine, async)
	t := &set.TrainedOn
	t.Samples, t.Lambda, t.Gamma, t.Method = int64(f.Passes), f.Lambda, latency.DefaultGamma, "passes regression"
	t.ContextMax, t.SeatsMax, t.StepTokensMax = f.Range.Context, f.Range.Requests, f.Range.Tokens
	set.Notes = append([]string{
		fmt.Sprintf("left out: passes above %g times or below 1/%g of passes like them, %d of %d", farOff, farOff, len(f.Outliers), f.Passes+len(f.Outliers)),
		"errors are of single passes; prefills, decodes and mixed passes of a configuration weigh the same",
	}, set.Notes...)
	if len(f.Usual) > 0 {
		set.Notes = append(set.Notes, "usual values, as nothing was there of: "+strings.Join(f.Usual, ", "))
	}
	if len(f.HeldOut) > 0 {
		set.Errors = []latency.HeldOutError{f.heldOutError(deployments)}
	}
	return set
}

// heldOutError returns the error of single passes of held-out configurations. Each kind
// of batch in each of them has the same weight; in means over models, each model has.
func (f *PassFit) heldOutError(deployments []*latency.Deployment) latency.HeldOutError {
	model := func(e *PassErrors) string { return deployments[e.place].Model.Name }
	groups := map[string]float64{} // by model
	for i := range f.HeldOut {
		groups[model(&f.HeldOut[i])]++
	}
	type judged struct{ size, weight float64 }
	var all []judged
	var mean, modelMean, bias, worst float64
	for i := range f.HeldOut {
		g := &f.HeldOut[i]
		weight := 1 / float64(len(f.HeldOut)*g.Passes)
		inModel := 1 / (float64(len(groups)*g.Passes) * groups[model(g)])
		for _, e := range g.signed {
			size := math.Abs(e)
			all = append(all, judged{size, weight})
			mean += float64(weight * size)
			modelMean += float64(inModel * size)
			bias += float64(inModel * e)
			if size > math.Abs(worst) {
				worst = e
			}
		}
	}
	slices.SortFunc(all, func(a, b judged) int { return cmp.Compare(a.size, b.size) })
	median, below := 0.0, 0.0
	for i := 0; below < 0.5 && i < len(all); i++ {
		median, below = all[i].size, below+all[i].weight
	}
	percent := func(share float64) float64 { return round(100*share, 2) }
	return latency.HeldOutError{
		HeldOut: latency.HeldOutConfiguration, Metric: "step", Statistic: "mean", Runs: len(all), Models: len(groups),
		MedianAPEPercent: percent(median), MeanAPEPercent: percent(mean), ModelMeanAPEPercent: percent(modelMean),
		BiasPercent: percent(bias), WorstPercent: percent(worst),
	}
}
