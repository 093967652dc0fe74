package regress

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Options are the penalties and bounds of a solution. All slices have one element per
// column; nil stands for zeros.
type Options struct {
	Penalty []float64 // of the squared distance from Toward: λ times the column's scale, 0 or more
	Toward  []float64 // value of a coefficient that the data do not determine
	Lower   []float64 // nil: 0
	Upper   []float64 // nil: no bound; at least Lower
}

// problem is a system with its penalties: minimise ½cᵀQc − rᵀc in a box.
type problem struct {
	n            int
	q            []float64
	r            []float64
	lower, upper []float64
	c            []float64
	free         []bool
}

// Solve returns the coefficients within the bounds that minimise
//
//	Σ weight·(y − x·c)² + Σ penalty·(c − toward)²
//
// A column without data and penalty gets its value of Toward, within the bounds. It
// is an error if columns are linearly dependent without a penalty.
//
// The method is active sets (Lawson and Hanson 1974, bounded on both
// sides): go to the minimum over the free coefficients, and hold the first one that
// reaches a bound on the way; then free the held coefficient that lowers the sum
// most, until none lowers it.
func (s *System) Solve(o Options) ([]float64, error) {
	p := s.problem(o)
	for round := 0; round < 50*p.n+50; round++ {
		for {
			done, err := p.descend()
			if err != nil {
				return nil, err
			}
			if done {
				break
			}
		}
		i := p.gain()
		if i < 0 {
			return p.c, nil
		}
		p.free[i] = true
	}
	return nil, fmt.Errorf("regress: %d columns: the active set does not settle", p.n)
}

func (s *System) problem(o Options) *problem {
	n := s.columns
	p := &problem{n: n, q: append([]float64{}, s.gram...), r: append([]float64{}, s.moment...),
		lower: make([]float64, n), upper: make([]float64, n), c: make([]float64, n), free: make([]bool, n)}
	for i := range n {
		p.upper[i] = math.Inf(1)
		if o.Lower != nil {
			p.lower[i] = o.Lower[i]
		}
		if o.Upper != nil {
			p.upper[i] = o.Upper[i]
		}
		if o.Toward != nil {
			p.c[i] = o.Toward[i]
		}
		if o.Penalty != nil {
			p.q[i*n+i] += o.Penalty[i]
			p.r[i] += float64(o.Penalty[i] * p.c[i])
		}
		p.c[i] = math.Min(math.Max(p.c[i], p.lower[i]), p.upper[i])
		p.free[i] = p.q[i*n+i] > 0 && p.lower[i] < p.upper[i]
	}
	return p
}

// descend goes from c toward the minimum over the free coefficients. At the
// first bound on the way it holds that coefficient and reports false.
func (p *problem) descend() (done bool, err error) {
	target, index, err := p.unbounded()
	if err != nil || len(index) == 0 {
		return true, err
	}
	step, hit := 1.0, -1
	for k, i := range index {
		bound := p.upper[i]
		if target[k] < p.c[i] {
			bound = p.lower[i]
		}
		if (target[k]-bound)*(target[k]-p.c[i]) > 0 { // beyond it
			if t := (bound - p.c[i]) / (target[k] - p.c[i]); t < step {
				step, hit = t, i
			}
		}
	}
	for k, i := range index {
		p.c[i] += float64(step * (target[k] - p.c[i]))
		p.c[i] = math.Min(math.Max(p.c[i], p.lower[i]), p.upper[i])
	}
	if hit < 0 {
		return true, nil
	}
	p.c[hit] = p.lower[hit]
	if target[slot(index, hit)] > p.c[hit] {
		p.c[hit] = p.upper[hit]
	}
	p.free[hit] = false
	return false, nil
}

func slot(index []int, i int) int {
	for k, j := range index {
		if j == i {
			return k
		}
	}
	return -1
}

// unbounded returns the minimum over the free coefficients, without bounds, by
// Cholesky factors of the equations scaled to a unit diagonal.
func (p *problem) unbounded() (target []float64, index []int, err error) {
	for i := range p.n {
		if p.free[i] {
			index = append(index, i)
		}
	}
	m := len(index)
	if m == 0 {
		return nil, nil, nil
	}
	a, b, scale := mat.NewSymDense(m, nil), mat.NewVecDense(m, nil), make([]float64, m)
	for k, i := range index {
		scale[k] = 1 / math.Sqrt(p.q[i*p.n+i])
	}
	for k, i := range index {
		r := p.r[i]
		for j := range p.n {
			if !p.free[j] {
				r -= float64(p.q[i*p.n+j] * p.c[j])
			}
		}
		b.SetVec(k, float64(r*scale[k]))
		for l := k; l < m; l++ {
			a.SetSym(k, l, float64(float64(p.q[i*p.n+index[l]]*scale[k])*scale[l]))
		}
	}
	var factors mat.Cholesky
	if !factors.Factorize(a) || factors.Cond() > 1e15 {
		return nil, nil, fmt.Errorf("regress: columns depend on each other: want a penalty above 0")
	}
	var x mat.VecDense
	if err := factors.SolveVecTo(&x, b); err != nil && factors.Cond() > 1e15 {
		return nil, nil, fmt.Errorf("regress: %w", err)
	}
	target = make([]float64, m)
	for k := range m {
		target[k] = float64(x.AtVec(k) * scale[k])
	}
	return target, index, nil
}

// gain returns the coefficient at a bound that would lower the sum most if it were
// free, −1 if none would.
func (p *problem) gain() int {
	best, at := 1e-9, -1
	for i := range p.n {
		d := p.q[i*p.n+i]
		if p.free[i] || d <= 0 || p.lower[i] == p.upper[i] {
			continue
		}
		slope := p.r[i]
		size := math.Abs(p.r[i])
		for j := range p.n {
			term := float64(p.q[i*p.n+j] * p.c[j])
			slope -= term
			size += math.Abs(term)
		}
		if slope > 0 && p.c[i] >= p.upper[i] || slope < 0 && p.c[i] <= p.lower[i] {
			continue
		}
		if size == 0 {
			continue
		}
		if g := math.Abs(slope) / size; g > best { // without unit: the share that rounding must not decide
			best, at = g, i
		}
	}
	return at
}
