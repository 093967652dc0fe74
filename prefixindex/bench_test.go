package prefixindex

import (
	"testing"

	"blis/workload"
)

func BenchmarkIndex(b *testing.B) {
	x := newByPlace(newRoutedIndex(16, unknownCache), 16)
	req := workload.Request{Identity: workload.Identity{Input: 512}}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		x.look(&req)
		x.index.record(n & 15)
		n++
	}
}
