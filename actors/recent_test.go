package actors

import (
	"math/rand/v2"
	"testing"

	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// Recent latencies are those of the last completions, whatever else ends.
func TestRecentLatencies(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 3))
		r := recent{options: metrics.Options{TokenOverhead: 7, RequestOverhead: 11, Targets: []metrics.Targets{{TTFT: 500}, {}, {TPOT: 200}}}}
		var completed []metrics.Outcome
		for range 400 {
			o := metrics.Outcome{Identity: workload.Identity{Tags: workload.Tags{Class: workload.Label(random.IntN(4))}, Arrival: 100}, State: metrics.State(random.IntN(3)), Progress: metrics.Progress{FirstToken: vtime.Never, Generated: int32(random.IntN(4))}}
			if o.Generated > 0 {
				o.FirstToken = 100 + vtime.Time(random.IntN(1000))
				o.LastToken = o.FirstToken + vtime.Time(random.IntN(1000))
			}
			if r.add(&o); o.State == metrics.Completed {
				completed = append(completed, o)
			}
			var want policy.Service
			for i := max(0, len(completed)-policy.RecentCompletions); i < len(completed); i++ {
				if d, ok := completed[i].TTFT(7); ok {
					want.TTFT, want.TTFTs = want.TTFT+int64(d), want.TTFTs+1
				}
				if d, ok := completed[i].TPOT(7, 11); ok {
					want.TPOT, want.TPOTs = want.TPOT+int64(d), want.TPOTs+1
				}
				ttft, _ := completed[i].TTFT(7)
				tpot, _ := completed[i].TPOT(7, 11)
				late := map[workload.Label]bool{0: ttft > 500, 2: tpot > 200}
				if isLate, judged := late[completed[i].Class]; judged {
					want.Judged++
					if !isLate {
						want.Attained++
					}
				}
			}
			if r.sums != want {
				t.Fatalf("seed %d: after %d completions %+v, want %+v", seed, len(completed), r.sums, want)
			}
		}
	}
}
