package regress

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// random is a system of noisy observations of known coefficients.
func random(r *rand.Rand, columns, rows int, truth []float64, noise float64) *System {
	s := New(columns)
	x := make([]float64, columns)
	for range rows {
		y := noise * r.NormFloat64()
		for i := range x {
			x[i] = math.Exp(r.NormFloat64()) * math.Pow(10, float64(i%5)-2)
			y += x[i] * truth[i]
		}
		s.Add(x, y, 0.5+r.Float64())
	}
	return s
}

func TestSolveFindsWhatWasPlanted(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	truth := []float64{3, 0, 1.5e-3, 40, 0.25, 7}
	c, err := random(r, 6, 400, truth, 0).Solve(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range truth {
		if math.Abs(c[i]-truth[i]) > 1e-9*math.Max(1e-3, truth[i]) {
			t.Errorf("coefficient %d is %v, planted %v", i, c[i], truth[i])
		}
	}
}

// The dumb twin: gradient steps, projected into the box, many of them.
func project(s *System, o Options, steps int) []float64 {
	p := s.problem(o)
	for range steps {
		for i := range p.n { // one coordinate at a time: no step size to choose
			d := p.q[i*p.n+i]
			if d <= 0 {
				continue
			}
			g := p.r[i]
			for j := range p.n {
				g -= p.q[i*p.n+j] * p.c[j]
			}
			p.c[i] = math.Min(math.Max(p.c[i]+g/d, p.lower[i]), p.upper[i])
		}
	}
	return p.c
}

func TestSolveAgreesWithCoordinateDescent(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		n := 1 + r.IntN(8)
		truth := make([]float64, n)
		for i := range truth {
			truth[i] = r.NormFloat64() * 2
		}
		s := random(r, n, n+1+r.IntN(40), truth, 0.5)
		o := Options{Penalty: make([]float64, n), Toward: make([]float64, n), Lower: make([]float64, n), Upper: make([]float64, n)}
		for i := range n {
			o.Penalty[i] = s.Power(i) * 1e-2 * r.Float64()
			o.Toward[i] = r.NormFloat64()
			o.Lower[i] = r.NormFloat64() - 1
			o.Upper[i] = o.Lower[i] + 3*r.Float64()
		}
		got, err := s.Solve(o)
		if err != nil {
			t.Fatal(err)
		}
		want := project(s, o, 20000)
		loss := func(c []float64) float64 {
			l := s.loss(c)
			for i := range c {
				l += o.Penalty[i] * (c[i] - o.Toward[i]) * (c[i] - o.Toward[i])
			}
			return l
		}
		if a, b := loss(got), loss(want); a > b*(1+1e-7)+1e-9 {
			t.Errorf("%d columns: loss %v, by coordinates %v\n%v\n%v", n, a, b, got, want)
		}
		for i, v := range got {
			if v < o.Lower[i] || v > o.Upper[i] {
				t.Errorf("coefficient %d is %v, outside [%v, %v]", i, v, o.Lower[i], o.Upper[i])
			}
		}
	}
}

func TestDependentColumnsNeedAPenalty(t *testing.T) {
	s := New(2)
	for i := range 10 {
		x := float64(i + 1)
		s.Add([]float64{x, 2 * x}, 4*x, 1)
	}
	if c, err := s.Solve(Options{}); err == nil {
		t.Errorf("%v without a penalty", c)
	}
	c, err := s.Solve(Options{Penalty: []float64{1e-6, 1e-6}, Toward: []float64{0, 2}})
	if err != nil || math.Abs(c[0]-0) > 1e-6 || math.Abs(c[1]-2) > 1e-6 {
		t.Errorf("%v, %v; want the one nearest to 0, 2", c, err)
	}
}

func TestColumnsWithoutDataAreWhatIsSaid(t *testing.T) {
	s := New(3)
	for i := range 10 {
		s.Add([]float64{1, 0, float64(i)}, 5, 1)
	}
	c, err := s.Solve(Options{Toward: []float64{0, 7, 0}, Upper: []float64{9, 6, 9}})
	if err != nil || c[1] != 6 || math.Abs(c[0]-5) > 1e-12 || math.Abs(c[2]) > 1e-12 {
		t.Errorf("%v, %v; want 5, 6, 0", c, err)
	}
}

func TestMergedSystemsAreOne(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a, b, both := New(3), New(3), New(3)
	for i := range 40 {
		x := []float64{1, r.NormFloat64(), r.NormFloat64()}
		y, w := r.NormFloat64(), r.Float64()
		both.Add(x, y, w)
		if i < 20 {
			a.Add(x, y, w)
		} else {
			b.Add(x, y, w)
		}
	}
	a.Merge(b)
	one, _ := a.Solve(Options{Lower: []float64{-9, -9, -9}})
	other, _ := both.Solve(Options{Lower: []float64{-9, -9, -9}})
	for i := range one {
		if math.Abs(one[i]-other[i]) > 1e-12 {
			t.Errorf("%v, merged %v", other, one)
		}
	}
	if a.Rows() != 40 || math.Abs(a.loss(one)-both.loss(other)) > 1e-9 {
		t.Errorf("%d rows, loss %v and %v", a.Rows(), a.loss(one), both.loss(other))
	}
}

// Standard errors say how far noise moves coefficients: over many draws the
// squared distance from the truth is about the squared error.
func TestStandardErrorsAreThoseOfRepetition(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	truth := []float64{3, 2, 5}
	o := Options{Lower: []float64{-1e9, -1e9, -1e9}}
	var ratio [3]float64
	const draws = 400
	for range draws {
		s := New(3)
		for range 200 {
			x := []float64{1, r.NormFloat64(), r.NormFloat64() + 1}
			s.Add(x, 3+2*x[1]+5*x[2]+0.7*r.NormFloat64(), 1)
		}
		c, err := s.Solve(o)
		if err != nil {
			t.Fatal(err)
		}
		spread := s.Spread(o, c)
		for i := range c {
			ratio[i] += math.Pow((c[i]-truth[i])/spread.Errors[i], 2) / draws
		}
		if math.Abs(spread.Freedom-3) > 1e-9 {
			t.Fatalf("freedom %v without a penalty, want 3", spread.Freedom)
		}
	}
	for i, v := range ratio {
		if v < 0.7 || v > 1.4 { // 400 draws: standard deviation 0.07
			t.Errorf("coefficient %d: mean square of distance over error %v, want about 1", i, v)
		}
	}
}

func TestPenaltiesTakeFreedom(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	s := random(r, 4, 100, []float64{1, 1, 1, 1}, 0.1)
	last := 5.0
	for _, lambda := range []float64{0, 1e-2, 1, 100} {
		o := Options{Penalty: make([]float64, 4), Lower: []float64{-9, -9, -9, -9}}
		var trace float64
		dense := mat.NewDense(4, 4, append([]float64{}, s.gram...))
		for i := range 4 {
			o.Penalty[i] = lambda * s.Power(i)
			dense.Set(i, i, dense.At(i, i)+o.Penalty[i])
		}
		var inverse, smoother mat.Dense
		if err := inverse.Inverse(dense); err != nil {
			t.Fatal(err)
		}
		smoother.Mul(mat.NewDense(4, 4, append([]float64{}, s.gram...)), &inverse)
		trace = mat.Trace(&smoother)
		c, err := s.Solve(o)
		if err != nil {
			t.Fatal(err)
		}
		got := s.Spread(o, c).Freedom
		if math.Abs(got-trace) > 1e-6 || got >= last {
			t.Errorf("λ %v: freedom %v, want %v, below %v", lambda, got, trace, last)
		}
		last = got
	}
}

// Observations that weigh by the square of their inverse have a relative distance
// that is the root mean square of relative changes.
func TestRelativeDistance(t *testing.T) {
	s := New(1)
	for _, y := range []float64{0.02, 3, 50} {
		s.Add([]float64{y}, y, 1/(y*y))
	}
	if got := s.Relative(s.Distance([]float64{1}, []float64{1.01})); math.Abs(got-0.01) > 1e-12 {
		t.Errorf("%v, want 1 %%", got)
	}
	if got := New(1).Relative(1); got != 0 {
		t.Errorf("%v of nothing", got)
	}
}
