package calibrate

import (
	"fmt"
	"math"
)

// Doubt returns a warning if the errors of predictions have one sign and similar
// sizes, and "" otherwise. A bad latency model is wrong for some requests; a wrong
// description of the server is wrong for all. errors are relative, subject names
// what was predicted, and assumed is the server that the input describes.
//
// The limits are a choice: all errors are above 30 %, and the largest ratio of
// prediction to measurement is at most twice the smallest. Shipped sets that cover
// a server have an error below 30 % somewhere.
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

// Doubt applies the function Doubt to the errors of mean TTFT, TPOT and E2E of all
// runs that are not overloaded.
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
