package metrics

import (
	"slices"

	"github.com/cespare/xxhash/v2"

	"blis/vtime"
)

// Distribution is an exact multiset of int64 samples, in µs throughout this
// package. It keeps every sample: recent ones in a small buffer, the others as
// sorted runs of (difference, count) at two to three bytes each, so ten
// million are some 25 MB and repeated values cost next to nothing (compact.go).
//
// What it reports depends on the multiset alone, never on the order of
// insertion, on merging or on what is still buffered. The zero value is empty
// and ready. It is not safe for concurrent use; that holds for the methods
// that only read as well, which empty the buffer first.
type Distribution struct {
	recent []uint64 // value<<countBits | count, for values in [0, packedLimit)
	wide   []entry  // whatever does not fit there
	runs   []run    // each sorted, in no order among themselves
	memory arena    // of new runs

	samples   int64 // in runs
	sum       sum128
	mixed     uint64 // Σ count·Mix(value) of the samples in runs
	entries   int    // pairs in runs
	compactAt int    // entries at which compaction is tried next; 0: firstCompaction
}

const (
	countBits   = 16
	maxCount    = 1<<countBits - 1
	packedLimit = 1 << (64 - countBits) // 8.9 years in µs
	firstBuffer = 16                    // entries; most cells of a small run stay small
)

// Add adds one sample.
func (d *Distribution) Add(v int64) {
	if uint64(v) >= packedLimit || len(d.recent) == cap(d.recent) {
		d.addSlow(v, 1)
		return
	}
	d.recent = d.recent[:len(d.recent)+1]
	d.recent[len(d.recent)-1] = uint64(v)<<countBits | 1
}

// AddN adds n samples of value v; none if n is 0. n must not be negative.
func (d *Distribution) AddN(v, n int64) {
	if uint64(n-1) >= maxCount || uint64(v) >= packedLimit || len(d.recent) == cap(d.recent) {
		d.addSlow(v, n)
		return
	}
	d.recent = d.recent[:len(d.recent)+1]
	d.recent[len(d.recent)-1] = uint64(v)<<countBits | uint64(n)
}

// addSlow makes room, or files what the packed buffer cannot hold.
func (d *Distribution) addSlow(v, n int64) {
	switch {
	case n < 0:
		panic("metrics: a negative number of samples")
	case n == 0:
		return
	case n > maxCount || uint64(v) >= packedLimit:
		if len(d.wide) == blockEntries {
			d.flushWide()
		}
		d.wide = append(d.wide, entry{v, n})
		return
	}
	switch {
	case cap(d.recent) == 0:
		d.recent = make([]uint64, 0, firstBuffer)
	case cap(d.recent) < blockEntries:
		grown := make([]uint64, len(d.recent), min(4*cap(d.recent), blockEntries))
		copy(grown, d.recent)
		d.recent = grown
	default:
		d.flushRecent()
	}
	d.recent = append(d.recent, uint64(v)<<countBits|uint64(n))
}

// Merge adds every sample of other, which keeps its own. Runs are immutable
// and become shared, so this costs nothing per sample and no memory. A few
// buffered samples are copied, which is less than a run of their own.
func (d *Distribution) Merge(other *Distribution) {
	if d == other {
		panic("metrics: a distribution merged with itself")
	}
	other.flushBuffers()
	for _, x := range other.recent {
		d.AddN(int64(x>>countBits), int64(x&maxCount))
	}
	for _, e := range other.wide {
		d.AddN(e.value, e.count)
	}
	d.runs = append(d.runs, other.runs...)
	d.samples += other.samples
	d.entries += other.entries
	d.sum.plus(other.sum)
	d.mixed += other.mixed
}

// N is the number of samples.
func (d *Distribution) N() int64 {
	d.flush()
	return d.samples
}

// total is the exact sum of all samples.
func (d *Distribution) total() sum128 {
	d.flush()
	return d.sum
}

// CountAtMost is the number of samples that are at most v.
func (d *Distribution) CountAtMost(v int64) int64 {
	d.flush()
	count := int64(0)
	var scratch block
	for i := range d.runs {
		switch r := &d.runs[i]; {
		case r.last <= v:
			count += r.samples
		case r.first <= v:
			for _, e := range r.decode(&scratch) {
				if e.value > v {
					break
				}
				count += e.count
			}
		}
	}
	return count
}

// Fold is a hash of the multiset: Σ count·Mix(value) modulo 2⁶⁴, which no
// order and no split into runs can change, hashed with the number of samples
// and their sum.
func (d *Distribution) Fold() uint64 {
	d.flush()
	return foldInts(uint64(d.samples), d.sum.hi, d.sum.lo, d.mixed)
}

// foldInts hashes integers at fixed width.
func foldInts(values ...uint64) uint64 {
	var hash xxhash.Digest
	hash.Reset()
	writeInts(&hash, values...)
	return hash.Sum64()
}

func writeInts(hash *xxhash.Digest, values ...uint64) {
	var b [8]byte
	for _, v := range values {
		for i := range b {
			b[i] = byte(v >> (8 * i))
		}
		hash.Write(b[:])
	}
}

// flushBuffers flushes more than a few samples.
func (d *Distribution) flushBuffers() {
	if len(d.recent) > 4*firstBuffer {
		d.flush()
	}
}

// flush empties the buffers into runs.
func (d *Distribution) flush() {
	if len(d.recent) > 0 {
		d.flushRecent()
	}
	if len(d.wide) > 0 {
		d.flushWide()
	}
}

func (d *Distribution) flushRecent() {
	var scratch [blockEntries]uint64
	var entries block
	sorted := sortPacked(d.recent, scratch[:len(d.recent)])
	d.addEntries(unpack(sorted, &entries))
	d.recent = d.recent[:0]
	d.compactIfDue()
}

// addEntries adds sorted entries as one run. The differences of neighbours must
// be small enough for encode.
func (d *Distribution) addEntries(entries []entry) {
	for _, e := range entries {
		d.count(e)
	}
	r := encode(entries, &d.memory)
	d.runs = append(d.runs, r)
	d.samples += r.samples
	d.entries += len(entries)
}

// count takes an entry that a run is about to get into the sums over all
// samples.
func (d *Distribution) count(e entry) {
	d.sum.addProduct(e.value, e.count)
	d.mixed += uint64(e.count) * vtime.Mix(uint64(e.value))
}

func (d *Distribution) flushWide() {
	slices.SortFunc(d.wide, byValue)
	w := runWriter{runs: d.runs, memory: &d.memory}
	for _, e := range d.wide {
		d.count(e)
		w.put(e)
	}
	w.finish()
	for i := len(d.runs); i < len(w.runs); i++ {
		d.samples += w.runs[i].samples
		d.entries += int(w.runs[i].entries)
	}
	d.runs, d.wide = w.runs, d.wide[:0]
	d.compactIfDue()
}

func (d *Distribution) compactIfDue() {
	if d.entries >= max(d.compactAt, firstCompaction) {
		d.compact()
	}
}
