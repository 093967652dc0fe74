package kv

import (
	"testing"

	"blis/vtime"
	"blis/workload"
)

const (
	benchEntries = 100_000
	benchSpans   = 24
	benchDeep    = benchSpans * 32 // entries of a chain
)

// benchChain is a request with 24 spans of 32 entries each, and generated tokens.
func benchChain(id uint64) *TierSequence {
	var spans []workload.Span
	for i := range uint64(benchSpans) {
		spans = append(spans, workload.Span{Content: workload.ContentID(100*id + i), Length: 32 * entrySize})
	}
	return tierSequence(id, benchDeep*entrySize, spans, 0)
}

// fullTier is a tier with as many chains as it has room for.
func fullTier(e Eviction) (tier *ExtentTier, chains []*TierSequence) {
	tier = NewTier(TierConfig{Capacity: benchEntries, Eviction: e})
	for id := range uint64(benchEntries/benchDeep) + 1 {
		s := benchChain(id + 1)
		tier.Store(s, 0, benchDeep)
		tier.Touch(s, benchDeep)
		tier.Written(s, nil)
		chains = append(chains, s)
	}
	return tier, chains
}

// A waiting request that is reached by the waiting phase: the same one at each pass,
// or each in turn.
func BenchmarkTierLookup(b *testing.B) {
	for _, e := range []Eviction{LRU, ARC, LFU} {
		for _, requests := range []int{1, 16} {
			b.Run(string(e)+map[int]string{1: "/head", 16: "/turn"}[requests], func(b *testing.B) {
				tier, chains := fullTier(e)
				chains = chains[len(chains)-requests:]
				b.ReportAllocs()
				found, i := 0, 0
				for b.Loop() {
					s := chains[i%requests]
					tier.Touch(s, benchDeep)
					found += int(tier.Lookup(s, 0, benchDeep))
					i++
				}
				b.ReportMetric(float64(found)/float64(i), "entries")
			})
		}
	}
}

// A request that fills an entry: 64 requests decode in turn, in a full tier.
func BenchmarkTierStore(b *testing.B) {
	for _, e := range []Eviction{LRU, ARC, LFU} {
		b.Run(string(e), func(b *testing.B) {
			tier, chains := fullTier(e)
			running := chains[len(chains)-64:]
			next, now := int32(benchDeep), vtime.Time(0)
			var list []EntryRange
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				s := running[i%len(running)]
				now = now.Add(100)
				tier.Advance(now)
				if _, ok := tier.Store(s, next, next+1); !ok {
					b.Fatal("no entry can be evicted")
				}
				tier.Touch(s, next+1)
				tier.Sent(s, next, next+1, now.Add(100))
				if i++; i%len(running) == 0 {
					next++
				}
				if i%(len(running)*256) == 0 { // all end, and others begin
					next = benchDeep
					for k, s := range running {
						list = tier.Written(s, list[:0])
						s.content.id = uint64(1000 + i + k)
					}
				}
			}
			b.ReportMetric(float64(tier.Evicted())/float64(i), "evicted")
		})
	}
}

// A request that asks for room at every step in a tier full of entries being written.
func BenchmarkTierStoreFails(b *testing.B) {
	tier := NewTier(TierConfig{Capacity: benchEntries, Eviction: LRU})
	for id := range uint64(benchEntries / benchDeep) {
		tier.Store(benchChain(id+1), 0, benchDeep)
	}
	s := benchChain(1000)
	b.ReportAllocs()
	failed, i := 0, 0
	for b.Loop() {
		if _, ok := tier.Store(s, 0, benchDeep); !ok {
			failed++
		}
		i++
	}
	b.ReportMetric(float64(failed)/float64(i), "failed")
}
