package policy

import (
	"fmt"
	"slices"
	"strings"

	"blis/suggest"
	"blis/vtime"
)

// MaxHints is the largest number of hints of a request.
const MaxHints = 8

// Hints are numbers that the priority policy gives of a request besides its priority, in
// the order of their names; those behind are 0. They are finite. The nil Hints are all 0.
type Hints [MaxHints]float64

// Of returns hint k, an index that [Env.Hint] found.
func (h *Hints) Of(k int) float64 {
	if h == nil {
		return 0
	}
	return h[k]
}

// Used returns the number of hints up to the last one that is not 0.
func (h *Hints) Used() int {
	if h == nil {
		return 0
	}
	n := MaxHints
	for n > 0 && h[n-1] == 0 {
		n--
	}
	return n
}

// Hinter is a Priority that gives named numbers of a request besides: the routing policy
// and the schedulers find them in Request.Hints, Waiting.Hints and Running.Hints.
type Hinter interface {
	Priority
	// Hints names them, always the same: at most MaxHints different names of small letters,
	// digits and _, a letter first. Without a name the policy gives none.
	Hints() []string
	// Hint sets the hints of a request, which are all 0 before, to finite numbers. It is
	// called after each Score, with the same arguments.
	Hint(req *Request, st *RouterState, now vtime.Time, hints *Hints)
}

// HintNames returns the names of the hints that a policy gives, nil for none, and an error
// if they cannot be called that.
func HintNames(p Priority) ([]string, error) {
	h, gives := p.(Hinter)
	if !gives {
		return nil, nil
	}
	names := h.Hints()
	return names, CheckHintNames(names)
}

// CheckHintNames returns what is wrong with names of hints.
func CheckHintNames(names []string) error {
	if len(names) > MaxHints {
		return fmt.Errorf("there are %d hints: want at most %d", len(names), MaxHints)
	}
	for k, name := range names {
		switch {
		case name == "" || name[0] < 'a' || name[0] > 'z' || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || len(name) > mostHintName:
			return fmt.Errorf("a hint cannot be called %.60q: want at most %d small letters, digits and _, a letter first", name, mostHintName)
		case slices.Contains(names[:k], name):
			return fmt.Errorf("the hint %q is there twice", name)
		}
	}
	return nil
}

// mostHintName bounds the name of a hint, in bytes.
const mostHintName = 40

// Hint returns the index of the hint of that name, for Hints.Of. An error is one line: the
// priority policy of the run does not give it. It is for the constructors of routing
// policies and schedulers; admission and autoscale policies know no hints.
func (e *Env) Hint(name string) (k int, err error) {
	k = slices.Index(e.Hints, name)
	switch {
	case k >= 0:
		return k, nil
	case len(e.Hints) == 0:
		return k, fmt.Errorf("there is no hint %.60q: the priority policy gives none", name)
	}
	return k, fmt.Errorf("the priority policy gives no hint %.60q%s (there are: %s)", name, suggest.Hint(name, e.Hints), strings.Join(e.Hints, ", "))
}
