package workload

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Each benchmark folds what it computed into sinkHash, so that nobody wins by
// computing something else.

func BenchmarkPull(b *testing.B) {
	for _, p := range []Process{Poisson, Constant, Gamma, Weibull} {
		b.Run(string(p), func(b *testing.B) {
			c := plainConfig()
			c.Arrival, c.Requests = p, 1<<40
			if p == Gamma || p == Weibull {
				c.CV = 2
			}
			s := synthetic(b, c)
			var r Request
			hash := uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				s.Pull(&r)
				hash = hash*31 + uint64(r.Arrival) + uint64(r.Input) + uint64(r.Output)
			}
			sinkHash = hash
		})
	}
}

var sinkHash uint64

func BenchmarkReadMooncake(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(samples, "mooncake_fast25_conversation_trace.jsonl"))
	if err != nil {
		b.Skip("no samples here")
	}
	benchmarkRead(b, text)
}

func BenchmarkReadAzure(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(samples, "azure_llm_2023_conv.csv"))
	if err != nil {
		b.Skip("no samples here")
	}
	benchmarkRead(b, text)
}

func BenchmarkReadOwn(b *testing.B) {
	var text bytes.Buffer
	s := synthetic(b, SyntheticConfig{Rate: 100, Requests: 20000, PrefixTokens: 64, Input: Exactly(100), Output: Exactly(100), Tenant: "acme"})
	if err := WriteCSV(&text, s); err != nil {
		b.Fatal(err)
	}
	benchmarkRead(b, text.Bytes())
}

func benchmarkRead(b *testing.B, text []byte) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		trace, err := OpenTrace("t", bytes.NewReader(text), TraceOptions{})
		if err != nil {
			b.Fatal(err)
		}
		sinkHash += uint64(trace.Remaining())
	}
}

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
