package policy

import "slices"

// changeCursor marks how far a policy has read the changes of a view. Each policy
// has its own, so that several may follow one view.
type changeCursor struct {
	view *View
	read uint64 // changes of the view that the policy has taken in
}

// sync moves the cursor to the end. The policy had not read the changes with the
// numbers from first to before view.changes; an instance may be among them more
// than once. If all is true anything may have changed, the number of instances
// too.
func (c *changeCursor) sync(view *View) (first uint64, all bool) {
	first = c.read
	all = c.view != view || view.changes-first > uint64(len(view.log))
	c.view, c.read = view, view.changes
	return first, all
}

// changed returns the instance of change number c, for the last len(log) changes.
func (v *View) changed(c uint64) int { return int(v.log[c&uint64(len(v.log)-1)]) }

// denseIndex numbers the instances of a view that are not gone: each has a row,
// in their order. What a policy keeps by row is as long as there are instances,
// however many there have been. While no instance is gone rows are instances.
//
// Rows are renumbered when anything may have changed, as it may have whenever
// an instance was added. An instance that goes in between keeps its row until
// then.
type denseIndex struct {
	changeCursor
	instances []int32 // by row, ascending
	previous  []int32 // instances, before rows were renumbered last
	identity  bool    // rows are instances
}

// sync does what changeCursor.sync does. If all is true rows are renumbered.
func (d *denseIndex) sync(view *View) (first uint64, all bool) {
	if first, all = d.changeCursor.sync(view); all {
		d.renumber(view)
	}
	return first, all
}

func (d *denseIndex) renumber(view *View) {
	d.previous, d.instances = d.instances, append(d.previous[:0], view.present...)
	d.identity = len(d.instances) == view.Len()
}

// row returns the row of an instance, −1 if it has none.
func (d *denseIndex) row(instance int) int {
	if d.identity && instance < len(d.instances) {
		return instance
	}
	return d.search(instance)
}

func (d *denseIndex) search(instance int) int {
	if k, found := slices.BinarySearch(d.instances, int32(instance)); found {
		return k
	}
	return -1
}

// instance returns the instance in a row, −1 for row −1.
func (d *denseIndex) instance(row int) int {
	if row < 0 || d.identity {
		return row
	}
	return int(d.instances[row])
}
