package report

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
	"blis/setup"
)

// runText writes the text of a run.
type runText struct{ plaintext.Writer }

// Header writes what a run is of, as known before it begins: cluster, policies,
// workload, notes.
func Header(w io.Writer, setup *actors.Setup, cfg *actors.Config, s plaintext.Style) error {
	var b strings.Builder
	t := plaintext.NewWriter(&b, s)
	writeCluster(&t, setup, cfg)
	t.Line("policies", setup.Policies)
	t.Line("workload", setup.Workload)
	for _, note := range setup.Notes {
		t.Line("note", note)
	}
	t.Gap()
	_, err := io.WriteString(w, b.String())
	return err
}

// writeCluster says what served the requests.
func writeCluster(t *plaintext.Writer, s *actors.Setup, cfg *actors.Config) {
	t.Line("model", s.Model)
	if len(s.Pools) > 0 {
		writePools(t, s, cfg.BlockSizeInTokens)
		return
	}
	t.Line("cluster", fmt.Sprintf("%s %s: %s%s at TP %d", plaintext.Grouped(int64(cfg.NumInstances)*int64(setup.InstanceGPUs(&cfg.Config))), s.Hardware, plaintext.Plural(int64(cfg.NumInstances), "instance"), ranksText(s.Ranks), s.TP))
	t.Line("latency", s.Latency)
	writeAccuracy(t, s.Accuracy)
	label := "instance"
	if s.Ranks > 1 {
		label = "rank"
	}
	t.Line(label, instanceText(s.KVBlocks, cfg.BlockSizeInTokens, cfg.MaxNumSeqs, cfg.MaxNumBatchedTokens, s.MaxModelLen))
}

// ranksText says how many data-parallel ranks an instance has, nothing if it is one.
func ranksText(n int) string {
	if n <= 1 {
		return ""
	}
	return fmt.Sprintf(" of %d data-parallel ranks", n)
}

// instanceText is the limits of an instance.
func instanceText(blocks int64, blockSize, maxSeqs, maxTokens, maxModelLen int32) string {
	return fmt.Sprintf("%s KV blocks of %d tokens, max_num_seqs %s, max_num_batched_tokens %s, max_model_len %s",
		plaintext.Grouped(blocks), blockSize, plaintext.Grouped(int64(maxSeqs)), plaintext.Grouped(int64(maxTokens)), plaintext.Grouped(int64(maxModelLen)))
}

// writePools is the part of writeCluster for several pools. What they have alike of the latency
// model stands once.
func writePools(t *plaintext.Writer, s *actors.Setup, blockSize int32) {
	first := &s.Pools[0]
	alike := true
	for i := range s.Pools {
		p := &s.Pools[i]
		each := "each"
		if p.Ranks > 1 {
			each = "each rank"
		}
		t.Line(p.Name, fmt.Sprintf("%s%s of %d %s, %s %s", plaintext.Plural(int64(p.Instances), "instance"), ranksText(p.Ranks), p.TP, p.Hardware, each,
			instanceText(p.KVBlocks, blockSize, p.MaxNumSeqs, p.MaxNumBatchedTokens, p.MaxModelLen)))
		alike = alike && p.Latency == first.Latency && reflect.DeepEqual(p.Accuracy, first.Accuracy)
	}
	if alike {
		t.Line("latency", first.Latency)
		writeAccuracy(t, first.Accuracy)
		return
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		t.Line("latency", p.Name+": "+p.Latency)
		writeAccuracy(t, p.Accuracy)
	}
}

// writeOutcome writes what became of the requests, rates, latencies, resources,
// what limited the run, anomalies, the notes behind the first shown, warnings.
func writeOutcome(w io.Writer, r *actors.Result, shown int, s plaintext.Style) {
	t := runText{plaintext.NewWriter(w, s)}
	t.counts(r)
	t.latencies(&r.Report.Overall)
	t.targets(r)
	t.pools(r.Report)
	t.nodePools(r.NodePools())
	t.resources(r)
	t.scaling(r)
	t.fitness(r)
	if text := anomalies(&r.Report.Anomalies); text != "" {
		t.Line("anomalies", text)
	}
	for _, note := range r.Setup.Notes[shown:] {
		t.Line("note", note)
	}
	for _, warning := range Warnings(r) {
		t.Line("warning", warning)
	}
	if r.Digest != "" {
		t.Line("digest", r.Digest)
	}
}

func (t *runText) counts(r *actors.Result) {
	report := r.Report
	all := &report.Overall
	unfinished := all.States[metrics.Running] + all.States[metrics.Queued] + all.States[metrics.Pending] + all.States[metrics.Waiting]
	text := plaintext.Grouped(report.Injected) + " injected"
	if m := newMeasured(r); m != nil {
		text += fmt.Sprintf(", %s of them measured (arrived from %s)", plaintext.Grouped(m.Requests), measuredSpan(r))
	}
	text += ": "
	for _, state := range []metrics.State{metrics.Completed, metrics.Rejected, metrics.Dropped, metrics.TimedOut, metrics.Aborted, metrics.Failed, metrics.Shed, metrics.Expired, metrics.Evicted} {
		if n := all.States[state]; n > 0 || state != metrics.Aborted && !state.Rare() {
			text += fmt.Sprintf("%s %s%s, ", plaintext.Grouped(n), stateWords[state], reasonsOf(all, state))
		}
	}
	t.Line("requests", text+plaintext.Grouped(unfinished)+" unfinished")
	t.failures(r)
	t.gateways(r)
	t.sessions(r)
	t.Line("tokens", fmt.Sprintf("%s in, %s out", plaintext.Grouped(all.InputTokens), plaintext.Grouped(all.OutputTokens)))
	rates := fmt.Sprintf("offered %s req/s, completed %s req/s, %s output tokens/s",
		plaintext.Decimal(report.OfferedPerSecond, 1), plaintext.Decimal(all.RequestsPerSecond, 1), plaintext.Decimal(all.TokensPerSecond, 0))
	if s := report.Window.Seconds; s != nil {
		rates += fmt.Sprintf(" over %s s", plaintext.Decimal(s, 2))
	}
	t.Line("rates", rates)
	t.Gap()
}

func measuredSpan(r *actors.Result) string {
	from := r.Config.MeasureFrom.String()
	if r.Config.MeasureTo == 0 {
		return from
	}
	return from + " to " + r.Config.MeasureTo.String()
}

func (t *runText) latencies(s *metrics.Scope) {
	row := func(label string, cells ...string) {
		fmt.Fprintf(t, "%-7s", label)
		for _, c := range cells {
			fmt.Fprintf(t, " %12s", c)
		}
		t.Gap()
	}
	row("ms", "mean", "p50", "p90", "p99", "n")
	for _, m := range []struct {
		name    string
		summary *metrics.Summary
	}{{"TTFT", s.TTFT}, {"TPOT", s.TPOT}, {"ITL", s.ITL}, {"E2E", s.E2E}} {
		if m.summary == nil {
			row(m.name, "–", "–", "–", "–", "0")
			continue
		}
		ms := func(us float64) string { us /= 1e3; return plaintext.Decimal(&us, 2) }
		row(m.name, ms(m.summary.Mean), ms(m.summary.P50), ms(m.summary.P90), ms(m.summary.P99), plaintext.Grouped(m.summary.N))
	}
	t.Gap()
}

func (t *runText) targets(r *actors.Result) {
	label := "targets"
	line := func(what string, of *metrics.Named) {
		if of.SLOAttainment == nil {
			return
		}
		t.Line(label, fmt.Sprintf("%s%s: %s of requests within them, goodput %s req/s", what, of.Name, plaintext.Percent(of.SLOAttainment), plaintext.Decimal(of.Goodput, 1)))
		label = ""
	}
	for i := range r.Report.PerClass {
		line("", &r.Report.PerClass[i])
	}
	own, _ := metrics.ParseTargets(r.Config.SLOTargets) // checked before the run
	for i := range r.Report.PerTenant {
		tenant := &r.Report.PerTenant[i]
		if slices.ContainsFunc(own, func(c metrics.ClassTargets) bool { return c.Tenant != "" && c.Tenant == tenant.Name }) {
			line("tenant ", tenant)
		}
	}
}

func (t *runText) resources(r *actors.Result) {
	all := &r.Report.Overall
	use := all.Resources
	hits := fmt.Sprintf("hit rate %s of prompt tokens", plaintext.Percent(use.CacheHitRate))
	if all.ExpectedHitRate != nil {
		hits += fmt.Sprintf(", the router expected %s", plaintext.Percent(all.ExpectedHitRate))
	}
	t.Line("cache", hits)
	kv := fmt.Sprintf("mean use %s, peak %s, %s", plaintext.Percent(use.KVMean), plaintext.Percent(use.KVPeak), plaintext.Plural(all.Preemptions, "preemption"))
	if all.RecomputedTokens > 0 {
		kv += fmt.Sprintf(" (%s tokens recomputed)", plaintext.Grouped(all.RecomputedTokens))
	}
	t.Line("KV", kv)
	t.cpuTier(r.Report)
	if b, i := r.Report.Busiest, r.Report.Idlest; b != nil && i != nil && b.Name != i.Name {
		t.Line("busy", fmt.Sprintf("busiest %s (a step was running %s of the time), least busy %s (%s)", b.Name, plaintext.Percent(&b.Utilisation), i.Name, plaintext.Percent(&i.Utilisation)))
	}
	if s := all.Split; s != nil {
		ms := func(us float64) string { us /= 1e3; return plaintext.Decimal(&us, 1) }
		handOver := ""
		if s.HandOver > 0 {
			handOver = " + hand-over " + ms(s.HandOver)
		}
		t.Line("E2E", fmt.Sprintf("%s ms = front end %s + queue %s + prefill %s%s + decode %s + recompute %s",
			ms(all.E2E.Mean), ms(s.FrontEnd), ms(s.Queue), ms(s.Prefill), handOver, ms(s.Decode), ms(s.Recompute)))
	}
	t.disaggregation(r.Report)
	t.dataParallel(r.Report)
	t.load(r)
}

// load says how much of the cluster's capacity was in use, what limited it, and
// how the backlog went.
func (t *runText) load(r *actors.Result) {
	use, l := r.Report.Overall.Resources, r.Load()
	text := "mean use: "
	if l.Share != nil {
		text = fmt.Sprintf("%s of the capacity for these lengths, about %s req/s; mean use: ", plaintext.Percent(l.Share), plaintext.Decimal(l.Capacity, 1))
	}
	t.Line("load", text+fmt.Sprintf("max_num_seqs %s, KV %s, token budget %s", plaintext.Percent(l.MaxSeqs), plaintext.Percent(l.KV), plaintext.Percent(l.Budget)))
	line, most := plaintext.Sparkline(r.Report.Load.Backlog, t.Width-plaintext.LabelWidth-30)
	t.Line("backlog", fmt.Sprintf("%s up to %s in the system", line, plaintext.Plural(most, "request")))
	if use.Limit == "none" {
		t.Line("limit", "none: requests did not wait for max_num_seqs, KV or token budget")
		return
	}
	t.Line("limit", fmt.Sprintf("%s: requests waited for it %s of the time", limitNames[use.Limit], plaintext.Percent(limitShare(use))))
}

// limitNames are the limits as a user of vLLM sets them.
var limitNames = map[string]string{"seats": "max_num_seqs", "KV": "KV cache", "token budget": "token budget"}

// limitShare is the share of time behind Resources.Limit.
func limitShare(use *metrics.Resources) *float64 {
	switch use.Limit {
	case "seats":
		return use.LimitMaxSeqs
	case "KV":
		return use.LimitKV
	}
	return use.LimitBudget
}

// sessions prints a line about the sessions, if there were any.
func (t *runText) sessions(r *actors.Result) {
	s := r.Sessions
	if s == nil {
		return
	}
	text := fmt.Sprintf("%s begun: %s completed, %s ended early", plaintext.Grouped(s.Begun), plaintext.Grouped(s.Completed), plaintext.Grouped(s.EndedEarly))
	if s.NotSent > 0 {
		text += fmt.Sprintf(" (%s requests not sent)", plaintext.Grouped(s.NotSent))
	}
	t.Line("sessions", fmt.Sprintf("%s, %s unfinished", text, plaintext.Grouped(s.Unfinished)))
}

// anomalies lists the anomalies of a run in words; empty if there were none.
func anomalies(a *metrics.Anomalies) string {
	var list []string
	add := func(name string, n int64, one, many string) {
		if n == 0 {
			return
		}
		unit := many
		if n == 1 {
			unit = one
		}
		list = append(list, strings.TrimSuffix(name+" "+plaintext.Grouped(n)+" "+unit, " "))
	}
	add("priority inversion", a.PriorityInversion, "", "")
	add("class inversion", a.ClassInversion, "request", "requests")
	add("head-of-line blocking", a.HeadOfLineBlocking, "request", "requests")
	add("blocked head", a.BlockedHead, "step", "steps")
	add("queue imbalance", a.QueueImbalance, "instance", "instances")
	if a.SlowWithinClass != nil {
		add("slow within class", *a.SlowWithinClass, "pair", "pairs")
	}
	add("preemption storm", a.PreemptionStorm, "", "")
	if a.ShadowDivergence != nil {
		add("shadow divergence", *a.ShadowDivergence, "request", "requests")
	}
	if a.KVThrashing != nil {
		add("KV thrashing", *a.KVThrashing, "entry", "entries")
	}
	if a.PDBackpressure != nil {
		add("P/D backpressure", *a.PDBackpressure, "hand-over", "hand-overs")
	}
	for _, c := range a.SLOViolation {
		add("SLO violation "+c.Class+" TTFT", c.TTFT, "", "")
		add("SLO violation "+c.Class+" TPOT", c.TPOT, "", "")
		add("SLO violation "+c.Class+" E2E", c.E2E, "", "")
	}
	return strings.Join(list, ", ")
}
