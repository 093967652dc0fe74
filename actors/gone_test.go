package actors

import (
	"slices"
	"testing"

	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// goneProbe admits everything and notes what there is to see of instance 1.
type goneProbe struct{ seen *[]goneSeen }

type goneSeen struct {
	phase         policy.Phase
	queue, batch  int64
	used          int64
	wait, hitRate float64
}

func (goneProbe) Observes() policy.Signals {
	return policy.QueueDepth | policy.BatchSize | policy.KVUse | policy.EstimatedWait | policy.HitRate
}

func (p goneProbe) Decide(_ *policy.Request, s *policy.RouterState, _ vtime.Time) policy.AdmissionDecision {
	v := s.View
	*p.seen = append(*p.seen, goneSeen{v.Phase(1), v.QueueDepth(1), v.BatchSize(1), v.UsedBlocks(1), v.EstimatedWait(1), v.HitRate(1)})
	return policy.AdmissionDecision{Verdict: policy.Admit}
}

// TestNothingIsSeenOfInstancesThatAreGone aborts what an instance has. The last
// that it published was a full batch; who asks it, or the twin that looks into
// engines, could still read that.
func TestNothingIsSeenOfInstancesThatAreGone(t *testing.T) {
	for _, signals := range []string{"live", "per-step"} {
		for _, fresh := range []cadence{immediate, onDemand, 500} {
			var got []goneSeen
			c := plain()
			c.NumInstances, c.MaxReplicas, c.MinReplicas, c.DrainPolicy, c.Signals = 2, 2, 1, setup.DrainImmediate, signals
			c.AutoscaleInterval = 5000
			setFresh(&c, map[policy.Signals]cadence{policy.QueueDepth: fresh, policy.BatchSize: fresh, policy.KVUse: fresh, policy.EstimatedWait: fresh, policy.HitRate: fresh})
			c.Custom.Autoscale = func(policy.Env) policy.Autoscale { return alwaysOne{} }
			c.Custom.Admission = func(policy.Env) policy.Admission { return goneProbe{&got} }
			c.ForceRouting = "1=1,2=1"
			serve(t, c, request(0, 64, 30), sharing(1, request(1, 64, 30)), sharing(1, request(1500, 64, 30)), request(4900, 64, 1), request(8000, 64, 1))
			for run := range slices.Chunk(got, 5) { // serve has several executors
				if run[3].batch != 2 || run[3].hitRate == 0 || run[4] != (goneSeen{phase: policy.Gone}) {
					t.Errorf("%s, fresh %d: before it goes %+v, after %+v; want a batch of 2 with hits, then nothing", signals, fresh, run[3], run[4])
				}
			}
		}
	}
}
