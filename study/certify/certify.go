package certify

import (
	"context"
	"iter"
)

// Search is what to find. All fields must be set but Start, Bound and Observe.
type Search struct {
	Rungs int // at least 1
	Start int // rung to begin at, near which the answer is expected
	Bound int // first rung that is not tried unless the one below it holds; 0: none is known

	Share      float64 // q, above 0 and below 1
	Confidence float64 // 1 − α, above 0 and below 1
	MaxWindows int     // in all; a window of n times the length counts n
	OneLength  bool    // windows cannot be longer: the lower end is not tested with longer ones
	Seed       uint64

	// Observe is told of every window that was consumed; nil: nobody is.
	Observe func(Progress)
}

// Window is one try of the system.
type Window struct {
	Rung  int
	Scale int // its length, in lengths of the first windows: 1, 2, 4, 8 or 16
	Seed  uint64
}

// System is what is searched. Window says whether a window passes. ahead yields the windows
// that will probably be wanted after it, the likeliest first; a system may run some of them
// meanwhile. Its errors end the search.
type System interface {
	Window(ctx context.Context, w Window, ahead iter.Seq[Window]) (pass bool, err error)
}

// Progress is how far Find has come.
type Progress struct {
	Phase   Phase
	Rung    int
	Windows int // consumed so far
}

// Phase is a part of Find.
type Phase string

// Phases.
const (
	Searching Phase = "search"
	LowerEnd  Phase = "lower end"
	UpperEnd  Phase = "upper end"
	Stability Phase = "longer windows"
)

// Outcome is what Find found.
type Outcome string

// Outcomes. An answer has both ends certified; NothingHolds has the first rung certified not
// to hold, EverythingHolds the last one certified to hold.
const (
	Answered        Outcome = "answered"
	NothingHolds    Outcome = "nothing holds"
	EverythingHolds Outcome = "everything holds"
	NotCertified    Outcome = "not certified"
)

// Answer is the result of Find. It is a function of the Search and of the System.
type Answer struct {
	Outcome Outcome
	Lower   *End // nil: no rung that holds is known
	Upper   *End // nil: no rung that does not hold is known
	Longer  *End // the lower end with windows of twice the length; nil: not tested
	Scale   int  // of the windows of both ends
	Windows int  // consumed; one of n times the length counts once
	Rungs   []Rung
}

// End is one end of the answer.
type End struct {
	Rung      int
	Certified bool
	Attempts  int // at this end, on this rung and those given up before
	Passes    int // of Windows
	Windows   int // of the last attempt
	Scale     int
	// Tried are the windows of the last attempt, and Decisive the last of them that went the
	// way of the claim.
	Tried    []Window
	Decisive Window
}

// Rung is what the search saw of a rung.
type Rung struct {
	Rung, Scale, Passes, Windows int
	Holds                        bool
}

// Contradictions returns pairs of rungs of equal windows of which the search found that the
// lighter does not hold and the heavier does.
func (a *Answer) Contradictions() (pairs [][2]Rung) {
	for _, light := range a.Rungs {
		for _, heavy := range a.Rungs {
			if light.Scale == heavy.Scale && light.Rung < heavy.Rung && !light.Holds && heavy.Holds {
				pairs = append(pairs, [2]Rung{light, heavy})
			}
		}
	}
	return pairs
}

// mostDoublings is how often the windows are made longer.
const mostDoublings = 3

// Find carries the search out. When the system fails, or ctx is cancelled, the error is
// that of the system, and the answer is what was known until then, NotCertified.
func Find(ctx context.Context, s Search, system System) (Answer, error) {
	f := &finder{Search: s, ctx: ctx, system: system, answer: Answer{Outcome: NotCertified, Scale: 1}}
	if f.Bound == 0 {
		f.Bound = s.Rungs
	}
	err := f.find()
	if err == errSpent {
		err = nil
	}
	return f.answer, err
}

// finder is the state of Find.
type finder struct {
	Search
	ctx      context.Context
	system   System
	spent    int               // of MaxWindows
	attempts [upperEnd + 1]int // so far, by end
	answer   Answer
}

// find searches and certifies, with longer windows until the lower end holds with windows
// of twice the length as well.
func (f *finder) find() error {
	for doublings := 0; ; doublings++ {
		lo, hi, err := f.search()
		if err != nil {
			return err
		}
		stable, err := f.certify(lo, hi)
		if err != nil || stable {
			return err
		}
		if doublings == mostDoublings {
			f.answer.Outcome = NotCertified
			return nil
		}
		f.Start = max(f.answer.Lower.Rung-1, 0)
		f.answer.Lower, f.answer.Upper, f.answer.Longer = nil, nil, nil
		f.answer.Scale *= 2
	}
}

// search finds neighbouring rungs of which lo seems to hold and hi does not, by short tests
// with the same seeds; −1 and Rungs where there is none.
func (f *finder) search() (lo, hi int, err error) {
	b := newBracket(f.Rungs, f.Start, f.Bound)
	for rung := b.next(); rung >= 0; rung = b.next() {
		holds, err := f.short(&b, rung)
		if err != nil {
			return 0, 0, err
		}
		b.take(rung, holds)
		f.known(b.lo, b.hi)
	}
	return b.lo, b.hi, nil
}

// known keeps the bracket so far in the answer, not certified.
func (f *finder) known(lo, hi int) {
	if lo >= 0 {
		f.answer.Lower = &End{Rung: lo, Scale: f.answer.Scale}
	}
	if hi < f.Rungs {
		f.answer.Upper = &End{Rung: hi, Scale: f.answer.Scale}
	}
}

// short tests a rung.
func (f *finder) short(b *bracket, rung int) (holds bool, err error) {
	test := short{stands(f.Share).start()}
	window := func(rung, i int) Window { return Window{rung, f.answer.Scale, seedOf(f.Seed, searching, 0, i)} }
	for {
		ahead := func(yield func(Window) bool) {
			more := test.toCome()
			for i := range more {
				if i > 0 && !yield(window(rung, test.windows+i)) {
					return
				}
			}
			f.bothWays(b, rung, window, more+test.windows, yield)
		}
		pass, err := f.window(Searching, window(rung, test.windows), ahead)
		if err != nil {
			return false, err
		}
		test.take(pass)
		if holds, decided := test.verdict(); decided {
			f.answer.Rungs = append(f.answer.Rungs, Rung{rung, f.answer.Scale, test.passes, test.windows, holds})
			return holds, nil
		}
	}
}

// bothWays yields windows of the rungs that come after this one, whether it holds or not.
func (f *finder) bothWays(b *bracket, rung int, window func(rung, i int) Window, n int, yield func(Window) bool) {
	for i := range n {
		for _, holds := range []bool{true, false} {
			then := *b
			then.take(rung, holds)
			if next := then.next(); next >= 0 && !yield(window(next, i)) {
				return
			}
		}
	}
}

// certify tests both ends, starting from a bracket of the search. It is not stable if the
// lower end does not hold with longer windows.
func (f *finder) certify(lo, hi int) (stable bool, err error) {
	f.answer.Outcome = NotCertified
	lower, stable, err := f.lower(lo)
	if err != nil || !stable {
		return stable, err
	}
	switch { // no end is left to test where the search ended, at the top or at the bottom
	case !lower:
		hi = 0
	case hi == f.Rungs:
		hi = f.answer.Lower.Rung + 1
	}
	upper, err := f.upper(hi)
	switch {
	case err != nil:
		return false, err
	case lower && upper:
		f.answer.Outcome = Answered
	case lower && f.answer.Lower.Rung == f.Rungs-1:
		f.answer.Outcome = EverythingHolds
	case upper && f.answer.Upper.Rung == 0:
		f.answer.Outcome = NothingHolds
	}
	return true, nil
}

// lower certifies that a rung holds, with windows of both lengths: rung, or one below. The
// windows of twice the length are an attempt at the lower end like others. It is not stable if
// they say rather that the rung does not hold.
func (f *finder) lower(rung int) (certified, stable bool, err error) {
	for given := 0; rung >= 0; given, rung = given+1, rung-outward(given) {
		end, longer := &End{Rung: rung, Scale: f.answer.Scale}, &End{Rung: rung, Scale: 2 * f.answer.Scale}
		f.answer.Lower, f.answer.Longer = end, nil
		if err = f.attempt(LowerEnd, lowerEnd, stands(f.Share), end); err != nil {
			return false, false, err
		}
		if !end.Certified {
			continue
		}
		if f.OneLength {
			return true, true, nil
		}
		f.answer.Longer = longer
		if err = f.attempt(Stability, lowerEnd, stands(f.Share), longer); err != nil {
			return false, false, err
		}
		if longer.Certified {
			return true, true, nil
		}
		if longer.against(f.Share) {
			return true, false, nil
		}
	}
	f.answer.Lower, f.answer.Longer = nil, nil
	return false, true, nil
}

// outward is by how many rungs an end moves after an attempt was given up, and given before
// it: by one, and by more once the share of windows that pass turns out to be flat.
func outward(given int) int { return 1 + given/2 }

// against reports whether the windows of the end are likelier where few pass than where the
// share q does.
func (e *End) against(q float64) bool {
	likelihoods := falls(q).start()
	for i := range e.Windows {
		likelihoods.take(i < e.Passes)
	}
	return likelihoods.value > 1
}

// upper certifies that a rung does not hold: rung, or one above.
func (f *finder) upper(rung int) (certified bool, err error) {
	for given := 0; rung < f.Rungs; given, rung = given+1, rung+outward(given) {
		end := &End{Rung: rung, Scale: f.answer.Scale}
		f.answer.Upper = end
		if err = f.attempt(UpperEnd, upperEnd, falls(f.Share), end); end.Certified || err != nil {
			return end.Certified, err
		}
	}
	f.answer.Upper = nil
	return false, nil
}

// attempt tests a claim about the rung of an end on fresh windows until it is certified or
// given up.
func (f *finder) attempt(phase Phase, u use, c claim, end *End) error {
	f.attempts[u]++
	m, e := f.attempts[u], c.start()
	end.Attempts = m
	enough := 2 / (1 - f.Confidence) // 2^(m+1)/α
	for range m {
		enough = float64(enough * 2)
	}
	window := func(i int) Window { return Window{end.Rung, end.Scale, seedOf(f.Seed, u, m, i)} }
	for {
		ahead := func(yield func(Window) bool) {
			for i := range e.until(enough, max(c.pass, c.fail), f.MaxWindows) {
				if i > 0 && !yield(window(e.windows+i)) {
					return
				}
			}
		}
		w := window(e.windows)
		pass, err := f.window(phase, w, ahead)
		if err != nil {
			return err
		}
		e.take(pass)
		end.Passes, end.Windows, end.Tried = e.passes, e.windows, append(end.Tried, w)
		if pass == (c.pass > 1) {
			end.Decisive = w
		}
		if end.Certified = e.value >= enough; end.Certified || e.value <= gaveUp {
			return nil
		}
	}
}

// errSpent ends a search that has consumed MaxWindows.
type spent struct{}

func (spent) Error() string { return "no windows are left" }

var errSpent error = spent{}

// window consumes a window.
func (f *finder) window(phase Phase, w Window, ahead iter.Seq[Window]) (pass bool, err error) {
	if f.spent+w.Scale > f.MaxWindows {
		return false, errSpent
	}
	if err := f.ctx.Err(); err != nil {
		return false, err
	}
	if pass, err = f.system.Window(f.ctx, w, ahead); err != nil {
		return false, err
	}
	f.spent += w.Scale
	f.answer.Windows++
	if f.Observe != nil {
		f.Observe(Progress{phase, w.Rung, f.answer.Windows})
	}
	return pass, nil
}
