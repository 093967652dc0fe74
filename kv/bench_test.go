package kv

import (
	"fmt"
	"testing"

	"blis/workload"
)

const (
	benchBlocks = 29_205
	benchSize   = 16
)

// admit looks s up and gives it blocks for all of its known tokens, as the
// admission of a waiting request does.
func admit(c Cache, s *Sequence, known int32) Hit {
	hit := c.Lookup(s, known)
	if c.Need(s, known) > c.Free() || !c.Extend(s, known, known) {
		panic("kv: the benchmark's pool is full")
	}
	return hit
}

// Admission and release of a request with a unique prompt, among others that
// hold blocks: it must not cost more for being longer.
func BenchmarkPrivateRequest(b *testing.B) {
	for _, blocks := range []int32{32, 1024} {
		b.Run(fmt.Sprintf("blocks=%d", blocks), func(b *testing.B) {
			p := NewPool(benchBlocks, benchSize, true)
			var running [16]Sequence
			n := blocks * benchSize
			for i := range running {
				running[i].Open(uint64(i), n, nil, 0, benchSize, true)
				admit(p, &running[i], n)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				s := &running[i%len(running)]
				p.Release(s)
				s.Open(uint64(i), n, nil, 0, benchSize, true)
				admit(p, s, n)
				i++
			}
			b.ReportMetric(float64(p.Free()), "free")
		})
	}
}

// Admission and release of a request whose first 64 blocks are hit, nothing of
// its keys known before.
func BenchmarkNamedHit(b *testing.B) {
	p := NewPool(benchBlocks, benchSize, true)
	spans := []workload.Span{{Content: 1, Length: 1000}, {Content: 2, Length: 24}}
	const n = 64*benchSize + 100
	var s Sequence
	s.Open(0, n, spans, 0, benchSize, true)
	admit(p, &s, n)
	p.Release(&s)
	b.ReportAllocs()
	hits, i := 0, uint64(0)
	for b.Loop() {
		s.Open(i, n, spans, 0, benchSize, true)
		hits += admit(p, &s, n).Blocks
		p.Release(&s)
		i++
	}
	b.ReportMetric(float64(hits)/float64(i), "hits")
}

// A request whose 64 named blocks are not cached: each evicts those of another one.
func BenchmarkNamedMiss(b *testing.B) {
	p := NewPool(benchBlocks, benchSize, true)
	const n = 64 * benchSize
	var s Sequence
	request := func(i uint64) {
		s.Open(i, n, []workload.Span{{Content: workload.ContentID(i), Length: n}}, 0, benchSize, true)
		admit(p, &s, n)
		p.Release(&s)
	}
	i := uint64(1)
	for ; i < 2*benchBlocks/64; i++ {
		request(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		request(i)
		i++
	}
	b.ReportMetric(float64(p.segments.inUse()), "segments")
}

// The blocks that a step of a decode run takes, given back now and then.
func BenchmarkTakeNine(b *testing.B) {
	p := NewPool(benchBlocks, benchSize, true)
	var s Sequence
	s.Open(0, benchSize, nil, 0, benchSize, true)
	b.ReportAllocs()
	taken := int32(0)
	for b.Loop() {
		if p.Free() < 9 {
			p.Adopt(&s, taken*benchSize, 0)
			p.Release(&s)
			taken = 0
		}
		p.Take(9)
		taken += 9
	}
	b.ReportMetric(float64(p.Free()+int(taken)), "blocks")
}
