package report

import (
	"strconv"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

// latencies are the summaries of a result under their flat names, in ms.
type latencies struct {
	E2EMean *float64 `json:"e2e_mean_ms"`
	E2EP50  *float64 `json:"e2e_p50_ms"`
	E2EP90  *float64 `json:"e2e_p90_ms"`
	E2EP95  *float64 `json:"e2e_p95_ms"`
	E2EP99  *float64 `json:"e2e_p99_ms"`

	TTFTMean *float64 `json:"ttft_mean_ms"`
	TTFTP50  *float64 `json:"ttft_p50_ms"`
	TTFTP90  *float64 `json:"ttft_p90_ms"`
	TTFTP95  *float64 `json:"ttft_p95_ms"`
	TTFTP99  *float64 `json:"ttft_p99_ms"`

	ITLMean *float64 `json:"itl_mean_ms"`
	ITLP50  *float64 `json:"itl_p50_ms"`
	ITLP90  *float64 `json:"itl_p90_ms"`
	ITLP95  *float64 `json:"itl_p95_ms"`
	ITLP99  *float64 `json:"itl_p99_ms"`

	TPOTMean *float64 `json:"tpot_mean_ms"`
	TPOTP50  *float64 `json:"tpot_p50_ms"`
	TPOTP90  *float64 `json:"tpot_p90_ms"`
	TPOTP95  *float64 `json:"tpot_p95_ms"`
	TPOTP99  *float64 `json:"tpot_p99_ms"`

	DelayMean *float64 `json:"scheduling_delay_mean_ms"`
	DelayP50  *float64 `json:"scheduling_delay_p50_ms"`
	DelayP90  *float64 `json:"scheduling_delay_p90_ms"`
	DelayP95  *float64 `json:"scheduling_delay_p95_ms"`
	DelayP99  *float64 `json:"scheduling_delay_p99_ms"`
}

func newLatencies(s *metrics.Scope) latencies {
	var l latencies
	for _, m := range []struct {
		summary *metrics.Summary
		to      [5]**float64
	}{
		{s.E2E, [5]**float64{&l.E2EMean, &l.E2EP50, &l.E2EP90, &l.E2EP95, &l.E2EP99}},
		{s.TTFT, [5]**float64{&l.TTFTMean, &l.TTFTP50, &l.TTFTP90, &l.TTFTP95, &l.TTFTP99}},
		{s.ITL, [5]**float64{&l.ITLMean, &l.ITLP50, &l.ITLP90, &l.ITLP95, &l.ITLP99}},
		{s.TPOT, [5]**float64{&l.TPOTMean, &l.TPOTP50, &l.TPOTP90, &l.TPOTP95, &l.TPOTP99}},
		{s.SchedulingDelay, [5]**float64{&l.DelayMean, &l.DelayP50, &l.DelayP90, &l.DelayP95, &l.DelayP99}},
	} {
		if m.summary == nil {
			continue
		}
		for i, us := range [5]float64{m.summary.Mean, m.summary.P50, m.summary.P90, m.summary.P95, m.summary.P99} {
			ms := us / 1e3
			*m.to[i] = &ms
		}
	}
	return l
}

// Request is one of the requests of a JSON result.
type Request struct {
	ID        string   `json:"requestID"`
	Arrived   float64  `json:"arrived_at"` // seconds
	Prefill   int32    `json:"num_prefill_tokens"`
	Decode    int32    `json:"num_decode_tokens"` // delivered
	TTFT      *float64 `json:"ttft_ms"`
	ITL       *float64 `json:"itl_ms"` // mean
	E2E       *float64 `json:"e2e_ms"`
	Delay     *float64 `json:"scheduling_delay_ms"`
	HandledBy *string  `json:"handled_by"`
	Class     string   `json:"slo_class"`
	Tenant    string   `json:"tenant_id"`
	State     string   `json:"state"`
}

// NewRequest is a request at its end.
func NewRequest(r *actors.Row) Request {
	j := Request{
		ID: "request_" + strconv.FormatInt(r.ID, 10), Arrived: r.Arrival.Seconds(), Prefill: r.Input, Decode: r.Generated,
		TTFT: milliseconds(r.TTFT()), E2E: milliseconds(r.E2E()), Delay: milliseconds(r.SchedulingDelay()),
		Class: r.ClassName(), Tenant: r.TenantName(), State: r.State.String(),
	}
	if total, n := r.TotalITL(); n > 0 {
		ms := total.Milliseconds() / float64(n)
		j.ITL = &ms
	}
	if name := r.InstanceName(); name != "" {
		j.HandledBy = &name
	}
	return j
}

func milliseconds(d vtime.Duration, ok bool) *float64 {
	if !ok {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}
