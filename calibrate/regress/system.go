package regress

import "math"

// System is a weighted least-squares problem. It keeps the normal equations, so that
// its size does not depend on the number of observations, and two systems can be
// merged. A solution c minimises
//
//	Σ weight·(y − x·c)²
type System struct {
	columns int
	gram    []float64 // Σ weight·x·xᵀ, row by row
	moment  []float64 // Σ weight·x·y
	square  float64   // Σ weight·y²
	weight  float64   // Σ weight
	rows    int       // observations with a weight above 0
}

// New returns a system without observations.
func New(columns int) *System {
	return &System{columns: columns, gram: make([]float64, columns*columns), moment: make([]float64, columns)}
}

// Add adds one observation: its columns, its value, and its weight. Observations with
// a weight of 0 or less are ignored.
func (s *System) Add(x []float64, y, weight float64) {
	if weight <= 0 {
		return
	}
	for i, a := range x {
		if a == 0 {
			continue
		}
		wa := float64(weight * a)
		row := s.gram[i*s.columns : (i+1)*s.columns]
		for j, b := range x {
			row[j] += float64(wa * b)
		}
		s.moment[i] += float64(wa * y)
	}
	s.square += float64(weight * float64(y*y))
	s.weight += weight
	s.rows++
}

// Merge adds the observations of another system with as many columns.
func (s *System) Merge(o *System) {
	for i, v := range o.gram {
		s.gram[i] += v
	}
	for i, v := range o.moment {
		s.moment[i] += v
	}
	s.square += o.square
	s.weight += o.weight
	s.rows += o.rows
}

// Rows is the number of observations.
func (s *System) Rows() int { return s.rows }

// at is an element of the Gram matrix.
func (s *System) at(i, j int) float64 { return s.gram[i*s.columns+j] }

// Power is the weighted sum of the squares of a column.
func (s *System) Power(column int) float64 { return s.at(column, column) }

// Variance is the weighted sum of the squares of a column's distance from its
// mean, given a column that is 1 throughout. It is 0 for a column that does not
// vary, whatever rounding says.
func (s *System) Variance(column, ones int) float64 {
	if s.weight == 0 {
		return 0
	}
	sum, power := s.at(column, ones), s.at(column, column)
	v := power - float64(sum*sum)/s.weight
	if v <= 1e-12*power {
		return 0
	}
	return v
}

// loss is the weighted sum of squared residuals that coefficients leave.
func (s *System) loss(c []float64) float64 {
	loss := s.square
	for i, a := range c {
		if a == 0 {
			continue
		}
		loss -= float64(2 * a * s.moment[i])
		for j, b := range c {
			loss += float64(a * float64(b*s.at(i, j)))
		}
	}
	return math.Max(0, loss)
}

// Distance is how far two solutions lie apart in what they predict: the root of
// the weighted mean square of the difference of x·c.
func (s *System) Distance(a, b []float64) float64 {
	if s.weight == 0 {
		return 0
	}
	sum := 0.0
	for i := range a {
		for j := range a {
			sum += float64((a[i] - b[i]) * float64((a[j]-b[j])*s.at(i, j)))
		}
	}
	return math.Sqrt(math.Max(0, sum) / s.weight)
}

// Relative is a distance as a share of what was observed: of a root of the same
// weighted mean of squares.
func (s *System) Relative(distance float64) float64 {
	if s.square == 0 {
		return 0
	}
	return float64(distance * math.Sqrt(s.weight/s.square))
}
