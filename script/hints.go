package script

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"blis/policy"
	"blis/suggest"
	"blis/vtime"
)

// Hints: a priority program declares their names, hints = ["urgent"], and returns them beside
// the priority, return 5, {"urgent": 1}. Programs of routing policies and schedulers read
// req.hints.urgent, and of lists of requests running.hints.urgent. What they read is found in
// their text, so that a name that is not declared is an error before the run.

// hintUse is a hint that a program reads.
type hintUse struct {
	name string
	at   syntax.Position
}

// hintsName is the attribute that has the hints, and the global that declares them.
const hintsName = "hints"

// hintOf returns the name of a hint if x reads one, like req.hints.urgent, and what has the hints: req.
func hintOf(x *syntax.DotExpr) (use hintUse, of syntax.Expr, reads bool) {
	inner := x.X
	for {
		p, inBrackets := inner.(*syntax.ParenExpr)
		if !inBrackets {
			break
		}
		inner = p.X
	}
	hints, isDot := inner.(*syntax.DotExpr)
	if !isDot || hints.Name.Name != hintsName {
		return use, nil, false
	}
	return hintUse{x.Name.Name, x.Name.NamePos}, hints.X, true
}

// fault returns the *Error of a hint at its place.
func (u *hintUse) fault(of *program, function, text string) error {
	return &Error{File: of.name, Line: int(u.at.Line), Column: int(u.at.Col), Kind: SyntaxError, Function: function, Message: clip(oneLine(text), mostMessage)}
}

// findHints finds the index of each hint that the program of a routing policy or scheduler reads.
func (m *machine) findHints() error {
	for k := range m.program.hints {
		use := &m.program.hints[k]
		at, err := m.env.Hint(use.name)
		switch {
		case err != nil && len(m.env.Hints) == 0:
			return use.fault(m.program, "", err.Error()+"; a program gives hints with hints = [\"urgent\"] and return 5, {\"urgent\": 1}")
		case err != nil:
			return use.fault(m.program, "", err.Error())
		}
		if m.hints == nil {
			m.hints = map[string]int{}
		}
		m.hints[use.name] = at
	}
	return nil
}

// noHints returns an error if the program of another policy reads hints.
func (m *machine) noHints(kind policy.Kind) error {
	if len(m.program.hints) == 0 {
		return nil
	}
	return m.program.hints[0].fault(m.program, "", fmt.Sprintf("hints are not known in a policy of the kind %s: want them in route, filter and the functions of schedulers", kind))
}

// hintsOf are the hints of a request as a value.
type hintsOf struct {
	of    *machine
	hints *policy.Hints
}

// Attr implements starlark.HasAttrs.
func (h *hintsOf) Attr(name string) (starlark.Value, error) {
	k, err := h.of.hint(name)
	if err != nil {
		return nil, err
	}
	return number(h.hints.Of(k)), nil
}

// hint returns the index of a hint that the program reads.
func (m *machine) hint(name string) (int, error) {
	k, found := m.hints[name]
	if !found {
		return 0, noAttribute(hintsName, name, m.hintNames())
	}
	return k, nil
}

// hintNames are the hints that the program reads.
func (m *machine) hintNames() (list []string) {
	for name := range m.hints { // any order: users sort
		list = append(list, name)
	}
	return list
}

// AttrNames implements starlark.HasAttrs.
func (h *hintsOf) AttrNames() []string { return h.of.hintNames() }

func (h *hintsOf) String() string        { return "<hints>" }
func (h *hintsOf) Type() string          { return hintsName }
func (h *hintsOf) Freeze()               {}
func (h *hintsOf) Truth() starlark.Bool  { return true }
func (h *hintsOf) Hash() (uint32, error) { return 0, typeMistake("hints cannot be a key") }

// hintColumns are the hints of a list of requests: each is a column.
type hintColumns[T any] struct{ of *requestList[T] }

// Attr implements starlark.HasAttrs.
func (h hintColumns[T]) Attr(name string) (starlark.Value, error) {
	k, err := h.of.of.hint(name)
	if err != nil {
		return nil, err
	}
	v := h.of.of.newVec(len(h.of.list))
	for i := range h.of.list {
		v.data[i] = h.of.hints(&h.of.list[i]).Of(k)
	}
	return v, nil
}

// AttrNames implements starlark.HasAttrs.
func (h hintColumns[T]) AttrNames() []string { return h.of.of.hintNames() }

func (h hintColumns[T]) String() string        { return "<hints>" }
func (h hintColumns[T]) Type() string          { return hintsName }
func (h hintColumns[T]) Freeze()               {}
func (h hintColumns[T]) Truth() starlark.Bool  { return true }
func (h hintColumns[T]) Hash() (uint32, error) { return 0, typeMistake("hints cannot be a key") }

// hintsValue is the value of req.hints, nil where the kind of policy knows none.
func (r *request) hintsValue() starlark.Value {
	switch {
	case r.waiting != nil:
		r.hints.hints = r.waiting.Hints
	case r.scored:
		r.hints.hints = r.full.Hints
	default:
		return nil
	}
	r.hints.of = r.of
	return &r.hints
}

// priority is a program's priority, with hints if it declares any.
type priority struct {
	decider
	names []string
	keys  []starlark.Value // the names
	hints policy.Hints     // of the request that was scored last
}

var _ policy.Hinter = (*priority)(nil)

func newPriority(p *program, env policy.Env, maxSteps uint64) (policy.Priority, error) {
	d, err := newDecider(policy.PriorityKind, "priority", priorityDraws, p, env, maxSteps)
	if err != nil {
		return nil, err
	}
	x := &priority{decider: d}
	if err := x.noHints(policy.PriorityKind); err != nil {
		return nil, err
	}
	return x, x.declare()
}

// declare reads which hints the program declares.
func (p *priority) declare() error {
	value, declared := p.globals[hintsName]
	if !declared {
		return nil
	}
	at := hintUse{at: p.program.declared}
	list, ok := value.(starlark.Indexable)
	if _, text := value.(starlark.String); !ok || text {
		return at.fault(p.program, "", fmt.Sprintf("hints is a %s, want a list of names: hints = [\"urgent\"]", value.Type()))
	}
	for k := range list.Len() {
		name, ok := starlark.AsString(list.Index(k))
		if !ok {
			return at.fault(p.program, "", fmt.Sprintf("hints has a %s, want a list of names: hints = [\"urgent\"]", list.Index(k).Type()))
		}
		p.names, p.keys = append(p.names, name), append(p.keys, starlark.String(name))
	}
	if err := policy.CheckHintNames(p.names); err != nil {
		return at.fault(p.program, "", "hints: "+err.Error())
	}
	return nil
}

// Hints implements policy.Hinter.
func (p *priority) Hints() []string { return p.names }

// Hint implements policy.Hinter.
func (p *priority) Hint(_ *policy.Request, _ *policy.RouterState, _ vtime.Time, hints *policy.Hints) {
	*hints = p.hints
}

// Score implements policy.Priority.
func (p *priority) Score(req *policy.Request, st *policy.RouterState, now vtime.Time) float64 {
	answer := p.decide(req, st, st.View, now)
	p.hints = policy.Hints{}
	pair, ok := answer.(starlark.Tuple)
	if !ok {
		return p.number(answer)
	}
	var dict *starlark.Dict
	if ok = len(pair) == 2; ok {
		dict, ok = pair[1].(*starlark.Dict)
	}
	if !ok {
		p.fail(TypeError, "returns %s: want a number, or a number and a dict of hints, like return 5, {\"urgent\": 1}", clip(answer.String(), mostName))
	}
	p.read(dict)
	return p.number(pair[0])
}

// read reads the hints of an answer.
func (p *priority) read(dict *starlark.Dict) {
	found := 0
	for k, key := range p.keys {
		value, ok, _ := dict.Get(key) // a text is a key
		if !ok {
			continue
		}
		found++
		x, ok := starlark.AsFloat(value)
		switch {
		case !ok:
			p.fail(TypeError, "returns a %s for the hint %q: want a number", value.Type(), p.names[k])
		case math.IsNaN(x) || math.IsInf(x, 0):
			p.fail(ValueError, "returns %v for the hint %q: want a finite number", x, p.names[k])
		}
		p.hints[k] = x
	}
	if found == dict.Len() {
		return
	}
	for _, key := range dict.Keys() {
		name, ok := starlark.AsString(key)
		switch {
		case !ok:
			p.fail(TypeError, "returns hints with the key %s: want names", clip(key.String(), mostName))
		case len(p.names) == 0:
			p.fail(ValueError, "returns the hint %q, which is not declared: want hints = [%[1]q] outside of functions", clip(name, mostName))
		case !slices.Contains(p.names, name):
			p.fail(ValueError, "returns the hint %q, which is not declared%s (in hints are: %s)", clip(name, mostName), suggest.Hint(name, p.names), strings.Join(p.names, ", "))
		}
	}
}
