package script

import (
	"fmt"

	"go.starlark.net/starlark"

	"blis/policy"
)

// instances is the argument i: columns with an entry for each instance of rows. Read
// as a sequence it is the instances one by one.
type instances struct {
	of     *machine
	table  *columnTable
	rows   []int32 // instances, ascending
	cached []*vec  // by column; nil: not read in this decision
	read   []int   // columns that are not nil
}

func newInstances(m *machine) *instances {
	t := columns()
	return &instances{of: m, table: t, cached: make([]*vec, len(t.list))}
}

// begin lists the instances of a decision.
func (x *instances) begin(listed func(v *policy.View, i int) bool) {
	x.list(x.rows[:0])
	v := x.of.now.view
	for _, i := range v.Present() {
		if listed(v, int(i)) {
			x.rows = append(x.rows, i)
		}
	}
}

// list makes rows the instances; columns are read anew.
func (x *instances) list(rows []int32) {
	for _, k := range x.read {
		x.cached[k] = nil
	}
	x.read, x.rows = x.read[:0], rows
}

// routable is the instances that a request may go to.
func routable(v *policy.View, i int) bool { return v.Routable(i) }

// inService is the instances that are loaded and count as ready.
func inService(v *policy.View, i int) bool {
	p := v.Phase(i)
	return p == policy.Serving || p == policy.Warming
}

// column returns a column, which is computed once per decision.
func (x *instances) column(k int) (*vec, error) {
	if v := x.cached[k]; v != nil {
		return v, nil
	}
	c := &x.table.list[k]
	if c.signals&^x.of.program.signals != 0 {
		return nil, typeMistake("%s is not declared: the program does not name it", c.name)
	}
	if c.signals&policy.Prefixes != 0 && x.of.draws.kind == scaleDraws {
		return nil, typeMistake("%s is not known in a policy of the kind autoscale: there is no request", c.name)
	}
	v := x.of.newVec(len(x.rows))
	c.fill(&x.of.now, x.rows, v.data)
	x.cached[k], x.read = v, append(x.read, k)
	return v, nil
}

// find returns the index of a column.
func (x *instances) find(name string) (int, error) {
	k, ok := x.table.byName[name]
	if !ok {
		return 0, noAttribute("an instance", name, x.table.names())
	}
	return k, nil
}

// Attr implements starlark.HasAttrs.
func (x *instances) Attr(name string) (starlark.Value, error) {
	k, err := x.find(name)
	if err != nil {
		return nil, err
	}
	v, err := x.column(k)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// AttrNames implements starlark.HasAttrs.
func (x *instances) AttrNames() []string { return x.table.names() }

func (x *instances) String() string        { return fmt.Sprintf("<%d instances>", len(x.rows)) }
func (x *instances) Type() string          { return "instances" }
func (x *instances) Freeze()               {}
func (x *instances) Truth() starlark.Bool  { return len(x.rows) > 0 }
func (x *instances) Hash() (uint32, error) { return 0, typeMistake("instances cannot be a key") }

// Len implements starlark.Sequence.
func (x *instances) Len() int { return len(x.rows) }

// Index implements starlark.Indexable.
func (x *instances) Index(k int) starlark.Value { return &instance{x, k} }

// Iterate implements starlark.Iterable.
func (x *instances) Iterate() starlark.Iterator { return &sequenceIterator{of: x} }

// instance is one of them: its attributes are numbers.
type instance struct {
	all *instances
	k   int
}

// Attr implements starlark.HasAttrs.
func (x *instance) Attr(name string) (starlark.Value, error) {
	k, err := x.all.find(name)
	if err != nil {
		return nil, err
	}
	v, err := x.all.column(k)
	if err != nil {
		return nil, err
	}
	return starlark.Float(v.data[x.k]), nil
}

// AttrNames implements starlark.HasAttrs.
func (x *instance) AttrNames() []string { return x.all.table.names() }

func (x *instance) String() string        { return fmt.Sprintf("<instance %d>", x.all.rows[x.k]) }
func (x *instance) Type() string          { return "instance" }
func (x *instance) Freeze()               {}
func (x *instance) Truth() starlark.Bool  { return true }
func (x *instance) Hash() (uint32, error) { return 0, typeMistake("an instance cannot be a key") }
