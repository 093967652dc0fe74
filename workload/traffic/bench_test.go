package traffic

import (
	"testing"

	"blis/workload"
	"blis/workload/draw"
)

// What is computed is folded into sinkHash, so that nobody wins by computing
// something else.
var sinkHash uint64

func BenchmarkPull(b *testing.B) {
	for _, p := range []draw.Process{draw.Poisson, draw.Constant, draw.Gamma, draw.Weibull} {
		b.Run(string(p), func(b *testing.B) {
			c := plainConfig()
			c.Arrival, c.Requests = p, 1<<40
			if p == draw.Gamma || p == draw.Weibull {
				c.CV = 2
			}
			s := synthetic(b, c)
			var r workload.Request
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
