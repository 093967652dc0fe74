package actors

import (
	"slices"
	"testing"

	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// seen is what a decision saw of the one instance.
type seen struct {
	queue, batch, used int64
	hits, ttft, tpot   float64
}

// probe admits everything and notes what it sees.
type probe struct{ seen *[]seen }

func (probe) Observes() policy.Signals { return (^policy.NoSignals &^ policy.OwnSignals).Published() }

func (p probe) Decide(_ *policy.Request, s *policy.RouterState, _ vtime.Time) policy.AdmissionDecision {
	v := s.View
	*p.seen = append(*p.seen, seen{v.QueueDepth(0), v.BatchSize(0), v.UsedBlocks(0), v.HitRate(0), v.RecentTTFT(0), v.RecentTPOT(0)})
	return policy.AdmissionDecision{Verdict: policy.Admit}
}

// There is one seat. A takes it at 0 with a prompt of two blocks, of which the
// third token starts another; it ends at 3,000. B, its equal, takes it then,
// finds one block of the prompt and ends at 4,000. What decisions at 500,
// 1,500, 3,500 and 4,500 see of that depends on how fresh the signals are.
func TestHowFreshSignalsAre(t *testing.T) {
	everything := func(c cadence) map[policy.Signals]cadence {
		return map[policy.Signals]cadence{policy.QueueDepth: c, policy.BatchSize: c, policy.KVUse: c, policy.HitRate: c, policy.RecentLatency: c}
	}
	live := []seen{{0, 1, 2, 0, 0, 0}, {1, 1, 3, 0, 0, 0}, {1, 1, 2, 16. / 64, 1000, 1000}, {1, 1, 1, 16. / 80, 2250, 1000}}
	for _, c := range []struct {
		name    string
		signals string
		fresh   map[policy.Signals]cadence
		want    []seen
	}{
		{"live", "live", everything(immediate), live},
		{"live, hit rate every 10 ms and latencies every 100 ms", "live", nil,
			[]seen{{0, 1, 2, 0, 0, 0}, {1, 1, 3, 0, 0, 0}, {1, 1, 2, 0, 0, 0}, {1, 1, 1, 0, 0, 0}}},
		// At 500 no step has ended. The end of a step is before the next batch
		// is formed.
		{"per step", "per-step", everything(immediate),
			[]seen{{0, 0, 0, 0, 0, 0}, {1, 1, 2, 0, 0, 0}, {2, 0, 0, 0, 1000, 1000}, {2, 0, 0, 16. / 64, 2250, 1000}}},
		{"per step, but asked for", "per-step", everything(onDemand), live},
		// Refreshes come after the step of their instant.
		{"every 1,000", "live", everything(1000),
			[]seen{{0, 1, 2, 0, 0, 0}, {1, 1, 3, 0, 0, 0}, {1, 1, 2, 16. / 64, 1000, 1000}, {1, 1, 1, 16. / 80, 2250, 1000}}},
		{"queue every 5,000, use every 2,000, the rest at once", "live", map[policy.Signals]cadence{policy.QueueDepth: 5000, policy.KVUse: 2000, policy.HitRate: 0, policy.RecentLatency: 0},
			[]seen{{0, 1, 2, 0, 0, 0}, {0, 1, 2, 0, 0, 0}, {0, 1, 3, 16. / 64, 1000, 1000}, {0, 1, 1, 16. / 80, 2250, 1000}}},
	} {
		var got []seen
		cfg := plain()
		cfg.MaxNumSeqs, cfg.Signals = 1, c.signals
		setFresh(&cfg, c.fresh)
		cfg.Custom.Admission = func(policy.Env) policy.Admission { return probe{&got} }
		shared := workload.Span{Content: 9, Length: 32}
		// The first and the second are A and B.
		s := serve(t, cfg, prompt(request(0, 32, 3), shared), prompt(request(500, 32, 1), shared), request(1500, 16, 1), request(3500, 16, 1), request(4500, 16, 1))
		if s.rows[1].Cached != 16 {
			t.Fatalf("B finds %d tokens, want 16", s.rows[1].Cached)
		}
		for run := range slices.Chunk(got, 5) { // serve has several executors
			if want := append([]seen{{}}, c.want...); !slices.Equal(run, want) {
				t.Errorf("%s:\n got %v\nwant %v", c.name, run, want)
			}
		}
	}
}

// backlogSeen is what a decision saw of the wait and the room on the one instance.
type backlogSeen struct {
	wait          float64
	seats, tokens int64
}

// backlogProbe admits everything and notes it.
type backlogProbe struct{ seen *[]backlogSeen }

func (backlogProbe) Observes() policy.Signals {
	return policy.EstimatedWait | policy.BatchSize | policy.KVUse
}

func (p backlogProbe) Decide(_ *policy.Request, s *policy.RouterState, _ vtime.Time) policy.AdmissionDecision {
	v := s.View
	*p.seen = append(*p.seen, backlogSeen{v.EstimatedWait(0), v.FreeSeqs(0), v.FreeTokens(0)})
	return policy.AdmissionDecision{Verdict: policy.Admit}
}

// One seat, steps of 1,000. A has it until 3,000: 32 tokens are prefilled in the
// first step, and decode steps say nothing of prefill. Behind it wait 50 and 30
// tokens, then as many as there are arrivals. B's 50 are prefilled until 4,000.
func TestEstimatedWaitAndCapacity(t *testing.T) {
	var got []backlogSeen
	c := plain()
	c.MaxNumSeqs = 1
	c.Custom.Admission = func(policy.Env) policy.Admission { return backlogProbe{&got} }
	serve(t, c, request(0, 32, 3), request(500, 50, 1), request(600, 30, 1), request(1500, 10, 1), request(3500, 16, 1), request(4500, 1, 1))
	want := []backlogSeen{
		{0, 1, 64 * 16}, {0, 0, 62 * 16}, {0, 0, 62 * 16},
		{80 * (1000. / 32), 0, 61 * 16},
		{40 * (1000. / 32), 0, 60 * 16},
		{26 * (2000. / 82), 0, 62 * 16},
	}
	for run := range slices.Chunk(got, len(want)) {
		if !slices.Equal(run, want) {
			t.Errorf("\n got %v\nwant %v", run, want)
		}
	}
}

// tierSeen is what a decision saw of the CPU tier of the one instance.
type tierSeen struct{ used, entries, stores, loads, chosen int64 }

// tierProbe admits everything and notes it.
type tierProbe struct{ seen *[]tierSeen }

func (tierProbe) Observes() policy.Signals {
	return policy.CPUKVUse | policy.TransferQueue | policy.PendingOffloads
}

func (p tierProbe) Decide(_ *policy.Request, s *policy.RouterState, _ vtime.Time) policy.AdmissionDecision {
	stores, loads := s.View.Transfers(0)
	*p.seen = append(*p.seen, tierSeen{s.View.UsedEntries(0), s.View.CPUEntries, stores, loads, s.View.PendingOffloads(0)})
	return policy.AdmissionDecision{Verdict: policy.Admit}
}

// Steps of 1,000, transfers of 2,500. A's two blocks are chosen when its prefill is
// scheduled at 0, which reserves their entries, and submitted at 1,000. That the store
// ended at 3,500 is noticed at 4,000. H has the same prompt: its load begins at 20,000.
func TestSignalsOfTheCPUTier(t *testing.T) {
	requests := []workload.Request{prompt(request(0, 32, 5), workload.Span{Content: 7, Length: 32})}
	for _, at := range []vtime.Time{500, 1500, 3800, 4500, 9000} {
		requests = append(requests, request(at, 1, 1))
	}
	requests = append(requests, prompt(request(20_000, 33, 1), workload.Span{Content: 7, Length: 32}), request(21_000, 1, 1), request(29_000, 1, 1))
	for tier, want := range map[bool][]tierSeen{
		true:  {{0, 10, 0, 0, 0}, {2, 10, 0, 0, 1}, {2, 10, 1, 0, 0}, {2, 10, 1, 0, 0}, {2, 10, 0, 0, 0}, {2, 10, 0, 0, 0}, {2, 10, 0, 0, 0}, {2, 10, 0, 1, 0}, {2, 10, 0, 0, 0}},
		false: make([]tierSeen, len(requests)),
	} {
		var got []tierSeen
		c := plain()
		c.EnablePrefixCaching = false // of the GPU
		if tier {
			c.KVCPUBlocks, c.KVTransferLatency, c.KVTransferBandwidth.Rate = 10, 2500, 1<<60
		}
		c.Custom.Admission = func(policy.Env) policy.Admission { return tierProbe{&got} }
		serve(t, c, requests...)
		for run := range slices.Chunk(got, len(want)) {
			if !slices.Equal(run, want) {
				t.Errorf("tier %v:\n got %v\nwant %v", tier, run, want)
			}
		}
	}
}

// While a request decodes alone, no list changes its length, and the tier does: A fills
// its second block at 16,000, which is stored from 17,000 to 19,500. What comes then is
// rejected, so that the router could go on without the instance.
func TestSignalsOfTheCPUTierInADecodeRun(t *testing.T) {
	var got []tierSeen
	c := plain()
	c.KVCPUBlocks, c.KVTransferLatency, c.KVTransferBandwidth.Rate = 10, 2500, 1<<60
	c.Custom.Admission = func(policy.Env) policy.Admission { return firstAlone{tierProbe{&got}} }
	serve(t, c, request(0, 16, 30), request(15_500, 1, 1), request(16_500, 1, 1), request(17_500, 1, 1), request(21_500, 1, 1))
	want := []tierSeen{{0, 10, 0, 0, 0}, {1, 10, 0, 0, 0}, {2, 10, 0, 0, 1}, {2, 10, 1, 0, 0}, {2, 10, 0, 0, 0}}
	for run := range slices.Chunk(got, len(want)) {
		if !slices.Equal(run, want) {
			t.Errorf("\n got %v\nwant %v", run, want)
		}
	}
}

// firstAlone admits the first request.
type firstAlone struct{ tierProbe }

func (p firstAlone) Decide(r *policy.Request, s *policy.RouterState, now vtime.Time) policy.AdmissionDecision {
	d := p.tierProbe.Decide(r, s, now)
	if r.ID > 0 {
		d.Verdict = policy.Reject
	}
	return d
}
