package metrics

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// entry is a value and how often it occurs; count is at least 1.
type entry struct {
	value, count int64
}

func byValue(a, b entry) int { return cmp.Compare(a.value, b.value) }

// blockEntries is the maximum number of entries in a run and in a buffer. A decoded
// block fits on the stack, and is sorted within the first-level cache.
const blockEntries = 1024

// block is room for the entries of one run.
type block [blockEntries]entry

// run is a list of entries of ascending, distinct values, immutable once
// written. Each entry is a varint (see writeVarint) that holds the difference
// from the value before (0 for the first) and, in its low bits, the count:
//
//	│ difference          │ 0 │                          1 sample
//	│ difference │ count−2 │ 1 │                         2 to 128 samples
//	│ difference │ 1111111 │ 1 │  then │ count−2−127 │   129 and more: two varints
//	              7 bits
type run struct {
	data        []byte // ends in padding that readVarint may touch
	first, last int64  // its smallest and largest value
	samples     int64
	entries     int32
}

const (
	longestVarint = 9
	padding       = 8

	countField    = 7 // bits
	longCount     = 1<<countField - 1
	maxDifference = 1<<(63-countField) - 1
)

// encode makes a run of entries, at most blockEntries of them; neighbours
// differ by at most maxDifference.
func encode(entries []entry, memory *arena) run {
	var scratch [blockEntries*2*longestVarint + padding]byte
	r := run{first: entries[0].value, last: entries[len(entries)-1].value, entries: int32(len(entries))}
	at, value := 0, r.first
	for _, e := range entries {
		difference := uint64(e.value - value)
		value = e.value
		r.samples += e.count
		switch more := uint64(e.count - 2); {
		case e.count == 1:
			at = writeVarint(&scratch, at, difference<<1)
		case more < longCount:
			at = writeVarint(&scratch, at, difference<<(1+countField)|more<<1|1)
		default:
			at = writeVarint(&scratch, at, difference<<(1+countField)|longCount<<1|1)
			at = writeVarint(&scratch, at, more-longCount)
		}
	}
	r.data = memory.take(at + padding)
	copy(r.data, scratch[:at])
	return r
}

// arena allocates memory that is never freed, in few allocations: each chunk is twice
// as large as the last, up to maxChunk.
type arena struct {
	chunk []byte // the free rest of the last chunk
	size  int
}

const maxChunk = 1 << 16

// take returns n zero bytes.
func (a *arena) take(n int) []byte {
	if n > len(a.chunk) {
		a.size = max(n, min(2*a.size, maxChunk))
		a.chunk = make([]byte, a.size)
	}
	b := a.chunk[:n:n]
	a.chunk = a.chunk[n:]
	return b
}

// writeVarint writes x to b[at:] and returns where it ends. The number of
// trailing zeros of the first byte is the number of further bytes, which lets
// both sides do without a branch on the length: up to 56 bits a single word.
//
//	xxxxxxx1                        7 bits of x
//	xxxxxx10 xxxxxxxx              14
//	xxxxx100 xxxxxxxx xxxxxxxx     21
//	…
//	00000000 and eight bytes       64
func writeVarint(b *[blockEntries*2*longestVarint + padding]byte, at int, x uint64) int {
	size := (bits.Len64(x|1) + 6) / 7
	if size >= longestVarint {
		b[at] = 0
		binary.LittleEndian.PutUint64(b[at+1:], x)
		return at + longestVarint
	}
	binary.LittleEndian.PutUint64(b[at:], (x<<1|1)<<(size-1))
	return at + size
}

// readVarint reads what writeVarint wrote and returns where it ends.
func readVarint(b []byte, at int) (uint64, int) {
	word := binary.LittleEndian.Uint64(b[at:])
	if byte(word) == 0 {
		return binary.LittleEndian.Uint64(b[at+1:]), at + longestVarint
	}
	size := bits.TrailingZeros8(byte(word)) + 1
	return word << (64 - 8*size) >> (64 - 7*size), at + size
}

// decode writes the entries of r to dst and returns that part of it.
func (r *run) decode(dst *block) []entry {
	at, value := 0, r.first
	for i := range dst[:r.entries] {
		var x uint64
		x, at = readVarint(r.data, at)
		count := int64(1)
		if x&1 != 0 {
			count = int64(x>>1&longCount) + 2
			x >>= countField
			if count == longCount+2 {
				var more uint64
				more, at = readVarint(r.data, at)
				count += int64(more)
			}
		}
		value += int64(x >> 1)
		dst[i] = entry{value, count}
	}
	return dst[:r.entries]
}

// runWriter cuts entries that come in ascending order of value into runs.
// Entries of the same value become one.
type runWriter struct {
	runs    []run
	memory  *arena
	entries block
	n       int
}

func (w *runWriter) put(e entry) {
	if w.n > 0 {
		last := &w.entries[w.n-1]
		if last.value == e.value {
			last.count += e.count
			return
		}
		// A run ends when it is full, or when the difference has no room
		// beside the count.
		if w.n == blockEntries || uint64(e.value)-uint64(last.value) > maxDifference {
			w.finish()
		}
	}
	w.entries[w.n] = e
	w.n++
}

// finish ends the current run.
func (w *runWriter) finish() {
	if w.n > 0 {
		w.runs = append(w.runs, encode(w.entries[:w.n], w.memory))
		w.n = 0
	}
}

// unpack writes the entries of sorted, packed as in Distribution.recent, to dst,
// equal values as one entry, and returns the part of dst that it wrote.
func unpack(sorted []uint64, dst *block) []entry {
	n, last := 0, int64(-1)
	for _, x := range sorted {
		value, count := int64(x>>countBits), int64(x&maxCount)
		if value == last {
			dst[n-1].count += count
			continue
		}
		dst[n] = entry{value, count}
		n, last = n+1, value
	}
	return dst[:n]
}

// sortPacked sorts a by value, that is by the bits above countBits, and
// returns the sorted slice, which is a or b. Both have the same length, at
// most blockEntries. It is a radix sort over the bits in which the values
// differ, in digits of equal width.
func sortPacked(a, b []uint64) []uint64 {
	if len(a) <= 64 {
		slices.Sort(a)
		return a
	}
	differ := uint64(0)
	for _, x := range a {
		differ |= x ^ a[0]
	}
	const widest = 10
	width := bits.Len64(differ >> countBits)
	passes := (width + widest - 1) / widest
	for pass := range passes {
		low := countBits + width*pass/passes
		high := countBits + width*(pass+1)/passes
		radixPass(a, b, low, 1<<(high-low)-1)
		a, b = b, a
	}
	return a
}

// radixPass distributes a to b by the digit of mask at bit low.
func radixPass(a, b []uint64, low int, mask uint64) {
	var starts [1 << 10]uint32
	for _, x := range a {
		starts[x>>(low&63)&mask&(1<<10-1)]++
	}
	next := uint32(0)
	for digit, count := range starts[:mask+1] {
		starts[digit] = next
		next += count
	}
	for _, x := range a {
		at := &starts[x>>(low&63)&mask&(1<<10-1)]
		b[*at] = x
		*at++
	}
}
