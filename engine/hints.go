package engine

import "blis/policy"

// hintStore is the memory of the hints of requests. What is in it is never written again:
// entries of the wait queue of requests that left refer to it, and keep their order.
type hintStore []policy.Hints

// hintsAtOnce is the number of hints that memory is allocated for together.
const hintsAtOnce = 64

// keep returns a copy of hints, nil if all are 0.
func (s *hintStore) keep(h *policy.Hints) *policy.Hints {
	if h.Used() == 0 {
		return nil
	}
	if len(*s) == cap(*s) {
		*s = make(hintStore, 0, hintsAtOnce)
	}
	*s = append(*s, *h)
	return &(*s)[len(*s)-1]
}
