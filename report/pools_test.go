package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
)

func pointer[T any](x T) *T { return &x }

// around is a summary of n samples around a median in µs.
func around(p50 float64, n int64) *metrics.Summary {
	return &metrics.Summary{N: n, Mean: p50 * 1.1, P50: p50, P90: p50 * 2, P95: p50 * 3, P99: p50 * 4}
}

func TestDisaggregationInWords(t *testing.T) {
	text := func(r *metrics.Report) string {
		var b strings.Builder
		w := runText{plaintext.NewWriter(&b, plaintext.Style{Width: 1000})}
		w.disaggregation(r)
		return b.String()
	}
	if text(&metrics.Report{}) != "" {
		t.Error("words without hand-overs")
	}
	idle := metrics.PDUse{Disaggregated: pointer(int64(1)), Direct: pointer(int64(0)), Expired: 1, HandOvers: 1}
	if d := cmp.Diff("P/D        1 request disaggregated, 0 direct; nothing was pulled\nnot pulled 1 prompt was released after the hold time-out\n",
		text(&metrics.Report{PD: &metrics.PDReport{Overall: idle}})); d != "" {
		t.Error(d)
	}
	busy := metrics.PDUse{
		Disaggregated: pointer(int64(1900)), Direct: pointer(int64(100)), HandOvers: 1890, WithoutKV: 2, Pulls: 1870, Bytes: 123_000_000_000, PullMean: pointer(8412.0), Pulling: pointer(0.41),
		PeakAwaiting: 23, LocalRate: pointer(0.125), Expired: 12, StalePulls: 1, FailedPulls: 3, Left: 4, Lost: 5, Awaiting: 2,
	}
	phases := metrics.HandOverPhases{FrontEnd: around(100, 1800), PrefillQueue: around(5000, 1800), Prefill: around(41_000, 1800), HandOver: around(1000, 1800),
		DecodeQueue: around(300, 1800), Transfer: around(9000, 1800), Decode: around(2e6, 1800)}
	if d := cmp.Diff("P/D        1,900 requests disaggregated, 100 direct; 123 GB pulled in 1,870 pulls of 8.41 ms on average, 0.41 at a time on an instance; "+
		"12.5 % of these prompts was cached where it went; up to 23 prompts held for a pull on an instance, 2 at the end\n"+
		"phases     2,262.0 ms = front end 0.1 + prefill queue 5.5 + prefill 45.1 + hand-over 1.1 + decode queue 0.3 + transfer 9.9 + decode 2,200.0; mean of 1,800 completed requests\n"+
		"not pulled 2 prefills left no KV; 4 requests left before their pull; 3 pulls failed; 12 prompts were released after the hold time-out; 1 pull came too late; "+
		"5 prompts were lost with their instances\n",
		text(&metrics.Report{PD: &metrics.PDReport{Overall: busy, Phases: &phases}})); d != "" {
		t.Error(d)
	}
}

// pooled has a deployment with two pools and one with one.
func pooled() *metrics.Report {
	use := func(busy, kv float64, limit string) *metrics.Resources {
		return &metrics.Resources{Utilisation: &busy, KVMean: &kv, CacheHitRate: pointer(0.301), Limit: limit, Counters: metrics.Counters{Preemptions: 1234}}
	}
	return &metrics.Report{
		PerPool: metrics.PoolReports{
			{Name: "chat/prefill", Deployment: "chat", Role: "prefill", GPU: "H100", TP: 4, PaidUse: metrics.PaidUse{Instances: 2, GPUHours: 1.5}, RequestsPerSecond: pointer(0.0), PrefillsPerSecond: pointer(12.34),
				QueueWait: around(12_000, 9), Resources: use(0.81, 0.2, "token budget")},
			{Name: "chat/decode", Deployment: "chat", Role: "decode", GPU: "H200", TP: 2, PaidUse: metrics.PaidUse{Instances: 3, GPUHours: 2}, RequestsPerSecond: pointer(12.1), QueueWait: around(9_000, 9), Resources: use(0.95, 0.71, "KV")},
			{Name: "small", Deployment: "small", Role: "monolithic", GPU: "L40S", TP: 1, PaidUse: metrics.PaidUse{Instances: 14, GPUHours: 3}, RequestsPerSecond: pointer(101.5), Resources: use(0.33, 0.05, "none")},
		},
		PerDeployment: metrics.DeploymentReports{
			{Name: "chat", PaidUse: metrics.PaidUse{GPUHours: 3.5, Cost: pointer(7.125)}, Scope: metrics.Scope{Injected: 1000, States: metrics.StateCounts{metrics.Completed: 990}, RequestsPerSecond: pointer(12.1),
				TokensPerSecond: pointer(3051.0), TTFT: around(80_000, 9), TPOT: around(15_000, 9), E2E: around(3e6, 9), SLOAttainment: pointer(0.97)}},
			{Name: "small", PaidUse: metrics.PaidUse{GPUHours: 3}, Scope: metrics.Scope{Injected: 2, States: metrics.StateCounts{}}},
		},
	}
}

func TestPoolsInATable(t *testing.T) {
	text := func(width int, r *metrics.Report) string {
		var b strings.Builder
		w := runText{plaintext.NewWriter(&b, plaintext.Style{Width: width})}
		w.pools(r)
		return b.String()
	}
	if text(80, &metrics.Report{}) != "" {
		t.Error("a table without pools")
	}
	if d := cmp.Diff(`
deployment  injected  completed  req/s  tokens/s  TTFT ms p50  p99    TPOT ms p50  p99   E2E ms p50  E2E p99   targets  GPU-hours  cost
chat        1,000     990        12.1   3,051     80.0         320.0  15.0         60.0  3,000.0     12,000.0  97.0 %   3.50       7.12
small       2         0          –      –         –            –      –            –     –           –         –        3.00       –

pool          instances  GPUs each  req/s  queue ms p50  queue p99  busy    KV      hit rate  preempted  limit
chat/prefill  2          4 H100     12.3   12.0          48.0       81.0 %  20.0 %  30.1 %    1,234      token budget
chat/decode   3          2 H200     12.1   9.0           36.0       95.0 %  71.0 %  30.1 %    1,234      KV cache
small         14         1 L40S     101.5  –             –          33.0 %  5.0 %   30.1 %    1,234      none

`, "\n"+text(200, pooled())); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(`
deployment  completed  req/s  TTFT ms p50  p99    TPOT ms p50  p99   cost
chat        990        12.1   80.0         320.0  15.0         60.0  7.12
small       0          –      –            –      –            –     –

pool          instances  GPUs each  req/s  queue ms p50  busy    limit
chat/prefill  2          4 H100     12.3   12.0          81.0 %  token budget
chat/decode   3          2 H200     12.1   9.0           95.0 %  KV cache
small         14         1 L40S     101.5  –             33.0 %  none

`, "\n"+text(80, pooled())); d != "" {
		t.Error(d)
	}
	for line := range strings.Lines(text(80, pooled())) {
		if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 80 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if got := gpuHours(&actors.Result{Report: pooled()}, 9); got != 6.5 {
		t.Errorf("%v GPU-hours", got)
	}
}
