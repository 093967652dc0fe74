package engine

import (
	"cmp"
	"slices"
)

// individuals is the requests in phase running, those of the running list that
// are not members of the cohort, in order of admission.
type individuals struct {
	list     []int32
	requests *requests
}

// append adds slot i, admitted last.
func (l *individuals) append(i int32) { l.list = append(l.list, i) }

// insert adds slot i where the order of admission has it.
func (l *individuals) insert(i int32) {
	at, _ := l.find(i)
	l.list = slices.Insert(l.list, at, i)
}

// remove takes slot i out.
func (l *individuals) remove(i int32) {
	at, ok := l.find(i)
	if !ok || l.list[at] != i {
		panic("engine: a running request is in no list")
	}
	l.removeAt(at)
}

func (l *individuals) removeAt(at int) { l.list = slices.Delete(l.list, at, at+1) }

func (l *individuals) find(i int32) (int, bool) {
	return slices.BinarySearchFunc(l.list, l.requests.at(i).order, func(x int32, order int64) int {
		return cmp.Compare(l.requests.at(x).order, order)
	})
}

// sort puts the list in order of admission.
func (l *individuals) sort() {
	slices.SortFunc(l.list, func(x, y int32) int { return cmp.Compare(l.requests.at(x).order, l.requests.at(y).order) })
}
