package calibrate

import (
	"fmt"

	"blis/calibrate/measured"
	"blis/latency"
)

// Prefill is the prefill of a request that had the server to itself.
type Prefill struct {
	Tokens   int64
	Measured float64 // s, scheduled to first token
	x        latency.BetaVector
}

// Prefills are those of the requests of a trace that ran alone, on a server of
// this deployment and limits, with nothing of them cached: their steps are
// known exactly. It is an error if there is none.
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
		p := Prefill{Tokens: int64(r.Input), Measured: float64(r.Prefill) / 1e6}
		for done := int64(0); done < p.Tokens; {
			chunk := min(p.Tokens-done, e.MaxBatchedTokens)
			b := latency.Batch{PrefillTokens: chunk, PrefillRequests: 1, PrefillPairs: chunk*done + chunk*(chunk+1)/2, PrefillContext: done}
			if done += chunk; done == p.Tokens {
				b.SampledRows = 1
			}
			for i, v := range f.Beta(&b) {
				p.x[i] += v
			}
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no request of the trace ran alone with its prefill told: want llm_request spans that do not overlap")
	}
	return list, nil
}

// Predicted is how long the prefill takes with these coefficients, s.
func (p *Prefill) Predicted(c *Coefficients) float64 { return dot(p.x[:], c.Beta[:]) }

// Point is the prefill as a fit takes it.
func (p *Prefill) Point() Point { return Point{p.x, p.Measured} }
