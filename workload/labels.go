package workload

import "slices"

// Label is the index of a name in a table of Labels.
type Label uint16

// Tags are the labels of a request. A new kind of label needs a field here, its names
// in Labels, and a row in both lists below; code that only copies Tags needs no change.
type Tags struct {
	Tenant, Class, Model Label
}

// Labels holds the names of the labels in one workload. A label has the same name for
// the whole run.
type Labels struct {
	Tenants, Classes, Models Names
}

// kinds is the number of kinds of labels.
const kinds = 3

// kind is one kind of label.
type kind struct {
	name  string
	names *Names
	usual string // name of label 0 in a workload without names
}

func (l *Labels) kinds() [kinds]kind {
	return [...]kind{{"tenant", &l.Tenants, ""}, {"class", &l.Classes, DefaultClass}, {"model", &l.Models, ""}}
}

// labels are the labels of t, in the order of kinds.
func (t *Tags) labels() [kinds]*Label { return [...]*Label{&t.Tenant, &t.Class, &t.Model} }

// NameUsual gives label 0 its usual name in tables without names.
func (l *Labels) NameUsual() {
	for _, k := range l.kinds() {
		if k.names.Len() == 0 {
			k.names.Label(k.usual)
		}
	}
}

// Renumbering maps old labels to new ones, by kind.
type Renumbering [kinds][]Label

// Sort numbers the names of each kind in alphabetical order.
func (l *Labels) Sort() (r Renumbering) {
	for i, k := range l.kinds() {
		r[i] = k.names.sort()
	}
	return r
}

// Apply replaces the labels of t by the new ones.
func (r *Renumbering) Apply(t *Tags) {
	for i, label := range t.labels() {
		*label = r[i][*label]
	}
}

// Known is the number of names of each kind. Others may read the names while a
// source yields requests, so all must be known before the first one.
type Known [kinds]int

// Known returns the present number of names of each kind.
func (l *Labels) Known() (n Known) {
	for i, k := range l.kinds() {
		n[i] = k.names.Len()
	}
	return n
}

// Check returns an error that names the labels of t that are not known in l, or nil.
func (n *Known) Check(t *Tags, l *Labels) error {
	var bad Faults
	for i, label := range t.labels() {
		if int(*label) >= n[i] {
			bad.Add(l.kinds()[i].name, *label, "want a label below %d, of a name that Labels has before the first request", n[i])
		}
	}
	return bad.Err("")
}

// Names numbers strings in order of first use, until they are sorted.
type Names struct {
	list  []string
	index map[string]Label
}

// Label returns the index of name, adding it if it is new. It panics past
// 65,535 names; readers check with Len before.
func (n *Names) Label(name string) Label {
	if l, ok := n.index[name]; ok {
		return l
	}
	if len(n.list) > 0xffff {
		panic("workload: more than 65,536 names of one kind")
	}
	if n.index == nil {
		n.index = map[string]Label{}
	}
	l := Label(len(n.list))
	n.list = append(n.list, name)
	n.index[name] = l
	return l
}

// sort numbers the names in alphabetical order, and returns the new number of
// each old one: so that the same names have the same numbers, in whatever order
// they came.
func (n *Names) sort() []Label {
	old := n.list
	n.list = slices.Sorted(slices.Values(old))
	moved := make([]Label, len(old))
	for i, name := range n.list {
		n.index[name] = Label(i)
	}
	for i, name := range old {
		moved[i] = n.index[name]
	}
	return moved
}

// Find returns the index of name, and whether it has one.
func (n *Names) Find(name []byte) (Label, bool) {
	l, ok := n.index[string(name)]
	return l, ok
}

// Name returns the string behind l.
func (n *Names) Name(l Label) string { return n.list[l] }

// List returns all names, in the order of their labels.
func (n *Names) List() []string { return slices.Clone(n.list) }

// Len is the number of names.
func (n *Names) Len() int { return len(n.list) }
