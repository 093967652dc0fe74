package script

import (
	"maps"
	"slices"

	"go.starlark.net/starlark"

	"blis/policy"
)

// requestList is an argument that lists requests on an instance: columns with an entry for
// each request. Read as a sequence it is the requests one by one.
type requestList[T any] struct {
	of     *machine
	name   string // of the argument
	table  requestColumns[T]
	row    func(x *requestList[T], k int) starlark.Value
	hints  func(r *T) *policy.Hints
	list   []T             // valid during the decision
	cached map[string]*vec // columns that were read in this decision
}

// requestColumn is something that is known of each request.
type requestColumn[T any] struct {
	help string
	of   func(m *machine, r *T) float64
}

// requestColumns are the columns of a list of requests, by name.
type requestColumns[T any] map[string]requestColumn[T]

// find implements attributeTable: schedulers read no signals.
func (t requestColumns[T]) find(name string) (policy.Signals, bool) {
	_, found := t[name]
	return policy.NoSignals, found
}

// names implements attributeTable.
func (t requestColumns[T]) names() []string {
	return slices.Sorted(maps.Keys(t)) // any order: they are sorted
}

// runningColumns are the columns of running.
var runningColumns = requestColumns[policy.Running]{
	"priority":  {"its priority", func(_ *machine, r *policy.Running) float64 { return r.Priority }},
	"age":       {"seconds since it arrived", func(m *machine, r *policy.Running) float64 { return m.now.at.Sub(r.Arrival).Seconds() }},
	"input":     {"tokens of its prompt", func(_ *machine, r *policy.Running) float64 { return float64(r.Input) }},
	"computed":  {"tokens whose KV exists or is being computed", func(_ *machine, r *policy.Running) float64 { return float64(r.Computed) }},
	"generated": {"output tokens that it has", func(_ *machine, r *policy.Running) float64 { return float64(r.Generated) }},
}

// newRunning makes the argument running.
func newRunning(m *machine) requestList[policy.Running] {
	row := func(x *requestList[policy.Running], k int) starlark.Value { return &runningRequest{x.of, &x.list[k]} }
	return requestList[policy.Running]{of: m, name: "running", table: runningColumns, row: row, hints: func(r *policy.Running) *policy.Hints { return r.Hints }, cached: map[string]*vec{}}
}

// begin lists the requests of a decision.
func (x *requestList[T]) begin(list []T) {
	x.list = list
	clear(x.cached)
}

// Attr implements starlark.HasAttrs.
func (x *requestList[T]) Attr(name string) (starlark.Value, error) {
	if v := x.cached[name]; v != nil {
		return v, nil
	}
	c, found := x.table[name]
	switch {
	case name == hintsName:
		return hintColumns[T]{x}, nil
	case !found:
		return nil, noAttribute(x.name, name, x.AttrNames())
	}
	v := x.of.newVec(len(x.list))
	for k := range x.list {
		v.data[k] = c.of(x.of, &x.list[k])
	}
	x.cached[name] = v
	return v, nil
}

// AttrNames implements starlark.HasAttrs.
func (x *requestList[T]) AttrNames() []string { return x.table.names() }

func (x *requestList[T]) String() string        { return "<" + x.name + ">" }
func (x *requestList[T]) Type() string          { return x.name }
func (x *requestList[T]) Freeze()               {}
func (x *requestList[T]) Truth() starlark.Bool  { return len(x.list) > 0 }
func (x *requestList[T]) Hash() (uint32, error) { return 0, typeMistake("%s cannot be a key", x.name) }

// Len implements starlark.Sequence.
func (x *requestList[T]) Len() int { return len(x.list) }

// Index implements starlark.Indexable.
func (x *requestList[T]) Index(k int) starlark.Value { return x.row(x, k) }

// Iterate implements starlark.Iterable.
func (x *requestList[T]) Iterate() starlark.Iterator { return &sequenceIterator{of: x} }

// sequenceIterator goes through an argument that is a sequence.
type sequenceIterator struct {
	of starlark.Indexable
	k  int
}

// Next implements starlark.Iterator.
func (it *sequenceIterator) Next(p *starlark.Value) bool {
	if it.k == it.of.Len() {
		return false
	}
	*p = it.of.Index(it.k)
	it.k++
	return true
}

// Done implements starlark.Iterator.
func (it *sequenceIterator) Done() {}

// runningRequest is an entry of running.
type runningRequest struct {
	of *machine
	r  *policy.Running
}

// Attr implements starlark.HasAttrs.
func (x *runningRequest) Attr(name string) (starlark.Value, error) {
	c, found := runningColumns[name]
	switch {
	case name == hintsName:
		return &hintsOf{x.of, x.r.Hints}, nil
	case !found:
		return nil, noAttribute("a running request", name, x.AttrNames())
	}
	return starlark.Float(c.of(x.of, x.r)), nil
}

// AttrNames implements starlark.HasAttrs.
func (x *runningRequest) AttrNames() []string { return runningColumns.names() }

func (x *runningRequest) String() string       { return "<running request>" }
func (x *runningRequest) Type() string         { return "request" }
func (x *runningRequest) Freeze()              {}
func (x *runningRequest) Truth() starlark.Bool { return true }
func (x *runningRequest) Hash() (uint32, error) {
	return 0, typeMistake("a request cannot be a key")
}
