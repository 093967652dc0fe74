package servegen

import "testing"

// What is computed is folded into sinkHash, so that nobody wins by computing
// something else.
var sinkHash uint64

// BenchmarkReadPublished reads the seven clients, 1.4 MB; a window is one row
// of a trace with its lengths.
func BenchmarkReadPublished(b *testing.B) {
	needPublished(b)
	benchmarkRead(b, published)
}

func BenchmarkReadSample(b *testing.B) { benchmarkRead(b, samples) }

func benchmarkRead(b *testing.B, path string) {
	windows := 0
	b.ReportAllocs()
	for b.Loop() {
		clients, _, err := Read(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		windows = 0
		for _, c := range clients {
			windows += len(c.Rate.Windows)
			sinkHash = sinkHash*31 + uint64(c.Input.Max) + uint64(c.Output.Max)
		}
	}
	b.ReportMetric(float64(windows), "windows")
}
