package draw

import "blis/vtime"

// Lognormal draws once from the lognormal distribution with a mean and a
// coefficient of variation, as NewLognormalMean has it.
func Lognormal(s *vtime.Stream, mean, cv float64) float64 {
	d, v := lognormalMean(mean, cv), NewVariates(s)
	return d.Sample(&v)
}
