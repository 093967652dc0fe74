package workload

import (
	"fmt"
	"slices"
)

// Collect pulls a source empty, for programs and tests that want to see all of
// its requests at once. It holds the source to what every source promises:
// requests that are valid, in strict order of (Arrival, Source, Index), with
// labels of its table.
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
