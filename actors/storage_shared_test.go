package actors

import (
	"fmt"
	"strings"
	"testing"

	"blis/internal/testsize"
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// drawSharingPools is the random trial of a seed in which prefill and decode instances share storage tiers.
func drawSharingPools(seed uint64) *trial {
	x := drawSharing(seed)
	d := newDice(seed, 0x706f6f6c73)
	tiers := x.Config.KVStorage
	d.drawDisaggregation(x)
	x.Config.KVStorage, x.Config.Prefill, x.Config.Decode = tiers, setup.Overrides{}, setup.Overrides{}
	return x
}

// TestEqualityOfStorageOfPools draws clusters whose prefill and decode instances share storage tiers.
func TestEqualityOfStorageOfPools(t *testing.T) {
	c := compareDrawn(t, testsize.Of(20, 40, 60), drawSharingPools)
	if c.cases >= 40 && 10*c.promoted < c.cases {
		t.Errorf("something was read from storage in %s of the trials, want a tenth", c.share(c.promoted))
	}
}

// Two deployments of one model share a store. A prompt of 40 tokens ran on the first one; the same prompt,
// on the second one, reads it from the store, which is counted once. With stores of their own, or of scope
// local, it computes all.
func TestDeploymentsShareAStore(t *testing.T) {
	for _, c := range []struct {
		name, first, second string
		want                int32
		tiers               int
	}{
		{"one store", "disk,1GiB,10GB/s,10GB/s,100us,shared", "disk,1GiB,10GB/s,10GB/s,100us,shared", 32, 1},
		{"two stores", "disk,1GiB,10GB/s,10GB/s,100us,shared", "disk-b,1GiB,10GB/s,10GB/s,100us,shared", 0, 2},
		{"local", "disk,1GiB,10GB/s,10GB/s,100us,local", "disk,1GiB,10GB/s,10GB/s,100us,local", 0, 2},
	} {
		file := "deployments:\n"
		for i, tier := range []string{c.first, c.second} {
			file += fmt.Sprintf("- {id: d%d, model: %s, replicas: 1, routing: round-robin, kv_offload: {blocks: 100, storage: [%q]}}\n", i, apartModels[0], tier)
		}
		x := &apartTrial{file: file, flags: strings.Fields("--total-kv-blocks 100 --latency-model blackbox --alpha-coeffs 0,0,0 --beta-coeffs 1000,0,0 --async-scheduling false")}
		same := workload.Span{Content: 7, Length: 40}
		var requests []workload.Request
		for i := range 2 {
			r := request(vtime.Time(i*100_000), 40, 2)
			r.Spans = []workload.Span{same}
			requests = append(requests, r)
		}
		s := serveLabelled(t, x.config(t), modelLabels(), requests)
		if s.rows[0].Instance == s.rows[1].Instance || s.rows[1].State != metrics.Completed {
			t.Fatalf("%s: %+v", c.name, s.fates())
		}
		if got := s.rows[1].Lookup().Storage; got != c.want || len(s.KVStorage) != c.tiers {
			t.Errorf("%s: %d tokens from the store, %d tiers; want %d and %d", c.name, got, len(s.KVStorage), c.want, c.tiers)
		}
	}
}
