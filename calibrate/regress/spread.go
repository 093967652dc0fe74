package regress

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Spread says how well the data determine a solution.
type Spread struct {
	Freedom float64   // effective degrees of freedom, the trace of the smoother
	Shares  []float64 // its diagonal: 1 where data alone decide, toward 0 where the penalty does
	Errors  []float64 // standard errors; 0 for coefficients at a bound or without data
	Noise   float64   // variance of an observation of weight 1
}

// Spread returns the spread of a solution c. Only coefficients strictly inside their
// bounds have one. With A the Gram matrix of these
// and P the penalties, freedom = tr A(A+P)⁻¹ and the errors are the roots of
// the diagonal of σ²(A+P)⁻¹A(A+P)⁻¹ (Hastie, Tibshirani, Friedman 2009, 3.4.1).
func (s *System) Spread(o Options, c []float64) Spread { return s.spread(o, c, nil) }

// Robust is Spread where noise differs from one observation to the next by more
// than their weights say. Scatter has the same observations, each weighing
// (weight·residual/(1 − leverage))², and its Gram matrix B takes the place of
// σ²A: the errors are the roots of the diagonal of (A+P)⁻¹B(A+P)⁻¹ (White 1980;
// the leverage makes it HC3 of MacKinnon and White 1985: a residual is small
// where the observation had its way). They still suppose that residuals do not
// depend on each other.
func (s *System) Robust(o Options, c []float64, scatter *System) Spread {
	return s.spread(o, c, scatter)
}

// Leverage returns a function for the influence of an observation of the system on
// its own estimate, from 0 to 1: weight·xᵀ(A+P)⁻¹x.
func (s *System) Leverage(o Options, c []float64) func(x []float64, weight float64) float64 {
	index := s.inside(o, c)
	inverse, _, scale := s.inverse(o, index)
	return func(x []float64, weight float64) float64 {
		h := 0.0
		for k, i := range index {
			sum := 0.0
			for l, j := range index {
				sum += float64(inverse.At(k, l) * float64(x[j]*scale[l]))
			}
			h += float64(sum * float64(x[i]*scale[k]))
		}
		return float64(weight * h)
	}
}

func (s *System) spread(o Options, c []float64, scatter *System) Spread {
	result := Spread{Errors: make([]float64, s.columns), Shares: make([]float64, s.columns)}
	index := s.inside(o, c)
	if len(index) == 0 {
		return result
	}
	inverse, a, scale := s.inverse(o, index)
	var smoother, covariance mat.Dense
	smoother.Mul(a, inverse)
	for k, i := range index {
		result.Shares[i] = smoother.At(k, k)
		result.Freedom += smoother.At(k, k)
	}
	if left := float64(s.rows) - result.Freedom; left > 0 {
		result.Noise = s.loss(c) / left
	}
	factor := result.Noise
	if scatter != nil {
		factor = 1
		smoother.Mul(scatter.scaled(index, scale), inverse)
	}
	covariance.Mul(inverse, &smoother)
	for k, i := range index {
		result.Errors[i] = float64(math.Sqrt(math.Max(0, float64(factor*covariance.At(k, k)))) * scale[k])
	}
	return result
}

// inverse is (A+P)⁻¹ and A of some columns, each times its scale, which makes
// the diagonal of A+P one, as in Solve. Where columns depend on each other and
// no penalty tells them apart it is 0: nothing is known of them.
func (s *System) inverse(o Options, index []int) (inverse, a *mat.Dense, scale []float64) {
	scale = make([]float64, len(index))
	for k, i := range index {
		scale[k] = 1 / math.Sqrt(s.at(i, i)+o.penalty(i))
	}
	if len(index) == 0 {
		return nil, nil, nil
	}
	a = s.scaled(index, scale)
	q := mat.DenseCopyOf(a)
	for k, i := range index {
		q.Set(k, k, a.At(k, k)+float64(float64(o.penalty(i)*scale[k])*scale[k]))
	}
	inverse = mat.NewDense(len(index), len(index), nil)
	if inverse.Inverse(q) != nil {
		inverse.Zero()
	}
	return inverse, a, scale
}

// inside returns the columns with data whose coefficients lie strictly inside their
// bounds.
func (s *System) inside(o Options, c []float64) (index []int) {
	for i, v := range c {
		low, high := 0.0, math.Inf(1)
		if o.Lower != nil {
			low = o.Lower[i]
		}
		if o.Upper != nil {
			high = o.Upper[i]
		}
		if s.at(i, i) > 0 && v > low && v < high {
			index = append(index, i)
		}
	}
	return index
}

func (o *Options) penalty(i int) float64 {
	if o.Penalty == nil {
		return 0
	}
	return o.Penalty[i]
}

// scaled is the part of the Gram matrix of some columns, each times its scale.
func (s *System) scaled(index []int, scale []float64) *mat.Dense {
	a := mat.NewDense(len(index), len(index), nil)
	for k, i := range index {
		for l, j := range index {
			a.Set(k, l, float64(float64(s.at(i, j)*scale[k])*scale[l]))
		}
	}
	return a
}
