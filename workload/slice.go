package workload

import (
	"fmt"
	"slices"
)

// Slice is a Source over an explicit list of requests, for tests and for
// programs that make their own.
type Slice struct {
	requests []Request
	labels   Labels
	next     int
}

// NewSlice returns a source of the given requests, which it uses in place:
// they must not change while it is in use. A request with Source 0 gets
// FirstSource and its position as Index. All must be valid (Request.Validate),
// in strict order of (Arrival, Source, Index), and their labels in the table.
// A zero Labels table is one without names; then labels must be 0 and get
// the name "", for classes DefaultClass.
//
// NewRequest sets the deadline and output limit that mean "none". A literal with
// zero values there is refused.
func NewSlice(requests []Request, labels Labels) (*Slice, error) {
	labels.NameUsual()
	known := labels.Known()
	for i := range requests {
		r := &requests[i]
		if r.Source == 0 {
			r.Source, r.Index = FirstSource, uint64(i)
		}
		if err := r.Validate(); err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		if r.Deadline == 0 {
			return nil, fmt.Errorf("request %d: deadline: 0: want vtime.Never for none", i)
		}
		if i > 0 && !before(&requests[i-1], r) {
			return nil, fmt.Errorf("request %d: (arrival, source, index): (%d, %d, %d): want it after that of request %d", i, int64(r.Arrival), r.Source, r.Index, i-1)
		}
		if err := known.Check(&r.Tags, &labels); err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
	}
	return &Slice{requests: requests, labels: labels}, nil
}

// before is the order of sources: (Arrival, Source, Index).
func before(a, b *Request) bool { return a.Position().Before(b.Position()) }

// Pull implements Source; it never fails.
func (s *Slice) Pull(r *Request) (bool, error) {
	if s.next == len(s.requests) {
		return false, nil
	}
	*r = s.requests[s.next]
	s.next++
	return true, nil
}

// Labels implements Source.
func (s *Slice) Labels() *Labels { return &s.labels }

// Collect pulls all requests of a source, for programs and tests. It checks that
// they are valid, in strict order of (Arrival, Source, Index), and have labels of the
// source's table.
func Collect(source Source) ([]Request, error) {
	var all []Request
	for {
		var r Request
		ok, err := source.Pull(&r)
		if err != nil || !ok {
			return all, err
		}
		n := len(all)
		if err := r.Validate(); err != nil {
			return all, fmt.Errorf("request %d: %w", n, err)
		}
		known := source.Labels().Known()
		if err := known.Check(&r.Tags, source.Labels()); err != nil {
			return all, fmt.Errorf("request %d: %w", n, err)
		}
		if n > 0 && !before(&all[n-1], &r) {
			return all, fmt.Errorf("request %d: not after request %d in order of arrival, source, index", n, n-1)
		}
		r.Spans = slices.Clone(r.Spans)
		all = append(all, r)
	}
}
