package metrics

import "slices"

// summaries are percentiles to be computed: a report says where they go, and all
// are computed together, on several workers. The result does not depend on which
// worker computes which.
type summaries struct {
	of   map[*Distribution]*Summary // one for each, however many scopes it is in
	work []summary
}

// summary is the percentiles of one distribution.
type summary struct {
	of *Distribution
	to *Summary
}

// add returns where the summary of d will be; nil if d has no samples.
func (s *summaries) add(d *Distribution) *Summary {
	if to, ok := s.of[d]; ok {
		return to
	}
	if d.N() == 0 {
		return nil
	}
	if s.of == nil {
		s.of = map[*Distribution]*Summary{}
	}
	to := new(Summary)
	s.of[d] = to
	s.work = append(s.work, summary{d, to})
	return to
}

// compute fills them in, the largest first.
func (s *summaries) compute(each func(n int, f func(i int))) {
	slices.SortStableFunc(s.work, func(a, b summary) int { return b.of.entries - a.of.entries })
	each(len(s.work), func(i int) { *s.work[i].to = s.work[i].of.Summary() })
}

// sequentially calls f one by one: Run.Each without goroutines.
func sequentially(n int, f func(i int)) {
	for i := range n {
		f(i)
	}
}
