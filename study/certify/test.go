package certify

// claim is a claim about p, the share of windows that pass: the factors by which a window
// changes the e-value against the claim's opposite.
type claim struct{ pass, fail float64 }

// stands is the claim p > q, tested against p ≤ q. It is proved fastest where a fifth as many
// windows fail as may.
func stands(q float64) claim {
	good := 1 - float64((1-q)/5)
	return claim{good / q, (1 - good) / (1 - q)}
}

// falls is the claim p < q, tested against p ≥ q.
func falls(q float64) claim {
	bad := max(q-0.4, q/2)
	return claim{bad / q, (1 - bad) / (1 - q)}
}

// evidence is an e-value. It is a product, and no sum of logarithms, which differ in the last
// bit between machines.
type evidence struct {
	claim
	value           float64
	passes, windows int
}

func (c claim) start() evidence { return evidence{claim: c, value: 1} }

func (e *evidence) take(pass bool) {
	e.windows++
	factor := e.fail
	if pass {
		e.passes++
		factor = e.pass
	}
	e.value = float64(e.value * factor)
}

// gaveUp is the e-value at which an attempt is given up: it falls that far in at most one of
// twenty attempts in which p is the one that the claim is proved fastest for.
const gaveUp = 1. / 20

// Verdicts of the short test.
const (
	shortYes   = 3      // as an e-value: thirteen passes for q = 0.9
	shortNo    = 1. / 6 // two failures
	shortLimit = 40     // windows
)

// short is the test of a rung in the search: a verdict from a few windows, without a
// guarantee.
type short struct{ evidence }

// verdict returns whether the rung holds, once that is decided.
func (s *short) verdict() (holds, decided bool) {
	switch {
	case s.value >= shortYes:
		return true, true
	case s.value <= shortNo:
		return false, true
	}
	return s.value >= 1 || s.passes == s.windows, s.windows >= shortLimit
}

// toCome is how many windows the test takes if all pass.
func (s *short) toCome() int { return s.until(shortYes, s.pass, shortLimit-s.windows) }

// until is in how many windows, at most limit, the e-value reaches a bound if each changes it
// by the factor.
func (e *evidence) until(bound, factor float64, limit int) (n int) {
	for v := e.value; v < bound && n < limit; n++ {
		v = float64(v * factor)
	}
	return n
}
