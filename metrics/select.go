package metrics

import (
	"math/bits"
	"slices"
	"sync"
)

// Most distributions fit into a flat array while their percentiles are looked
// for: then every entry is decoded once, and selecting is two sweeps over
// memory. Larger ones are narrowed down run by run (summary.go), so that what
// a report takes in memory does not grow with the run.

const (
	flatLimit = 1 << 17 // entries: 1 MB
	buckets   = 1 << bucketBits
)

// flat is the room for a selection. Entries are packed as in
// Distribution.recent, with values relative to the lowest.
type flat struct {
	entries []uint64
	counts  [buckets]int64 // samples per bucket
	wanted  [buckets]uint8 // number of the list for a bucket, from 1; 0: none
	lists   [2 * len(percents)][]uint64
}

var flats = sync.Pool{New: func() any { return new(flat) }}

// selectFlat is orderStatistics for a distribution that fits. It reports
// false when it does not.
func (d *Distribution) selectFlat(ranks, values []int64) bool {
	low, high := d.bounds()
	width := uint64(high) - uint64(low)
	if d.entries > flatLimit || width >= packedLimit {
		return false
	}
	f := flats.Get().(*flat)
	defer flats.Put(f)
	f.entries = slices.Grow(f.entries[:0], d.entries)
	if !f.fill(d.runs, low) {
		return false
	}
	shift := countBits + max(0, bits.Len64(width)-bucketBits)
	for _, x := range f.entries {
		f.counts[x>>shift&(buckets-1)] += int64(x & maxCount)
	}
	var bucketOf [2 * len(percents)]int // of each rank
	var below [2 * len(percents)]int64  // samples before that bucket
	lists, b, sum := 0, 0, int64(0)
	for k, rank := range ranks {
		if rank < sum { // percents of few samples share ranks
			b, sum = 0, 0
		}
		for sum+f.counts[b] <= rank {
			sum += f.counts[b]
			b++
		}
		bucketOf[k], below[k] = b, sum
		if f.wanted[b] == 0 {
			lists++
			f.wanted[b] = uint8(lists)
		}
	}
	for i := range lists {
		f.lists[i] = f.lists[i][:0]
	}
	for _, x := range f.entries {
		if w := f.wanted[x>>shift&(buckets-1)]; w > 0 {
			f.lists[w-1] = append(f.lists[w-1], x)
		}
	}
	for i := range lists {
		slices.Sort(f.lists[i])
	}
	for k, rank := range ranks {
		at := below[k]
		for _, x := range f.lists[f.wanted[bucketOf[k]]-1] {
			if at += int64(x & maxCount); rank < at {
				values[k] = low + int64(x>>countBits)
				break
			}
		}
	}
	for k := range ranks {
		f.wanted[bucketOf[k]] = 0
	}
	clear(f.counts[:width>>(shift-countBits)+1])
	return true
}

// fill decodes the runs into f.entries, false when a count is too large.
func (f *flat) fill(runs []run, low int64) bool {
	for i := range runs {
		var ok bool
		if f.entries, ok = runs[i].appendPacked(f.entries, low); !ok {
			return false
		}
	}
	return true
}

// appendPacked is decode in packed form, with values relative to low.
func (r *run) appendPacked(dst []uint64, low int64) ([]uint64, bool) {
	at, value := 0, uint64(r.first)-uint64(low)
	for range r.entries {
		var x uint64
		x, at = readVarint(r.data, at)
		count := uint64(1)
		if x&1 != 0 {
			count = x>>1&longCount + 2
			x >>= countField
			if count == longCount+2 {
				var more uint64
				more, at = readVarint(r.data, at)
				if count += more; count > maxCount {
					return dst, false
				}
			}
		}
		value += x >> 1
		dst = append(dst, value<<countBits|count)
	}
	return dst, true
}
