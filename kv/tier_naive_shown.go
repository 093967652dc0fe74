package kv

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

// Used implements Tier.
func (t *NaiveTier) Used() int { return len(t.entries) }

// Capacity implements Tier.
func (t *NaiveTier) Capacity() int { return t.cfg.Capacity }

// Evicted implements Tier.
func (t *NaiveTier) Evicted() int64 { return t.evicted }

// Journal implements Tier.
func (t *NaiveTier) Journal(f func(key uint64, stored bool)) { t.journal = f }

// Check implements Tier.
func (t *NaiveTier) Check(writers []*TierSequence, loads, copies int) error {
	writing, reading, copying := 0, 0, 0
	for _, e := range append(slices.Clone(t.recent), t.frequent...) {
		if t.entries[e.key] != e {
			return fmt.Errorf("kv: an entry of the tier is in a list and has no key")
		}
		copying += int(e.copies)
		if e.readers < 0 {
			writing++
		} else {
			reading += int(e.readers)
		}
	}
	if listed := len(t.recent) + len(t.frequent); listed != len(t.entries) || listed+len(t.freed) != int(t.fresh) || int(t.fresh) > t.cfg.Capacity {
		return fmt.Errorf("kv: %d entries of the tier, %d in lists, %d of %d slots given out, %d given back", len(t.entries), listed, t.fresh, t.cfg.Capacity, len(t.freed))
	}
	for _, s := range writers {
		writing -= len(naiveTier(s).writing)
	}
	return checkPins(writing, reading, loads, copying, copies)
}

// Fold implements Tier.
func (t *NaiveTier) Fold() uint64 {
	d := newFold()
	recent := slices.Clone(t.recent)
	switch t.cfg.Eviction {
	case LFU:
		slices.SortStableFunc(recent, func(a, b *naiveEntry) int { return cmp.Compare(a.touches, b.touches) })
	case Priority:
		slices.SortStableFunc(recent, func(a, b *naiveEntry) int { return cmp.Compare(a.priority, b.priority) })
	}
	for _, list := range [...][]*naiveEntry{recent, t.frequent} {
		for _, e := range list {
			if e.named {
				d.add(e.key, uint64(e.readers+2))
			} else {
				d.add(0, 1)
			}
		}
		d.add(math.MaxUint64, 1)
	}
	return d.sum()
}

// Watch makes the tier call f as often as vLLM publishes a KV event: for each lot of
// entries that become readable or are evicted together.
func (t *NaiveTier) Watch(f func(stored bool, entries int)) { t.watch = f }

// Writing reports whether entry i of s is being written for s.
func (t *NaiveTier) Writing(s *TierSequence, i int32) bool {
	return slices.Contains(naiveTier(s).writing, naiveWriting{t.key(s, i), i})
}

// Slot returns the slot of entry i of s.
func (t *NaiveTier) Slot(s *TierSequence, i int32) int32 { return t.entry(s, i).slot }

// Checksum returns the CRC-32 of the entries: what the ledgers of vLLM's scheduler
// record. It is over slot and readers of each as little-endian int32, with a "|"
// between the lists of ARC.
func (t *NaiveTier) Checksum() uint32 {
	var buf []byte
	for _, list := range [...][]*naiveEntry{t.recent, t.frequent} {
		for _, e := range list {
			buf = binary.LittleEndian.AppendUint32(buf, uint32(e.slot))
			buf = binary.LittleEndian.AppendUint32(buf, uint32(e.readers))
		}
		if t.cfg.Eviction == ARC {
			buf = append(buf, '|')
		}
	}
	if t.cfg.Eviction == ARC {
		buf = buf[:len(buf)-1]
	}
	return crc32.ChecksumIEEE(buf)
}

// Adaptive reports whether the tier evicts as ARC does.
func (t *NaiveTier) Adaptive() bool { return t.cfg.Eviction == ARC }

// Lists returns the sizes of ARC's lists and ghosts, and its target.
func (t *NaiveTier) Lists() (recent, frequent, recentGhosts, frequentGhosts int, target float64) {
	return len(t.recent), len(t.frequent), len(t.recentGhosts), len(t.frequentGhosts), t.target
}
