package engine

import (
	"testing"

	"blis/kv"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// handedOver is the other side of both instances: it pulls what was computed.
type handedOver struct {
	deaf
	source KVSource
	end    vtime.Time
}

func (h *handedOver) Prefilled(_ *metrics.Outcome, s KVSource, _ vtime.Time) { h.source = s }
func (h *handedOver) Pulls(p *Pull, _ vtime.Time)                            { h.end = p.End }
func (h *handedOver) Left(KVSource, vtime.Time)                              {}
func (h *handedOver) Released(int, vtime.Time)                               {}

// A hand-over allocates nothing, once both instances have had some.
func TestHandOversDoNotAllocate(t *testing.T) {
	scheduler, err := policy.NewScheduler("fcfs", nil, policy.Env{BlockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	h := &handedOver{}
	instance := func(index int) *Engine {
		return New(index, Config{BlockSize: 16, Args: Args{MaxNumBatchedTokens: 2048, MaxNumSeqs: 64, EnablePrefixCaching: true, EnableChunkedPrefill: true, SchedulerReserveFullISL: true},
			Model: linear{1000, 10, 20}, Scheduler: scheduler, Cache: kv.NewPool(1000, 16, true), Sink: h,
			Disaggregation: &Disaggregation{Pull: Link{100, 10}, HoldTimeout: 1_000_000, Notices: h}})
	}
	prefill, decode := instance(0), instance(1)
	now, d := vtime.Time(0), Delivery{HandOver: metrics.NoHandOver()}
	d.Input, d.Output, d.MaxOutput, d.Deadline = 100, 20, workload.Absent, vtime.Never
	one := func() {
		d.ID, d.Arrival, d.Admitted = d.ID+1, now, now
		prefill.Pulls.Prefill(&d, now)
		prefill.Advance(now+10_000, vtime.ClassDelivery)
		now += 10_000
		decode.Pulls.Pull(&d, h.source, false, now)
		decode.Advance(now+100_000, vtime.ClassDelivery)
		prefill.Advance(h.end, vtime.ClassTransfer)
		prefill.Pulls.Over(h.source, h.end)
		now += 100_000
		prefill.Advance(now, vtime.ClassDelivery)
	}
	for range 200 {
		one()
	}
	if k := &decode.Disaggregated; k.NoticedPulls != 200 || prefill.Disaggregated.NoticedEnds != 199 {
		t.Fatalf("%d pulls were noticed on one side, %d on the other", k.NoticedPulls, prefill.Disaggregated.NoticedEnds)
	}
	if n := testing.AllocsPerRun(100, one); n > 0 {
		t.Errorf("%v allocations per request, want none", n)
	}
	for _, e := range []*Engine{prefill, decode} {
		if err := e.Check(); err != nil {
			t.Error(err)
		}
	}
}
