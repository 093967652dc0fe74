package bench

import (
	"context"
	"os"
	"testing"

	"blis/actors"
)

// full asks for lines 4 and 5 at their whole size, which takes minutes:
//
//	BLIS_BENCH=full go test ./bench -bench line5 -benchtime 1x -timeout 1h
const full = "BLIS_BENCH"

// BenchmarkScenario runs every scenario in this process. The digest is logged
// and must be that of the first iteration: nobody wins by computing something
// else.
func BenchmarkScenario(b *testing.B) {
	for _, s := range Scenarios() {
		b.Run(s.Name, func(b *testing.B) { benchmark(b, resized(s)) })
	}
}

// resized is s in the size in which it is run here.
func resized(s Scenario) Scenario {
	switch {
	case os.Getenv(full) == "full":
		return s
	case testing.Short():
		return s.Shortened(5_000)
	}
	return s.Shortened(100_000)
}

func benchmark(b *testing.B, s Scenario) {
	if err := s.prepare(b.TempDir()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var first string
	for b.Loop() {
		r, err := actors.Run(context.Background(), s.Config)
		if err != nil {
			b.Fatal(err)
		}
		if first == "" {
			first = r.Digest
			b.Logf("%s: digest %s", s.Title, r.Digest)
		}
		if r.Digest != first {
			b.Fatalf("digest %s, in the first iteration %s", r.Digest, first)
		}
	}
	requests := float64(s.requests()) * float64(b.N)
	b.ReportMetric(requests/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/requests, "ns/request")
}

// BenchmarkCalibration is the yardstick next to which the others stand.
func BenchmarkCalibration(b *testing.B) {
	p := newProbe(calibrationBytes)
	for b.Loop() {
		p.round(unitsPerRound)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*unitsPerRound), "ns/unit")
}
