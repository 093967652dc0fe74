package survey

import "testing"

func BenchmarkTake(b *testing.B) {
	const requests = 100_000
	b.ReportAllocs()
	var s *Survey
	for b.Loop() {
		var err error
		if s, err = Take(endless(b, requests), Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/requests, "ns/request")
	b.ReportMetric(float64(s.InputTokens), "tokens")
}
