package actors

import (
	"strings"
	"testing"

	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// An instance that crashes loses its own store, and not the one that others share. A prompt of 40 tokens
// runs; the instance crashes and comes back; the same prompt reads the shared store. Where the crash
// comes while its write is under way there, that goes on, and its answer is for nobody.
func TestCrashesAndStores(t *testing.T) {
	for _, c := range []struct {
		name, tier, failures string
		want                 int32
	}{
		{"shared", "disk,1GiB,10GB/s,10GB/s,100us,shared", "{crash: instance-0, at: 50000us, for: 10000us}", 32},
		{"local", "disk,1GiB,10GB/s,10GB/s,100us,local", "{crash: instance-0, at: 50000us, for: 10000us}", 0},
		{"shared, while it is written", "disk,1GiB,10GB/s,10GB/s,20ms,shared", "{crash: instance-0, at: 30000us, for: 1000us}", 32},
		{"local, while it is written", "disk,1GiB,10GB/s,10GB/s,20ms,local", "{crash: instance-0, at: 30000us, for: 1000us}", 0},
	} {
		cfg := fourInstances("failures:\n  - " + c.failures + "\n")
		cfg.NumRequests, cfg.Rate, cfg.RoutingPolicy = 0, 0, "round-robin"
		setFlags(t, &cfg, strings.Fields("--num-instances 1 --total-kv-blocks 100 --latency-model blackbox --alpha-coeffs 0,0,0 --beta-coeffs 1000,0,0 --async-scheduling=false --kv-cpu-blocks 100 --kv-storage "+c.tier))
		same := workload.Span{Content: 7, Length: 40}
		var requests []workload.Request
		for i := range 2 {
			r := request(vtime.Time(i*100_000), 40, 2)
			r.Spans = []workload.Span{same}
			requests = append(requests, r)
		}
		s := serve(t, cfg, requests...)
		if s.rows[1].State != metrics.Completed || s.rows[0].State != metrics.Completed || s.Failures.CutOff != 0 {
			t.Fatalf("%s: %+v", c.name, s.fates())
		}
		if got := s.rows[1].Lookup().Storage; got != c.want {
			t.Errorf("%s: %d tokens from the store, want %d", c.name, got, c.want)
		}
		if n := s.KVStorage[0].WrittenEntries; n < 2 {
			t.Errorf("%s: %d entries written", c.name, n)
		}
	}
}
