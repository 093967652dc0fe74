package calibrate

import (
	"cmp"
	"fmt"
	"slices"

	"blis/calibrate/measured"
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

// Passes returns the forward passes of d that a fit can use, in the order of the file,
// and the outliers.
func (d *StepData) Passes() (list []Pass, outliers []OutlyingPass) {
	var rows []stepRow
	for n := range d.Steps {
		s := &d.Steps[n]
		if !s.OwnTime {
			continue
		}
		b := stepBatch(s, 0)
		r := stepRow{step: s, seconds: s.Period / 1e6}
		r.estimate(d.Features.Beta(b))
		rows = append(rows, r)
	}
	rows, outliers = withoutOutliers(rows, d.Name)
	for i := range rows {
		s := rows[i].step
		list = append(list, Pass{*stepBatch(s, 0), rows[i].seconds, s.ID})
	}
	return list, outliers
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
func withoutOutliers(rows []stepRow, name string) (kept []stepRow, outliers []OutlyingPass) {
	byKind := map[stepKind][]int{}
	for i := range rows {
		p := kindOf(rows[i].step)
		byKind[p] = append(byKind[p], i)
	}
	factor := make([]float64, len(rows))
	for _, members := range byKind {
		slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(rows[a].rough, rows[b].rough) })
		relative := make([]float64, len(members))
		for k, i := range members {
			relative[k] = rows[i].seconds / rows[i].rough
		}
		for k, i := range members {
			from := max(0, min(k-likePasses/2, len(members)-likePasses))
			like := slices.Clone(relative[from:min(from+likePasses, len(members))])
			slices.Sort(like)
			factor[i] = relative[k] / percentile(like, 50)
		}
	}
	for i, f := range factor {
		r := &rows[i]
		if f <= farOff && f >= 1/farOff {
			kept = append(kept, *r)
			continue
		}
		outliers = append(outliers, OutlyingPass{name, r.step.ID, batchText(r.step), 1e3 * r.seconds, f})
	}
	return kept, outliers
}

// weighKindsEqually changes the weights of forward passes so that the kinds of batch of a
// configuration count the same. Passes are what somebody chose to measure: of the
// public ones 97 % are decodes, and prefills would not count beside them.
func weighKindsEqually(rows []stepRow) {
	var count [stepKinds]float64
	for i := range rows {
		count[kindOf(rows[i].step)]++
	}
	kinds := 0.0
	for _, n := range count {
		if n > 0 {
			kinds++
		}
	}
	for i := range rows {
		rows[i].weight *= float64(len(rows)) / kinds / count[kindOf(rows[i].step)]
	}
}

// batchText describes a batch in words.
func batchText(s *measured.Step) string {
	prefill := fmt.Sprintf("%d prefill tokens of %d requests", s.PrefillTokens, s.PrefillRequests)
	decode := fmt.Sprintf("%d decodes of %d keys", s.DecodeRequests, s.DecodeContext)
	switch kindOf(s) {
	case prefillBatch:
		return prefill
	case decodeBatch:
		return decode
	}
	return prefill + ", " + decode
}

// stepKind is the kind of a batch.
type stepKind int

const (
	prefillBatch stepKind = iota
	decodeBatch
	mixedBatch
	stepKinds
)

var kindNames = [stepKinds]string{"prefill", "decode", "mixed"}

func kindOf(s *measured.Step) stepKind {
	switch {
	case s.DecodeTokens == 0:
		return prefillBatch
	case s.PrefillTokens == 0:
		return decodeBatch
	}
	return mixedBatch
}
