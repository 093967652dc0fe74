package cli

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// Rows of requests that went from one instance to another add up to the result, phase by phase.
func TestRowsOfHandOversAddUpToTheResult(t *testing.T) {
	rows := filepath.Join(t.TempDir(), "rows.jsonl")
	out := done(t, "run", "--num-requests", "200", "--rate", "60", "--prefix-tokens", "512", "--architecture", "pd", "--prefill-replicas", "1", "--decode-replicas", "2",
		"--pd-decider", "prefix-threshold", "--pd-prefix-threshold", "200", "--decode-routing-policy", "weighted", "--gpu-hour-price", "3", "--prefill-tp", "2", "--requests-out", rows, "--format", "json").out
	r := resultOf(t, out)
	pd := r["pd"].(map[string]any)
	all, overall := pd["overall"].(map[string]any), r["overall"].(map[string]any)
	var handed, direct, remote, cached, prefilled, waits, prompts, local float64
	for line := range strings.Lines(read(t, rows)) {
		row := resultOf(t, line)
		at := func(column string) float64 { return row[column].(float64) }
		cached += at("cached_tokens")
		if row["prefill_instance"] == nil {
			direct++
			if row["pull_start_us"] != nil || row["remote_tokens"] != nil || row["decode_queued_us"] != nil {
				t.Errorf("a request that nobody handed over: %v", row)
			}
			continue
		}
		handed++
		remote += at("remote_tokens")
		prompts += at("input_tokens")
		local += at("input_tokens") - 1 - at("remote_tokens")
		prefilled += at("handoff_us") - at("prefill_scheduled_us")
		waits += at("scheduled_us") - at("pull_start_us")
		last := at("arrival_us")
		for _, column := range []string{"prefill_queued_us", "prefill_scheduled_us", "handoff_us", "decode_queued_us", "pull_start_us", "pull_end_us", "scheduled_us", "first_token_us"} {
			if at(column) < last {
				t.Errorf("request %v: %s is %v, before %v", row["request"], column, at(column), last)
			}
			last = at(column)
		}
		if row["prefill_instance"] != "instance-0" || row["pool"] != "decode" || row["instance"] == "instance-0" || at("decode_queued_us") != at("queued_us") {
			t.Errorf("request %v: %v", row["request"], row)
		}
	}
	if handed == 0 || direct == 0 || handed != all["disaggregated_requests"] || direct != all["direct_requests"] || handed != pd["handed_over_requests"] || handed != all["hand_overs"] || handed != all["pulls"] {
		t.Errorf("%v handed over, %v direct; the result has %v", handed, direct, all)
	}
	if remote == 0 || remote != pd["remote_tokens"] || remote != all["remote_tokens"] || all["pulled_bytes"] != all["pulled_blocks"].(float64)*16*131072 {
		t.Errorf("%v tokens pulled; the result has %v and %v, %v bytes in %v blocks", remote, pd["remote_tokens"], all["remote_tokens"], all["pulled_bytes"], all["pulled_blocks"])
	}
	if rate := all["local_hit_rate"].(float64); local == 0 || rate != local/prompts {
		t.Errorf("of %v tokens %v were not pulled; the result has %v", prompts, local, rate)
	}
	if cache := r["cache"].(map[string]any); cached == 0 || cached != overall["cached_tokens"] || cached != cache["cached_tokens"] || cache["looked_up_tokens"] != r["total_input_tokens"] {
		t.Errorf("%v tokens cached; the result has %v and %v", cached, overall["cached_tokens"], cache)
	}
	mean := func(of map[string]any, name string) float64 { return of[name].(map[string]any)["mean"].(float64) }
	phases := pd["phases_us"].(map[string]any)
	if p, w := mean(phases, "prefill"), mean(phases, "transfer_wait"); math.Abs(p-prefilled/handed) > 1e-6 || math.Abs(w-waits/handed) > 1e-6 {
		t.Errorf("prefill %v, transfer %v; by rows %v and %v", p, w, prefilled/handed, waits/handed)
	}
	pools := r["per_pool"].(map[string]any)
	prefill, decode := pools["prefill"].(map[string]any), pools["decode"].(map[string]any)
	if prefill["prefills"] != handed || prefill["instances"] != 1.0 || decode["prefills"] != nil || decode["states"].(map[string]any)["completed"] != 200.0 || r["per_deployment"] != nil {
		t.Errorf("pools %v and %v", prefill, decode)
	}
	hours, cost := prefill["gpu_hours"].(float64)+decode["gpu_hours"].(float64), prefill["cost"].(float64)+decode["cost"].(float64)
	if total := r["replicas"].(map[string]any); math.Abs(cost-3*hours) > 1e-9 || math.Abs(total["cost"].(float64)-cost) > 1e-9 {
		t.Errorf("%v GPU-hours cost %v; the result has %v", hours, cost, total)
	}
}
