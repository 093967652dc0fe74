package calibrate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"blis/calibrate/measured"
	"blis/latency"
)

// Prefill holds the measured prefill of a request that ran alone on its server, and
// its decodes, in batches of one.
type Prefill struct {
	Tokens     int64
	Measured   float64 // s, scheduled to first token
	Decoded    float64 // s, first token to last; 0: unknown, or one token
	features   latency.BetaVector
	decodes    latency.BetaVector
	deployment *latency.Deployment
}

// ReadPrefills returns the Prefills of OTLP-JSON files, and notes that say how many
// spans of them are not used, and why.
func ReadPrefills(files []string, d *latency.Deployment, e latency.EngineLimits) (list []Prefill, notes []string, err error) {
	for _, file := range files {
		trace, err := measured.ReadOTLP(file)
		if err != nil {
			return nil, nil, err
		}
		some, err := Prefills(trace, d, e)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, reason := range slices.Sorted(maps.Keys(trace.Skipped)) {
			notes = append(notes, fmt.Sprintf("%s: %d of %d spans not used: %s", file, trace.Skipped[reason], trace.Spans, reason))
		}
		list = append(list, some...)
	}
	return list, notes, nil
}

// Prefills returns the prefills of the requests of a trace that ran alone, on a
// server of this deployment and limits, with an empty prefix cache. The steps of
// such requests are known exactly. It is an error if there is none.
func Prefills(t *measured.Trace, d *latency.Deployment, e latency.EngineLimits) ([]Prefill, error) {
	f, err := latency.NewFeatures(d, e)
	if err != nil {
		return nil, err
	}
	var list []Prefill
	for _, r := range measured.Alone(t.Requests) {
		if r.Prefill <= 0 || r.Input <= 0 {
			continue
		}
		p := Prefill{Tokens: int64(r.Input), Measured: float64(r.Prefill) / 1e6, deployment: d}
		for done := int64(0); done < p.Tokens; {
			chunk := min(p.Tokens-done, e.MaxBatchedTokens)
			b := latency.Batch{PrefillTokens: chunk, PrefillRequests: 1, PrefillPairs: chunk*done + chunk*(chunk+1)/2, PrefillContext: done}
			if done += chunk; done == p.Tokens {
				b.SampledRows = 1
			}
			p.features = addBeta(p.features, f.Beta(&b))
		}
		if r.Decode > 0 && r.Output > 1 {
			p.Decoded = float64(r.Decode) / 1e6
			for n := int64(1); n < int64(r.Output); n++ {
				b := latency.Batch{DecodeTokens: 1, DecodeRequests: 1, DecodeContext: p.Tokens + n, SampledRows: 1}
				p.decodes = addBeta(p.decodes, f.Beta(&b))
			}
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no request of the trace ran alone with its prefill told: want llm_request spans that do not overlap")
	}
	return list, nil
}

// MedianError returns the median of the absolute relative errors of prefills.
func MedianError(list []Prefill, c *Coefficients) float64 {
	var errors []float64
	for i := range list {
		errors = append(errors, math.Abs(list[i].Predicted(c)/list[i].Measured-1))
	}
	slices.Sort(errors)
	return percentile(errors, 50)
}

// Predicted returns the time of the prefill with these coefficients, s.
func (p *Prefill) Predicted(c *Coefficients) float64 { return dot(p.features[:], c.Beta[:]) }

// points returns the data for a fit: the prefill, and the decodes if their time is
// known.
func (p *Prefill) points() []point {
	list := []point{{p.features, p.Measured, p.deployment.Model.Name}}
	if p.Decoded > 0 {
		list = append(list, point{p.decodes, p.Decoded, p.deployment.Model.Name})
	}
	return list
}

func addBeta(a, b latency.BetaVector) latency.BetaVector {
	for i, v := range b {
		a[i] += v
	}
	return a
}
