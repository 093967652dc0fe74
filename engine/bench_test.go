package engine

import (
	"testing"

	"blis/vtime"
	"blis/workload"
)

// BenchmarkDecode is 64 requests that are prefilled and then decode: in runs of a single engine.
func BenchmarkDecode(b *testing.B) {
	e, _ := instance(&testing.T{}, linear{1000, 3, 0.01}, func(c *Config) {
		c.MaxNumSeqs, c.Cache, c.Sink = 64, newPool(8000), deaf{}
	})
	steps := e.Counters.Steps
	b.ReportAllocs()
	for b.Loop() {
		from := e.Now().Add(vtime.Second)
		for k := range int64(64) {
			at := from.Add(vtime.Duration(k))
			d := Delivery{Request: workload.NewRequest(at, 20, 500+int32(k%8)), Admitted: at}
			d.ID = k
			e.Deliver(&d, at)
		}
		e.Advance(vtime.Never, 255)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(e.Counters.Steps-steps), "ns/step")
}

// BenchmarkDecodeInGroup is the same on four ranks in lock-step.
func BenchmarkDecodeInGroup(b *testing.B) {
	r := NewRanks(RanksConfig{Ranks: 4, LockStep: true, Local: 4, FrontEnds: 4}, func(rank int) (int, Config) {
		e, _ := instance(&testing.T{}, linear{1000, 3, 0.01}, func(c *Config) {
			c.MaxNumSeqs, c.Cache, c.Sink = 64, newPool(8000), deaf{}
		})
		return rank, e.cfg
	})
	b.ReportAllocs()
	for b.Loop() {
		from := r.Now().Add(vtime.Second)
		for k := range int64(64) {
			r.at(k, from.Add(vtime.Duration(k)), 20, 500+int32(k%8))
		}
		r.Advance(vtime.Never, 255)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(r.DataParallel().GroupSteps), "ns/step")
}
