package certify

// bracket is the state of a search over rungs: gallop from start in steps that double, then
// halve.
type bracket struct {
	rungs, start int
	bound        int // rung that is not tried unless the one below holds
	lo, hi       int // lo holds and hi does not; −1 and rungs: none is known
	step         int // of the gallop; 0: nothing has been tried
}

func newBracket(rungs, start, bound int) bracket {
	return bracket{rungs: rungs, start: min(max(start, 0), rungs-1), bound: bound, lo: -1, hi: rungs}
}

// next returns the rung to try, −1 when lo and hi are neighbours.
func (b *bracket) next() int {
	switch {
	case b.hi-b.lo <= 1:
		return -1
	case b.step == 0:
		return b.start
	case b.lo < 0:
		return max(b.hi-b.step, 0)
	case b.hi == b.rungs && b.lo < b.bound-1:
		return min(b.lo+b.step, b.rungs-1, b.bound-1)
	case b.hi == b.rungs:
		return min(b.lo+b.step, b.rungs-1)
	}
	return b.lo + (b.hi-b.lo)/2
}

// take notes whether the rung holds.
func (b *bracket) take(rung int, holds bool) {
	if holds {
		b.lo = rung
	} else {
		b.hi = rung
	}
	b.step = max(1, 2*b.step)
}

// Bisect finds the last rung on which a system without chance holds, −1 if there is none.
// It begins at start. bound is the first rung that is not tried unless the one below it
// holds; rungs where no bound is known. The error is the first of holds.
func Bisect(rungs, start, bound int, holds func(rung int) (bool, error)) (last int, err error) {
	b := newBracket(rungs, start, bound)
	for rung := b.next(); rung >= 0; rung = b.next() {
		ok, err := holds(rung)
		if err != nil {
			return b.lo, err
		}
		b.take(rung, ok)
	}
	return b.lo, nil
}
