package calibrate

import (
	"fmt"
	"math"
)

// Doubt words what errors of predictions say when all have one sign and similar
// size: a latency model is off here and there, a wrong model of the server is off
// everywhere. It is empty if they do not. errors are relative, subject is what
// they are predictions of, and assumed is what the input says of the server.
//
// The limits are judgement: all errors beyond 30 %, and the largest ratio of
// prediction to measurement at most twice the smallest. Shipped sets that cover a
// server are within 30 % somewhere.
func Doubt(errors []float64, subject, assumed string) string {
	const fewest, least, spread = 3, 0.3, 2
	if len(errors) < fewest {
		return ""
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, e := range errors {
		if math.IsNaN(e) || math.IsInf(e, 0) {
			return ""
		}
		low, high = min(low, e), max(high, e)
	}
	if 1+high > spread*(1+low) || high > -least && low < least {
		return ""
	}
	by, from, to := "too low", -high, -low
	if low > 0 {
		by, from, to = "too high", low, high
	}
	size := fmt.Sprintf("%.0f to %.0f %%", 100*from, 100*to)
	if fmt.Sprintf("%.0f", 100*from) == fmt.Sprintf("%.0f", 100*to) {
		size = fmt.Sprintf("%.0f %%", 100*to)
	}
	return fmt.Sprintf("all %d predictions of %s are %s %s: is %s the right model?", len(errors), subject, size, by, assumed)
}

// Doubt is what the errors of mean TTFT, TPOT and E2E say together, over runs that
// are not overloaded; see the function Doubt.
func (v *Validation) Doubt() string {
	var errors []float64
	assumed := ""
	for i := range v.Runs {
		r := &v.Runs[i]
		if r.Missing != "" || r.Overloaded {
			continue
		}
		for _, s := range r.All.Scores {
			if s.Statistic == "mean" && s.Measured > 0 {
				errors = append(errors, s.Error())
			}
		}
		switch d := r.Sample.Server.Deployment.String(); assumed {
		case "", d:
			assumed = d
		default:
			assumed = "what is told of the servers"
		}
	}
	return Doubt(errors, "mean TTFT, TPOT and E2E", assumed)
}
