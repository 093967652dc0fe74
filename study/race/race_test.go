package race

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"blis/internal/testsize"

	"github.com/google/go-cmp/cmp"
)

// field is a set of systems with normal values: system i has mean means[i], and
// what two systems share in a replicate gives their correlation.
type field struct {
	means       []float64
	sigma       float64
	correlation float64
	random      *rand.Rand
	shared      []float64 // of each replicate
	runs        int
}

// value draws; replicates come in their order.
func (f *field) value(system, replicate int) float64 {
	for len(f.shared) <= replicate {
		f.shared = append(f.shared, f.random.NormFloat64())
	}
	f.runs++
	own := math.Sqrt(1-f.correlation) * f.random.NormFloat64()
	return f.means[system] + f.sigma*(own+math.Sqrt(f.correlation)*f.shared[replicate])
}

// run runs a race to its end.
func run(t testing.TB, r *Race, value func(system, replicate int) float64) Result {
	t.Helper()
	for {
		systems, replicate := r.Want()
		if len(systems) == 0 {
			return r.Result()
		}
		if r.atMost > 0 && replicate > r.atMost {
			t.Fatalf("%+v: want an end after %d replicates", r.Result(), r.atMost)
		}
		var outcomes []Outcome
		for _, s := range systems {
			x := value(s, replicate)
			outcomes = append(outcomes, Outcome{Value: x, Failed: math.IsNaN(x)})
		}
		if err := r.Observe(outcomes); err != nil {
			t.Fatal(err)
		}
	}
}

func begin(t testing.TB, systems int, o Options) *Race {
	t.Helper()
	r, err := New(systems, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// atIndifference are ten systems of which one leads by delta.
func atIndifference(best int, delta float64) []float64 {
	means := make([]float64, 10)
	means[best] = delta
	return means
}

// TestCorrectSelection: in 1,000 races of ten systems where the best one leads by
// the indifference zone and σ is twice that, it is selected in at least 95 of 100,
// and common random numbers need fewer replicates for it. The seed is fixed: a
// probability is no property of one trial.
func TestCorrectSelection(t *testing.T) {
	const races, seed = 1000, 20010701
	means := map[float64]float64{}
	for _, correlation := range []float64{0, 0.8} {
		correct, replicates, runs := 0, 0, 0
		random := rand.New(rand.NewPCG(seed, math.Float64bits(correlation)))
		for n := range races {
			best := n % 10
			f := &field{means: atIndifference(best, 1), sigma: 2, correlation: correlation, random: random}
			result := run(t, begin(t, 10, Options{Alpha: 0.05, Delta: 1, Higher: true}), f.value)
			if !result.Decided || result.Runs != f.runs || result.Runs+result.Saved != 10*result.Replicates {
				t.Fatalf("%+v after %d runs", result, f.runs)
			}
			if result.Selected == best {
				correct++
			}
			replicates += result.Replicates
			runs += result.Runs
		}
		means[correlation] = float64(runs) / races / 10
		t.Logf("seed %d, correlation %v: %d of %d correct, %.1f replicates to the end, %.1f runs of each system", seed, correlation, correct, races,
			float64(replicates)/races, means[correlation])
		if correct < races*95/100 {
			t.Errorf("correlation %v: %d of %d correct", correlation, correct, races)
		}
	}
	if means[0.8] > means[0]/2 {
		t.Errorf("%.1f runs of each system with common random numbers, %.1f without: want less than half", means[0.8], means[0])
	}
}

// TestRaceAgainstThePaper: the same systems leave at the same replicates as in the
// procedure as it is printed.
func TestRaceAgainstThePaper(t *testing.T) {
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	random := rand.New(rand.NewPCG(seed, 0))
	for range testsize.Cases(t, 100, 500, 5000) {
		k := 2 + random.IntN(8)
		f := &field{means: make([]float64, k), sigma: 0.5 + 2*random.Float64(), correlation: random.Float64(), random: random}
		for i := range f.means {
			f.means[i] = 2 * random.Float64()
		}
		values := map[[2]int]float64{}
		value := func(system, replicate int) float64 {
			at := [2]int{system, replicate}
			if _, there := values[at]; !there {
				values[at] = f.value(system, replicate)
			}
			return values[at]
		}
		o := Options{Alpha: 0.01 + 0.4*random.Float64(), Delta: f.sigma * (0.5 + random.Float64()), FirstStage: 5 + random.IntN(12), Higher: random.IntN(2) == 0}
		got := run(t, begin(t, k, o), value)
		sign := 1.0
		if !o.Higher {
			sign = -1
		}
		selected, out, most := kimNelson(k, o.FirstStage, o.Alpha, o.Delta, func(i, j int) float64 { return sign * value(i, j-1) })
		var left []int
		for _, s := range got.Systems {
			left = append(left, s.Out)
		}
		if got.Selected != selected || !slices.Equal(left, out) || got.AtMost != max(o.FirstStage, most+1) || got.Replicates > got.AtMost {
			t.Fatalf("%+v: selected %d, left at %v, at most %d; the paper: %d, %v, %d", o, got.Selected, left, got.AtMost, selected, out, most)
		}
	}
}

// kimNelson is the procedure of the paper with c = 1, line by line: x(i, j) is the
// j-th observation of system i, from 1. It returns the selected system, the r at
// which each system left, 0 for those that stayed, and the largest N.
func kimNelson(k, n0 int, alpha, delta float64, x func(i, j int) float64) (selected int, left []int, most int) {
	// Setup.
	eta := 0.5 * (math.Pow(2*alpha/float64(k-1), -2/float64(n0-1)) - 1)
	// Initialization.
	in := map[int]bool{}
	for i := range k {
		in[i] = true
	}
	left = make([]int, k)
	h2 := 2 * eta * float64(n0-1)
	mean := func(i, n int) float64 {
		sum := 0.0
		for j := 1; j <= n; j++ {
			sum += x(i, j)
		}
		return sum / float64(n)
	}
	s2 := make([][]float64, k)
	for i := range k {
		s2[i] = make([]float64, k)
		for l := range k {
			for j := 1; j <= n0; j++ {
				s2[i][l] += math.Pow(x(i, j)-x(l, j)-(mean(i, n0)-mean(l, n0)), 2) / float64(n0-1)
			}
			most = max(most, int(math.Floor(h2*s2[i][l]/(delta*delta))))
		}
	}
	for r := n0; ; r++ {
		// Screening.
		old := map[int]bool{}
		for i := range in {
			old[i] = true
		}
		for i := range old {
			for l := range old {
				w := math.Max(0, delta/(2*float64(r))*(h2*s2[i][l]/(delta*delta)-float64(r)))
				if i != l && mean(i, r) < mean(l, r)-w && in[i] {
					delete(in, i)
					left[i] = r
				}
			}
		}
		// Stopping rule.
		if len(in) == 1 || r == most+1 {
			selected = -1
			for i := range k {
				if in[i] && (selected < 0 || mean(i, r) > mean(selected, r)) {
					selected = i
				}
			}
			return selected, left, most
		}
	}
}

// TestConstants: η and h² of the paper for ten systems.
func TestConstants(t *testing.T) {
	o := Options{Alpha: 0.05, FirstStage: 10}
	h2 := hSquared(10, o)
	eta := h2 / 2 / 9
	if g := math.Pow(1+2*eta, -9.0/2) / 2; math.Abs(g-0.05/9) > 1e-15 {
		t.Errorf("g(η) is %v, want α/(k−1) = %v", g, 0.05/9)
	}
	if math.Abs(eta-0.85908) > 5e-6 {
		t.Errorf("η is %v", eta)
	}
}

// TestOneSystem has won.
func TestOneSystem(t *testing.T) {
	r := begin(t, 1, Options{Alpha: 0.05, Delta: 1})
	if systems, _ := r.Want(); len(systems) != 0 || r.Ahead() != 0 {
		t.Errorf("wants %v", systems)
	}
	want := Result{Decided: true, In: []int{0}, Systems: []Standing{{By: -1}}}
	if diff := cmp.Diff(want, r.Result()); diff != "" {
		t.Error(diff)
	}
	if err := r.Observe([]Outcome{{}}); err != ErrEnded {
		t.Error(err)
	}
}

// TestLowerIsBetter, unless it is said otherwise.
func TestLowerIsBetter(t *testing.T) {
	for _, higher := range []bool{false, true} {
		got := run(t, begin(t, 3, Options{Alpha: 0.05, Delta: 1, Higher: higher}), func(system, replicate int) float64 { return float64(10*system + replicate) })
		want := Result{Decided: true, In: []int{0}, Replicates: 10, Runs: 30, AtMost: 10,
			Systems: []Standing{{10, 4.5, 0, -1, false}, {10, 14.5, 10, 0, false}, {10, 24.5, 10, 0, false}}}
		if higher {
			want.Selected, want.In = 2, []int{2}
			want.Systems[0].Out, want.Systems[1].Out, want.Systems[2].Out = 10, 10, 0
			want.Systems[0].By, want.Systems[1].By, want.Systems[2].By = 2, 2, -1
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("higher %v: %s", higher, diff)
		}
	}
}

// TestEqualSystems: two that are the same in every replicate end the race together,
// as soon as all others have left.
func TestEqualSystems(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	f := &field{means: []float64{5, 0, 0.5}, sigma: 1, random: random}
	twin := map[int]float64{}
	got := run(t, begin(t, 4, Options{Alpha: 0.05, Delta: 0.5}), func(system, replicate int) float64 {
		if system == 3 {
			return twin[replicate]
		}
		x := f.value(system, replicate)
		if system == 1 {
			twin[replicate] = x
		}
		return x
	})
	if got.Selected != 1 || !got.Decided || !slices.Equal(got.In, []int{1, 3}) || got.Replicates != got.Systems[2].Out {
		t.Errorf("%+v", got)
	}
	all := run(t, begin(t, 3, Options{Alpha: 0.05, Delta: 1}), func(_, replicate int) float64 { return float64(replicate) })
	if all.Selected != 0 || !all.Decided || len(all.In) != 3 || all.Replicates != 10 || all.Saved != 0 {
		t.Errorf("%+v", all)
	}
}

// TestEqualMeansByChance do not end a race: the systems may still be told apart.
func TestEqualMeansByChance(t *testing.T) {
	value := func(system, replicate int) float64 { return float64(1 - 2*((system+replicate)%2)) }
	got := run(t, begin(t, 2, Options{Alpha: 0.05, Delta: 0.5}), value)
	if !got.Decided || len(got.In) != 1 || got.Replicates <= 10 {
		t.Errorf("%+v", got)
	}
}

// TestFailedSystems leave, whenever that is.
func TestFailedSystems(t *testing.T) {
	nan := math.NaN()
	fails := map[[2]int]bool{{0, 0}: true, {2, 4}: true}
	value := func(system, replicate int) float64 {
		if fails[[2]int{system, replicate}] {
			return nan
		}
		return float64(system)
	}
	got := run(t, begin(t, 5, Options{Alpha: 0.05, Delta: 0.1}), value)
	want := []Standing{{0, 0, 1, -1, true}, {10, 1, 0, -1, false}, {4, 2, 5, -1, true}, {10, 3, 10, 1, false}, {10, 4, 10, 1, false}}
	if diff := cmp.Diff(want, got.Systems); diff != "" || got.Selected != 1 || !got.Decided || got.Runs != 5+4*4+3*5 {
		t.Errorf("%+v\n%s", got, diff)
	}
	fails = map[[2]int]bool{{0, 0}: true, {1, 3}: true}
	if got := run(t, begin(t, 3, Options{Alpha: 0.05, Delta: 0.1}), value); got.Selected != 2 || !got.Decided || got.Replicates != 4 {
		t.Errorf("one is left: %+v", got)
	}
	if got := run(t, begin(t, 3, Options{Alpha: 0.05, Delta: 0.1}), func(int, int) float64 { return nan }); got.Selected != -1 || got.Decided || len(got.In) != 0 {
		t.Errorf("none is left: %+v", got)
	}
}

// TestLimit: the race ends undecided, and the best so far is selected.
func TestLimit(t *testing.T) {
	f := &field{means: []float64{0, 0.001}, sigma: 1, random: rand.New(rand.NewPCG(3, 4))}
	got := run(t, begin(t, 2, Options{Alpha: 0.05, Delta: 0.01, MaxReplicates: 25}), f.value)
	if got.Decided || len(got.In) != 2 || got.Replicates != 25 || got.Saved != 0 || got.AtMost <= 25 ||
		got.Systems[got.Selected].Mean > got.Systems[1-got.Selected].Mean {
		t.Errorf("%+v", got)
	}
}

// TestWhatIsWanted: the first stage may run ahead, later replicates one by one.
func TestWhatIsWanted(t *testing.T) {
	r := begin(t, 3, Options{Alpha: 0.05, Delta: 0.5})
	f := &field{means: []float64{0, 0, 9}, sigma: 1, random: rand.New(rand.NewPCG(5, 6))}
	for n := range 12 {
		systems, replicate := r.Want()
		want := []int{0, 1, 2}
		if n >= 10 {
			want = []int{0, 1}
		}
		if !slices.Equal(systems, want) || replicate != n || r.Ahead() != max(1, 10-n) {
			t.Fatalf("replicate %d: wants %v, %d, ahead %d", n, systems, replicate, r.Ahead())
		}
		if selected := r.Result().Selected; (selected == -1) != (n == 0) {
			t.Errorf("selected %d after %d replicates", selected, n)
		}
		var outcomes []Outcome
		for _, s := range systems {
			outcomes = append(outcomes, Outcome{Value: f.value(s, n)})
		}
		for _, wrong := range [][]Outcome{nil, outcomes[1:], append(slices.Clone(outcomes[1:]), Outcome{Value: math.NaN()}), append(slices.Clone(outcomes[1:]), Outcome{Value: math.Inf(-1)})} {
			before := r.Result()
			if err := r.Observe(wrong); err == nil || cmp.Diff(before, r.Result()) != "" {
				t.Errorf("%v: %v, %s", wrong, err, cmp.Diff(before, r.Result()))
			}
		}
		if err := r.Observe(outcomes); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWrongOptions.
func TestWrongOptions(t *testing.T) {
	good := Options{Alpha: 0.05, Delta: 1}
	for want, spoil := range map[string]func(*Options, *int){ // any order
		"0 systems":                 func(_ *Options, k *int) { *k = 0 },
		"alpha is 0":                func(o *Options, _ *int) { o.Alpha = 0 },
		"alpha is 0.5":              func(o *Options, _ *int) { o.Alpha = 0.5 },
		"alpha is NaN":              func(o *Options, _ *int) { o.Alpha = math.NaN() },
		"delta is 0":                func(o *Options, _ *int) { o.Delta = 0 },
		"delta is +Inf":             func(o *Options, _ *int) { o.Delta = math.Inf(1) },
		"first stage of 1":          func(o *Options, _ *int) { o.FirstStage = 1 },
		"at most 9 replicates":      func(o *Options, _ *int) { o.MaxReplicates = 9 },
		"want at least the 20 of t": func(o *Options, _ *int) { o.FirstStage, o.MaxReplicates = 20, 19 },
	} {
		o, k := good, 3
		spoil(&o, &k)
		if _, err := New(k, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
