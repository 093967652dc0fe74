package calibrate

import (
	"cmp"
	"fmt"
	"slices"

	"blis/latency"
)

// Pass is a forward pass that was measured alone: a batch and how long it took.
type Pass struct {
	Batch   latency.Batch
	Seconds float64
	Line    int64 // of its file
}

// OutlyingPass is a forward pass that took far longer, or far less, than others like
// it. No fit learns from it, and none is tested on it.
type OutlyingPass struct {
	Configuration string  `json:"configuration"`
	Line          int64   `json:"line"`  // of its file
	Batch         string  `json:"batch"` // in words
	Measured      float64 `json:"measured_ms"`
	Factor        float64 `json:"factor"` // measured, relative to passes like it
}

// ArePasses reports whether data are forward passes that were measured alone, for
// FitPasses, and not periods of steps, for FitSteps. It is an error if there are both.
func ArePasses(data []StepData) (bool, error) {
	for i := range data {
		if first, d := &data[0], &data[i]; d.arePasses() != first.arePasses() {
			passes, periods := first, d
			if d.arePasses() {
				passes, periods = d, first
			}
			return false, fmt.Errorf("%s holds forward passes measured alone, %s periods of steps: want one of the two in a fit", passes.Name, periods.Name)
		}
	}
	return len(data) > 0 && data[0].arePasses(), nil
}

func (d *StepData) arePasses() bool { return len(d.Steps) > 0 && d.Steps[0].OwnTime }

// Passes returns the forward passes of d that a fit can use, in the order of the file,
// and the outliers.
func (d *StepData) Passes() (list []Pass, outliers []OutlyingPass) {
	var rough []float64 // estimates of the passes, s
	for n := range d.Steps {
		s := &d.Steps[n]
		if !s.OwnTime {
			continue
		}
		p := Pass{*stepBatch(s, 0), s.Period / 1e6, s.ID}
		x := d.Features.Beta(&p.Batch)
		list, rough = append(list, p), append(rough, dot(x[:], roughBeta[:]))
	}
	return withoutOutliers(list, rough, d.Name)
}

const (
	likePasses = 15  // passes that one is compared with, itself included
	farOff     = 1.9 // a pass is an outlier beyond this factor, in either direction
)

// withoutOutliers deletes outliers from the forward passes of a configuration. A pass
// is compared with those of its kind (prefill, decode, both) whose rough estimates are
// nearest, itself among them: by time measured / rough estimate, against the median.
// The factor lies in the widest gap of the public passes of Qwen3-32B: six of 20,774
// are beyond it (0.03 to 92), all others between 0.75 and 1.8. Slow first decodes
// after a prefill are among those, and stay.
func withoutOutliers(passes []Pass, rough []float64, name string) (kept []Pass, outliers []OutlyingPass) {
	var byKind [passKinds][]int
	for i := range passes {
		k := passes[i].kind()
		byKind[k] = append(byKind[k], i)
	}
	factor := make([]float64, len(passes))
	for _, members := range byKind {
		slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(rough[a], rough[b]) })
		relative := make([]float64, len(members))
		for k, i := range members {
			relative[k] = passes[i].Seconds / rough[i]
		}
		for k, i := range members {
			from := max(0, min(k-likePasses/2, len(members)-likePasses))
			like := slices.Clone(relative[from:min(from+likePasses, len(members))])
			slices.Sort(like)
			factor[i] = relative[k] / percentile(like, 50)
		}
	}
	for i, f := range factor {
		p := &passes[i]
		if f <= farOff && f >= 1/farOff {
			kept = append(kept, *p)
			continue
		}
		outliers = append(outliers, OutlyingPass{name, p.Line, p.batchText(), 1e3 * p.Seconds, f})
	}
	return kept, outliers
}

// batchText describes the batch in words.
func (p *Pass) batchText() string {
	b := &p.Batch
	prefill := fmt.Sprintf("%d prefill tokens of %d requests", b.PrefillTokens, b.PrefillRequests)
	decode := fmt.Sprintf("%d decodes of %d keys", b.DecodeRequests, b.DecodeContext)
	switch p.kind() {
	case prefillPass:
		return prefill
	case decodePass:
		return decode
	}
	return prefill + ", " + decode
}

// passKind is what the batch of a forward pass holds.
type passKind int

const (
	prefillPass passKind = iota
	decodePass
	mixedPass
	passKinds
)

var kindNames = [passKinds]string{"prefill", "decode", "mixed"}

func (p *Pass) kind() passKind {
	switch {
	case p.Batch.DecodeTokens == 0:
		return prefillPass
	case p.Batch.PrefillTokens == 0:
		return decodePass
	}
	return mixedPass
}
