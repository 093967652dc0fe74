package workload

import (
	"fmt"
	"testing"
)

// What is computed is folded into sinkHash, so that nobody wins by computing
// something else.
var sinkHash uint64

func BenchmarkAppendKeys(b *testing.B) {
	for _, length := range []int32{512, 500, 16, 7} {
		b.Run(fmt.Sprintf("spans_of_%d", length), func(b *testing.B) {
			var spans []Span
			for total := int32(0); total < 8192; total += length {
				spans = append(spans, Span{ContentID(total + 1), length})
			}
			dst := make([]uint64, 0, 1024)
			b.ReportAllocs()
			blocks := 0
			for b.Loop() {
				dst = AppendKeys(dst[:0], spans, 16, 1<<30)
				blocks += len(dst)
			}
			sinkHash += dst[len(dst)-1]
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(blocks), "ns/block")
		})
	}
}
