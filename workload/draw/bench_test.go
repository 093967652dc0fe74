package draw

import (
	"math"
	"testing"

	"blis/vtime"
)

// What is computed is folded into sink, so that nobody wins by computing
// something else.
var sink uint64

func BenchmarkSample(b *testing.B) {
	for _, c := range distributions() {
		b.Run(c.name, func(b *testing.B) {
			v, d, hash := NewVariates(vtime.NewStream(1, "bench")), c.dist, uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				hash = hash*31 + math.Float64bits(d.Sample(&v))
			}
			sink = hash
		})
	}
}

func BenchmarkArrivals(b *testing.B) {
	day := Sinusoid(24*vtime.Hour, 10, 0)
	for _, rate := range []struct {
		name  string
		curve RateCurve
	}{{"flat", Flat(1000)}, {"diurnal", day.Scale(1000)}} {
		for _, l := range laws() {
			b.Run(rate.name+"/"+l.name, func(b *testing.B) {
				a, hash := NewArrivals(l.law, &rate.curve, vtime.NewStream(1, "bench")), uint64(0)
				b.ReportAllocs()
				for b.Loop() {
					at, _, _ := a.Next()
					hash = hash*31 + uint64(at)
				}
				sink = hash
			})
		}
	}
}

// All that a plain request draws: an arrival and two gaussian lengths.
func BenchmarkPlainRequest(b *testing.B) {
	flat := Flat(44)
	a := NewArrivals(ArrivalProcess{}, &flat, vtime.NewStream(1, "arrivals"))
	in, out := NewVariates(vtime.NewStream(1, "in")), NewVariates(vtime.NewStream(1, "out"))
	input, output := Length{Gaussian(512, 128), 2, 7000}, Length{Gaussian(256, 64), 2, 7000}
	hash := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		at, _, _ := a.Next()
		hash = hash*31 + uint64(at) + uint64(input.Sample(&in)) + uint64(output.Sample(&out))
	}
	sink = hash
}
