package report

import (
	"fmt"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
	"blis/setup"
)

// disaggregation says how many requests one instance handed over to another, what they pulled, where
// their time went, and what went wrong.
func (t *runText) disaggregation(r *metrics.Report) {
	if r.PD == nil {
		return
	}
	u := &r.PD.Overall
	text := fmt.Sprintf("%s disaggregated, %s direct; ", plaintext.Plural(*u.Disaggregated, "request"), plaintext.Grouped(*u.Direct))
	if u.Pulls == 0 {
		text += "nothing was pulled"
	} else {
		ms := *u.PullMean / 1e3
		text += fmt.Sprintf("%s pulled in %s of %s ms on average, %s at a time on an instance", plaintext.Magnitude(float64(u.Bytes), "B"), plaintext.Plural(u.Pulls, "pull"), plaintext.Significant(ms), plaintext.Decimal(u.Pulling, 2))
		if u.LocalRate != nil && *u.LocalRate > 0 {
			text += fmt.Sprintf("; %s of these prompts was cached where it went", plaintext.Percent(u.LocalRate))
		}
	}
	if u.PeakAwaiting > 0 {
		text += fmt.Sprintf("; up to %s held for a pull on an instance", plaintext.Plural(u.PeakAwaiting, "prompt"))
		if u.Awaiting > 0 {
			text += fmt.Sprintf(", %s at the end", plaintext.Grouped(u.Awaiting))
		}
	}
	t.Line("P/D", text)
	if p := r.PD.Phases; p != nil {
		t.Line("phases", phasesText(p))
	}
	if parts := pullTroubles(u); parts != nil {
		t.Line("not pulled", strings.Join(parts, "; "))
	}
}

// phasesText says where the time of requests that were handed over went.
func phasesText(p *metrics.HandOverPhases) string {
	names := []string{"front end", "prefill queue", "prefill", "hand-over", "decode queue", "transfer", "decode"}
	sum := 0.0
	var parts []string
	for i, mean := range p.Means() {
		sum += mean
		ms := mean / 1e3
		parts = append(parts, names[i]+" "+plaintext.Decimal(&ms, 1))
	}
	ms := sum / 1e3
	return fmt.Sprintf("%s ms = %s; mean of %s", plaintext.Decimal(&ms, 1), strings.Join(parts, " + "), plaintext.Plural(p.Decode.N, "completed request"))
}

// pullTroubles says what became of KV that was not pulled in time, without what did not happen.
func pullTroubles(u *metrics.PDUse) (parts []string) {
	for _, x := range []struct {
		n          int64
		one, other string
	}{
		{u.WithoutKV, "prefill left no KV", "prefills left no KV"},
		{u.Left, "request left before its pull", "requests left before their pull"},
		{u.FailedPulls, "pull failed", "pulls failed"},
		{u.Expired, "prompt was released after the hold time-out", "prompts were released after the hold time-out"},
		{u.StalePulls, "pull came too late", "pulls came too late"},
		{u.Lost, "prompt was lost with its instance", "prompts were lost with their instances"},
	} {
		if x.n == 1 {
			parts = append(parts, "1 "+x.one)
		} else if x.n > 1 {
			parts = append(parts, plaintext.Grouped(x.n)+" "+x.other)
		}
	}
	return parts
}

// pools prints a table of deployments, if there are several, and one of pools.
func (t *runText) pools(r *metrics.Report) {
	if len(r.PerPool) == 0 {
		return
	}
	table := func(rows []string, drop ...string) {
		fmt.Fprint(t, plaintext.Columns(strings.Join(rows, "\n")+"\n", t.Width, drop...))
		t.Gap()
	}
	ms := func(s *metrics.Summary, of func(*metrics.Summary) float64) string {
		if s == nil {
			return "–"
		}
		x := of(s) / 1e3
		return plaintext.Decimal(&x, 1)
	}
	p50, p99 := func(s *metrics.Summary) float64 { return s.P50 }, func(s *metrics.Summary) float64 { return s.P99 }
	if len(r.PerDeployment) > 0 {
		rows := []string{"deployment\tinjected\tcompleted\treq/s\ttokens/s\tTTFT ms p50\tp99\tTPOT ms p50\tp99\tE2E ms p50\tE2E p99\ttargets\tGPU-hours\tcost"}
		for i := range r.PerDeployment {
			d := &r.PerDeployment[i]
			rows = append(rows, strings.Join([]string{
				plaintext.Name(d.Name), plaintext.Grouped(d.Injected), plaintext.Grouped(d.States[metrics.Completed]), plaintext.Decimal(d.RequestsPerSecond, 1), plaintext.Decimal(d.TokensPerSecond, 0),
				ms(d.TTFT, p50), ms(d.TTFT, p99), ms(d.TPOT, p50), ms(d.TPOT, p99), ms(d.E2E, p50), ms(d.E2E, p99),
				plaintext.Percent(d.SLOAttainment), plaintext.Significant(d.GPUHours), optional(d.Cost),
			}, "\t"))
		}
		table(rows, "injected", "tokens/s", "targets", "GPU-hours", "E2E p99", "E2E ms p50")
	}
	rows := []string{"pool\tinstances\tGPUs each\treq/s\tqueue ms p50\tqueue p99\tbusy\tKV\thit rate\tpreempted\tlimit"}
	for i := range r.PerPool {
		p := &r.PerPool[i]
		rate, use := p.RequestsPerSecond, p.Resources
		if p.PrefillsPerSecond != nil {
			rate = p.PrefillsPerSecond
		}
		limit := use.Limit
		if name, ok := limitNames[limit]; ok {
			limit = name
		}
		rows = append(rows, strings.Join([]string{
			plaintext.Name(p.Name), plaintext.Grouped(int64(p.Instances)), fmt.Sprintf("%s %s", plaintext.Grouped(int64(p.TP*p.RanksEach())), p.GPU), plaintext.Decimal(rate, 1),
			ms(p.QueueWait, p50), ms(p.QueueWait, p99), plaintext.Percent(use.Utilisation), plaintext.Percent(use.KVMean), plaintext.Percent(use.CacheHitRate),
			plaintext.Grouped(use.Counters.Preemptions), limit,
		}, "\t"))
	}
	table(rows, "preempted", "hit rate", "queue p99", "KV")
}

// gpuHours is the hours of GPUs that were paid for.
func gpuHours(r *actors.Result, replicaHours float64) float64 {
	pools := r.Report.PerPool
	if len(pools) == 0 {
		return float64(replicaHours * float64(setup.InstanceGPUs(&r.Config.Config)))
	}
	sum := 0.0
	for i := range pools {
		sum += pools[i].GPUHours
	}
	return sum
}
