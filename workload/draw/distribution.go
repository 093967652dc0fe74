package draw

// Distribution is a distribution of a number: of tokens, of µs. The zero value
// is the constant 0.
type Distribution struct {
	kind kind
	a, b float64
}

type kind uint8

const (
	constant kind = iota
	gaussian
)

// Fixed is always value. It draws nothing.
func Fixed(value float64) Distribution { return Distribution{kind: constant, a: value} }

// Gaussian is the normal distribution; stdev from 0.
func Gaussian(mean, stdev float64) Distribution {
	if stdev == 0 {
		return Fixed(mean)
	}
	return Distribution{kind: gaussian, a: mean, b: stdev}
}

// Sample draws once.
func (d *Distribution) Sample(v *Variates) float64 {
	if d.kind == constant {
		return d.a
	}
	return d.a + float64(d.b*v.Normal())
}

// Mean is the expected value.
func (d *Distribution) Mean() float64 { return d.a }
