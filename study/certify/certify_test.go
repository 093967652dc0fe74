package certify

import (
	"context"
	"errors"
	"iter"
	"math"
	"testing"

	"blis/internal/testsize"
	"blis/vtime"
)

// synthetic is a system of which the share of windows that pass is known.
type synthetic struct {
	p     func(w Window) float64
	asked []Window
}

// Window passes with probability p. Windows of equal seeds draw alike on all rungs, as runs
// with common random numbers nearly do, but for a part of their own.
func (s *synthetic) Window(_ context.Context, w Window, _ iter.Seq[Window]) (bool, error) {
	s.asked = append(s.asked, w)
	common := uniform(w.Seed)
	own := uniform(w.Seed ^ vtime.Mix(uint64(w.Rung*32+w.Scale)))
	if w.Seed%4 == 0 {
		common = own
	}
	return common < s.p(w), nil
}

func uniform(x uint64) float64 { return float64(vtime.Mix(x)>>11) / (1 << 53) }

// steep falls from 0.98 to 0.5 within four rungs, flat within forty, stepped is just below q
// for long before it falls.
func steep(w Window) float64 { return logistic(float64(w.Rung-57) / 1.0) }
func flat(w Window) float64  { return logistic(float64(w.Rung-57) / 10.0) }

func stepped(q float64) func(w Window) float64 {
	return func(w Window) float64 {
		switch {
		case w.Rung < 20:
			return q + float64((1-q)*0.9)
		case w.Rung < 70:
			return q - 0.004
		}
		return q / 4
	}
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(x)) }

const rungs = 100

// TestClaimsAreRarelyWrong: of many searches at most 5 % claim what is not true of the known
// share of windows that pass, be it steep, flat or stepped, for every q.
func TestClaimsAreRarelyWrong(t *testing.T) {
	n := testsize.Cases(t, 200, 500, 2000)
	for _, c := range []struct {
		name string
		q    float64
		p    func(Window) float64
	}{
		{"steep", 0.9, steep}, {"flat", 0.9, flat}, {"stepped", 0.9, stepped(0.9)},
		{"steep half", 0.5, steep}, {"stepped half", 0.5, stepped(0.5)}, {"flat 0.99", 0.99, flat}, {"stepped 0.75", 0.75, stepped(0.75)},
		{"always just below", 0.9, func(Window) float64 { return 0.899 }}, {"always just q", 0.9, func(Window) float64 { return 0.9 }},
	} {
		wrong, windows, answered := 0, 0, 0
		for seed := range uint64(n) {
			s := Search{Rungs: rungs, Start: 10, Share: c.q, Confidence: 0.95, MaxWindows: 2000, Seed: seed}
			a, err := Find(t.Context(), s, &synthetic{p: c.p})
			if err != nil {
				t.Fatal(err)
			}
			if isWrong(&a, c.q, c.p) {
				wrong++
			}
			if a.Outcome == Answered {
				answered++
			}
			windows += a.Windows
		}
		t.Logf("%s, q %v: seeds 0 to %d: %.1f %% wrong, %d answered, %d windows each", c.name, c.q, n-1, 100*float64(wrong)/float64(n), answered, windows/n)
		if share := float64(wrong) / float64(n); share > 0.05 {
			t.Errorf("%s, q %v: %.1f %% of the answers are wrong, want at most 5 %%", c.name, c.q, 100*share)
		}
		if c.name == "steep" && answered < n*9/10 {
			t.Errorf("only %d of %d searches have an answer", answered, n)
		}
	}
}

// isWrong reports whether a certified end says what is not true.
func isWrong(a *Answer, q float64, p func(Window) float64) bool {
	for _, lower := range []*End{a.Lower, a.Longer} {
		if lower != nil && lower.Certified && p(Window{Rung: lower.Rung, Scale: lower.Scale}) <= q {
			return true
		}
	}
	return a.Upper != nil && a.Upper.Certified && p(Window{Rung: a.Upper.Rung, Scale: a.Upper.Scale}) >= q
}

// TestSteepAnswersAreNarrow: where the share falls fast the bracket is a few rungs wide and
// costs few windows.
func TestSteepAnswersAreNarrow(t *testing.T) {
	width, windows, n := 0, 0, 200
	for seed := range uint64(n) {
		a, err := Find(t.Context(), Search{Rungs: rungs, Start: 50, Share: 0.9, Confidence: 0.95, MaxWindows: 2000, Seed: seed}, &synthetic{p: steep})
		if err != nil || a.Outcome != Answered {
			t.Fatalf("seed %d: %+v, %v", seed, a, err)
		}
		width += a.Upper.Rung - a.Lower.Rung
		windows += a.Windows
	}
	t.Logf("%.1f rungs wide, %d windows", float64(width)/float64(n), windows/n)
	if width > 6*n || windows > 500*n {
		t.Errorf("brackets %.1f rungs wide after %d windows, want at most 6 and 500", float64(width)/float64(n), windows/n)
	}
}

// TestCertificateUsesFreshSeeds: no window of the certificate has a seed that anything else
// has used.
func TestCertificateUsesFreshSeeds(t *testing.T) {
	for seed := range uint64(50) {
		system := &synthetic{p: flat}
		var phases []Phase
		s := Search{Rungs: rungs, Start: 50, Share: 0.9, Confidence: 0.95, MaxWindows: 2000, Seed: seed,
			Observe: func(p Progress) { phases = append(phases, p.Phase) }}
		if _, err := Find(t.Context(), s, system); err != nil {
			t.Fatal(err)
		}
		searched, used := map[uint64]bool{}, map[uint64]bool{}
		for i, w := range system.asked {
			if phases[i] == Searching {
				searched[w.Seed] = true
				continue
			}
			if searched[w.Seed] || used[w.Seed] || w.Seed == PilotSeed(seed, 0) {
				t.Fatalf("seed %d: window %d (%s, rung %d) has a seed that was used before", seed, i, phases[i], w.Rung)
			}
			used[w.Seed] = true
		}
	}
}

// TestUnstableLoadDoublesTheWindows: a rung that holds with short windows only is no answer.
func TestUnstableLoadDoublesTheWindows(t *testing.T) {
	settles := func(w Window) float64 { // what holds for long is below rung 40
		if w.Rung < 40 || w.Scale < 4 && w.Rung < 60 {
			return 0.99
		}
		return 0.1
	}
	system := &synthetic{p: settles}
	a, err := Find(t.Context(), Search{Rungs: rungs, Start: 50, Share: 0.9, Confidence: 0.95, MaxWindows: 5000, Seed: 1}, system)
	if err != nil || a.Outcome != Answered || a.Scale != 1 || a.Lower.Rung != 59 {
		t.Errorf("%+v, %v: windows of twice the length hold on rung 59", a, err)
	}
	system.p = func(w Window) float64 { w.Scale *= 2; return settles(w) }
	a, err = Find(t.Context(), Search{Rungs: rungs, Start: 50, Share: 0.9, Confidence: 0.95, MaxWindows: 5000, Seed: 1}, system)
	if err != nil || a.Outcome != Answered || a.Scale != 2 || a.Lower.Rung >= 40 || a.Upper.Rung < 40 || a.Longer.Scale != 4 {
		t.Errorf("%+v, lower %+v, upper %+v, %v: want an answer below rung 40 with windows of twice the length", a, a.Lower, a.Upper, err)
	}
	never := func(w Window) float64 {
		if w.Rung < 60-2*w.Scale {
			return 0.99
		}
		return 0.1
	}
	a, err = Find(t.Context(), Search{Rungs: rungs, Start: 50, Share: 0.9, Confidence: 0.95, MaxWindows: 20000, Seed: 1}, &synthetic{p: never})
	if err != nil || a.Outcome != NotCertified || a.Scale != 8 {
		t.Errorf("%+v, %v: want no certified answer after three doublings", a, err)
	}
}

// TestOutcomes: a range that is too low or too high, and windows that run out.
func TestOutcomes(t *testing.T) {
	constant := func(p float64) func(Window) float64 { return func(Window) float64 { return p } }
	for _, c := range []struct {
		name    string
		p       func(Window) float64
		windows int
		want    Outcome
	}{
		{"nothing", constant(0.1), 2000, NothingHolds},
		{"everything", constant(1), 2000, EverythingHolds},
		{"few windows", steep, 40, NotCertified},
		{"no windows", steep, 0, NotCertified},
		{"one rung is enough", func(w Window) float64 { return 1 - float64(w.Rung) }, 2000, Answered},
	} {
		a, err := Find(t.Context(), Search{Rungs: rungs, Start: 50, Share: 0.9, Confidence: 0.95, MaxWindows: c.windows, Seed: 3}, &synthetic{p: c.p})
		if err != nil || a.Outcome != c.want {
			t.Errorf("%s: %s, %v: want %s", c.name, a.Outcome, err, c.want)
		}
	}
}

// TestBoundIsNotPassed: a rung from the bound on is tried only if the one below it holds.
func TestBoundIsNotPassed(t *testing.T) {
	for _, c := range []struct{ bound, first int }{{70, 70}, {40, 40}, {58, 58}} {
		system := &synthetic{p: steep}
		s := Search{Rungs: rungs, Start: 5, Bound: c.bound, Share: 0.9, Confidence: 0.95, MaxWindows: 2000, Seed: 7}
		a, err := Find(t.Context(), s, system)
		if err != nil || a.Outcome != Answered {
			t.Fatalf("bound %d: %+v, %v", c.bound, a, err)
		}
		below := false // the rung below the bound was found to hold
		for _, r := range a.Rungs {
			if r.Rung >= c.bound && !below {
				t.Errorf("bound %d: rung %d was tried before the one below the bound", c.bound, r.Rung)
			}
			below = below || r.Rung == c.bound-1 && r.Holds
		}
	}
}

// TestBisect: the last rung that holds is found, however far it is from the start, with few
// tries.
func TestBisect(t *testing.T) {
	for n := 1; n <= 20; n++ {
		for last := -1; last < n; last++ {
			for start := range n {
				for bound := 1; bound <= n; bound++ {
					tries := 0
					got, err := Bisect(n, start, bound, func(rung int) (bool, error) {
						tries++
						if rung < 0 || rung >= n {
							t.Fatalf("rung %d of %d", rung, n)
						}
						return rung <= last, nil
					})
					if got != last || err != nil || tries > 12 {
						t.Fatalf("%d rungs, start %d, bound %d: %d after %d tries, want %d", n, start, bound, got, tries, last)
					}
				}
			}
		}
	}
	if _, err := Bisect(9, 3, 9, func(int) (bool, error) { return false, errors.New("broken") }); err == nil {
		t.Error("no error")
	}
}

// TestCancelledSearchKeepsTheBracket: what was known stays, as not certified.
func TestCancelledSearchKeepsTheBracket(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := Search{Rungs: rungs, Start: 50, Share: 0.9, Confidence: 0.95, MaxWindows: 2000, Seed: 1, Observe: func(p Progress) {
		if p.Windows == 120 {
			cancel()
		}
	}}
	a, err := Find(ctx, s, &synthetic{p: steep})
	if !errors.Is(err, context.Canceled) || a.Outcome != NotCertified || a.Lower == nil || a.Upper == nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestWindowsAheadAreWanted: without surprises the windows that are announced are those that
// come next.
func TestWindowsAheadAreWanted(t *testing.T) {
	system := &announced{}
	s := Search{Rungs: rungs, Start: 50, Share: 0.9, Confidence: 0.95, MaxWindows: 2000, Seed: 1}
	if _, err := Find(t.Context(), s, system); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d windows had been announced right before", system.right, system.all)
	if system.right < system.all*9/10 {
		t.Errorf("%d of %d windows had been announced right before, want 90 %%", system.right, system.all)
	}
}

// announced counts how often the first window announced is the next one. All rungs below 60
// pass.
type announced struct {
	next       Window
	right, all int
}

func (a *announced) Window(_ context.Context, w Window, ahead iter.Seq[Window]) (bool, error) {
	a.all++
	if w == a.next {
		a.right++
	}
	a.next = Window{}
	for next := range ahead {
		a.next = next
		break
	}
	return w.Rung < 60, nil
}
