package certify

import "math"

// Geometric returns values from low to high of which each is above the one before by a
// share of at most precision, both ends included. They have as few digits as the
// precision allows. low and precision are above 0.
func Geometric(low, high, precision float64) []float64 {
	values := []float64{low}
	for x := low; x < high; {
		next := shortest(x, float64(x*(1+precision)))
		if float64(next*(1+float64(precision/4))) >= high { // no sliver at the end
			next = high
			if high > float64(x*(1+precision)) {
				next = shortest(x, float64(math.Sqrt(x)*math.Sqrt(high)))
			}
		}
		values = append(values, next)
		x = next
	}
	return values
}

// shortest returns the largest number of the fewest digits that is in the upper half of the
// numbers above low and up to high.
func shortest(low, high float64) float64 {
	middle := low + float64((high-low)/2)
	unit := 1.0
	for unit < high {
		unit = float64(unit * 10)
	}
	for range 400 {
		if x := float64(math.Floor(high/unit) * unit); x >= middle && x > low {
			return tidy(x)
		}
		unit /= 10
	}
	return high
}

// tidy removes what the arithmetic of shortest adds: 0.30000000000000004 is 0.3.
func tidy(x float64) float64 {
	if x >= 1 {
		return math.Round(x*1e6) / 1e6
	}
	return x
}
