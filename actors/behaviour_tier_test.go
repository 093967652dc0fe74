package actors

import (
	"testing"

	"blis/bundle"
	"blis/policy"
)

// TestAnInstanceThatIsGoneHoldsNoBlocks: instance 1 drains from 500 on and is gone when its
// request ends, at 1,000. What its five blocks are stored for, until 31,000, is lost. The six of
// instance 0 are in use: all that there are.
func TestAnInstanceThatIsGoneHoldsNoBlocks(t *testing.T) {
	c := plain()
	c.NumInstances, c.MaxReplicas, c.MinReplicas, c.AutoscaleInterval = 2, 2, 1, 500
	c.Custom.Autoscale = func(policy.Env) policy.Autoscale { return alwaysOne{} }
	c.TotalKVBlocks, c.KVCPUBlocks, c.KVTransferLatency, c.KVTransferBandwidth.Rate, c.KVIdleRelease = 6, 20, 30_000, 1<<60, true
	c.Policies.Routing = bundle.Selection{Type: "round-robin"}
	s := serve(t, c, request(0, 81, 15), request(0, 80, 1))
	if s.Scaling == nil || len(s.Scaling.Events) != 1 {
		t.Fatalf("scaling %+v, want one event", s.Scaling)
	}
	if use := s.Report.KVUse; use.BinMicros != 1024 || use.BlockMicros[1] != 6*1024 || *use.Share[1] != 1 {
		t.Errorf("%d block·µs in the second bin of %d µs, %v of those that there were; want %d of 1024, all of them", use.BlockMicros[1], use.BinMicros, *use.Share[1], 6*1024)
	}
}
