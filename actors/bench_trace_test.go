package actors

import (
	"context"
	"io"
	"testing"

	"blis/trace"
)

// BenchmarkTraceLevels is what a trace costs a run of the benchmark load, with
// the hash of its result.
func BenchmarkTraceLevels(b *testing.B) {
	for _, level := range []trace.Level{trace.None, trace.Decisions, trace.Detailed} {
		b.Run(level.String(), func(b *testing.B) {
			b.ReportAllocs()
			digest := ""
			for b.Loop() {
				cfg := benchmark("least-loaded").Config
				cfg.NumRequests, cfg.Workers = 20_000, 1
				if cfg.Tracing.Level = level; level != trace.None {
					cfg.Tracing.Consumer = trace.NewWriter(io.Discard, trace.JSONLines)
				}
				r, err := Run(context.Background(), cfg)
				if err != nil {
					b.Fatal(err)
				}
				digest = r.Digest
			}
			b.Logf("digest %s", digest)
		})
	}
}
