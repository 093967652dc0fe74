package metrics

import "slices"

const (
	// firstCompaction is the number of entries at which compaction is first
	// tried. With a lower number, distributions without repeats pay for more tries.
	firstCompaction = 32 * blockEntries
	// maxWindow bounds the transient memory of a compaction: 8 bytes each.
	maxWindow = 1 << 20
)

// compact rewrites the runs (sorted blocks of values with counts) as one
// ascending sequence, if that saves memory: it does when the same values occur
// again and again, such as the durations of steps. It counts the values within
// a window in a plain array. If seven eighths of the entries lie in a window of
// half as many values, at most 1/2 + 1/8 of the entries can remain; a sample of
// the runs decides.
func (d *Distribution) compact() {
	window := uint64(min(d.entries/2, maxWindow))
	low := d.typicalLow()
	if !d.mostlyWithin(low, window) {
		d.compactAt = 2 * d.entries
		return
	}
	counts := make([]int64, window)
	var outside []entry
	var scratch block
	for i := range d.runs {
		for _, e := range d.runs[i].decode(&scratch) {
			if offset := uint64(e.value) - uint64(low); offset < window {
				counts[offset] += e.count
			} else {
				outside = append(outside, e)
			}
		}
	}
	slices.SortFunc(outside, byValue)
	above, _ := slices.BinarySearchFunc(outside, entry{value: low}, byValue)
	d.memory = arena{size: d.memory.size} // frees the old runs with their chunks
	w := runWriter{memory: &d.memory}
	for _, e := range outside[:above] {
		w.put(e)
	}
	for offset, count := range counts {
		if count > 0 {
			w.put(entry{low + int64(offset), count})
		}
	}
	for _, e := range outside[above:] {
		w.put(e)
	}
	w.finish()
	d.runs, d.entries = w.runs, 0
	for i := range d.runs {
		d.entries += int(d.runs[i].entries)
	}
	d.compactAt = 4 * d.entries
}

// typicalLow is the median of the smallest values of the runs, so that one
// outlier does not move it.
func (d *Distribution) typicalLow() int64 {
	lows := make([]int64, len(d.runs))
	for i := range d.runs {
		lows[i] = d.runs[i].first
	}
	slices.Sort(lows)
	return lows[len(lows)/2]
}

// mostlyWithin reports whether seven eighths of the entries lie in [low,
// low+window), in a sample of about eight runs.
func (d *Distribution) mostlyWithin(low int64, window uint64) bool {
	var scratch block
	within, all := 0, 0
	for i := 0; i < len(d.runs); i += 1 + len(d.runs)/8 {
		for _, e := range d.runs[i].decode(&scratch) {
			all++
			if uint64(e.value)-uint64(low) < window {
				within++
			}
		}
	}
	return 8*within >= 7*all
}
