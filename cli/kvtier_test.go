package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// tiered are runs whose GPU caches are too small for what comes again, with a CPU tier.
func tiered(more ...string) []string {
	return small(append([]string{"--workload-spec", "../examples/workloads/chat.yaml", "--total-kv-blocks", "400", "--kv-cpu-blocks", "3000"}, more...)...)
}

func TestCPUTierIsInTheResult(t *testing.T) {
	s := done(t, tiered("--format", "json")...)
	tier := resultOf(t, s.out)["kv_tiers"].(map[string]any)["cpu"].(map[string]any)
	all, each := tier["overall"].(map[string]any), tier["per_instance"].(map[string]any)
	for _, key := range []string{"tier_tokens", "gpu_tokens", "stored_entries", "loaded_entries", "used_mean", "hit_rate"} {
		if all[key].(float64) <= 0 {
			t.Errorf("%s is %v", key, all[key])
		}
	}
	cache := resultOf(t, s.out)["cache"].(map[string]any)
	if all["tier_tokens"].(float64)+all["gpu_tokens"].(float64) != cache["cached_tokens"] || all["known_tokens"] != cache["looked_up_tokens"] || all["total_hit_rate"] != cache["hit_rate"] {
		t.Errorf("tier %v, cache %v", all, cache)
	}
	sum := 0.0
	for _, name := range []string{"instance-0", "instance-1"} {
		sum += each[name].(map[string]any)["stored_entries"].(float64)
	}
	if len(each) != 2 || sum != all["stored_entries"] {
		t.Errorf("%v entries stored on %d instances, %v in all", sum, len(each), all["stored_entries"])
	}
	store := all["store"].(map[string]any)
	if store["blocks"] != all["stored_entries"] || store["bytes"].(float64) != store["blocks"].(float64)*16*131072 { // Llama 3.1 8B: 128 KiB of KV per token
		t.Errorf("%v", store)
	}
	if resultOf(t, done(t, small("--format", "json")...).out)["kv_tiers"] != nil {
		t.Error("a tier where there is none")
	}
}

func TestCPUTierIsInTheText(t *testing.T) {
	out := done(t, tiered()...).out
	at := 0
	for _, label := range []string{"\nKV ", "\nCPU tier ", " entries stored", "\ntransfers ", " to the GPU in ", "\nbusy "} {
		i := strings.Index(out[at:], label)
		if i < 0 {
			t.Fatalf("%q is missing or out of order in\n%s", label, out)
		}
		at += i
	}
	if out := done(t, small()...).out; strings.Contains(out, "CPU tier") || strings.Contains(out, "transfers") {
		t.Errorf("a tier where there is none:\n%s", out)
	}
}

// Two requests that come at once load what takes all blocks, and need one more each.
func TestBrokenDeadlockWarns(t *testing.T) {
	out := done(t, tiered("--total-kv-blocks", "300", "--num-requests", "400", "--max-model-len", "4800", "--kv-transfer-bandwidth", "1GB/s", "--rate", "200", "--format", "json")...).out
	broken := resultOf(t, out)["kv_tiers"].(map[string]any)["cpu"].(map[string]any)["overall"].(map[string]any)["deadlock_breaks"].(float64) > 0
	if !broken || !strings.Contains(out, "KV deadlock broken ") {
		t.Errorf("broken: %v; warnings %v", broken, resultOf(t, out)["warnings"])
	}
}

// A transfer that the end of the run cuts is busy up to that end.
func TestBusyShareEndsWithTheRun(t *testing.T) {
	out := done(t, tiered("--horizon", "2s", "--kv-transfer-bandwidth", "10MB/s", "--format", "json")...).out
	all := resultOf(t, out)["kv_tiers"].(map[string]any)["cpu"].(map[string]any)["overall"].(map[string]any)
	if share := all["store"].(map[string]any)["busy_share"].(float64); share <= 0.1 || share > 1 {
		t.Errorf("the store station is busy %v of the time", share)
	}
}

// Rows say what came from the tier, and add up to the result; outcomes in traces name it.
func TestRowsAndOutcomesKnowTheTier(t *testing.T) {
	dir := t.TempDir()
	rows, decisions := filepath.Join(dir, "rows.jsonl"), filepath.Join(dir, "trace.jsonl")
	out := done(t, tiered("--format", "json", "--requests-out", rows, "--trace-level", "decisions", "--trace-out", decisions)...).out
	all := resultOf(t, out)["kv_tiers"].(map[string]any)["cpu"].(map[string]any)["overall"].(map[string]any)
	sum, cached, want := 0.0, 0.0, map[float64]any{}
	for line := range strings.Lines(read(t, rows)) {
		row := resultOf(t, line)
		c, k := row["cpu_tokens"].(float64), row["cached_tokens"].(float64)
		sum, cached = sum+c, cached+k
		switch id := row["request"].(float64); {
		case c > 0:
			want[id] = "cpu"
		case k > 0:
			want[id] = "gpu"
		default:
			want[id] = nil
		}
	}
	if sum == 0 || sum != all["tier_tokens"] || cached-sum != all["gpu_tokens"] {
		t.Errorf("%v tokens from the CPU tier, %v cached; the result has %v and %v of the GPU", sum, cached, all["tier_tokens"], all["gpu_tokens"])
	}
	n := 0
	for line := range strings.Lines(read(t, decisions)) {
		if o := resultOf(t, line); o["type"] == "outcome" {
			if n++; o["tier"] != want[o["request"].(float64)] {
				t.Errorf("request %v: tier %v, want %v", o["request"], o["tier"], want[o["request"].(float64)])
			}
		}
	}
	if n != len(want) {
		t.Errorf("%d outcomes of %d requests", n, len(want))
	}
}

// A storage tier has a line of its own, adds to what was found, and to the rows.
func TestStorageTierIsInTheResult(t *testing.T) {
	rows := filepath.Join(t.TempDir(), "rows.jsonl")
	args := tiered("--kv-cpu-blocks", "300", "--kv-storage", "remote", "--requests-out", rows)
	out := done(t, append(args, "--format", "json")...).out
	tiers := resultOf(t, out)["kv_tiers"].(map[string]any)
	cpu, remote := tiers["cpu"].(map[string]any)["overall"].(map[string]any), tiers["storage"].([]any)[0].(map[string]any)
	if remote["name"] != "remote" || remote["scope"] != "shared" || remote["places"] != 1.0 || remote["capacity_entries"] != nil || remote["read_entries"] != cpu["promoted_entries"] {
		t.Errorf("storage %v, CPU tier %v", remote, cpu)
	}
	if remote["read"].(map[string]any)["bytes"].(float64) != remote["read_entries"].(float64)*16*131072 || remote["questions"].(float64) <= 0 || remote["written_entries"].(float64) <= 0 {
		t.Errorf("storage %v", remote)
	}
	cache := resultOf(t, out)["cache"].(map[string]any)
	if cpu["storage_tokens"].(float64) <= 0 || cpu["storage_tokens"].(float64)+cpu["tier_tokens"].(float64)+cpu["gpu_tokens"].(float64) != cache["cached_tokens"] || cpu["total_hit_rate"] != cache["hit_rate"] {
		t.Errorf("CPU tier %v, cache %v", cpu, cache)
	}
	sum := 0.0
	for line := range strings.Lines(read(t, rows)) {
		sum += resultOf(t, line)["storage_tokens"].(float64)
	}
	if sum != cpu["storage_tokens"] {
		t.Errorf("%v tokens from storage in the rows, %v in the result", sum, cpu["storage_tokens"])
	}
	if out := done(t, args...).out; !strings.Contains(out, "\nremote ") || !strings.Contains(out, "storage shared by all; ") {
		t.Errorf("no line of the storage tier in\n%s", out)
	}
}

// What a result prints of storage tiers is read back as the same.
func TestStorageTiersReadBack(t *testing.T) {
	args := tiered("--kv-cpu-blocks", "300", "--kv-storage", "remote", "--kv-storage", "nvme,64GiB,2GB/s,1GB/s,700us,node", "--format", "json")
	out := done(t, args...).out
	want := "remote,unlimited,20GB/s,10GB/s,1ms,shared;nvme,64GiB,2GB/s,1GB/s,700µs,node" // two instances of one GPU
	if got := resultOf(t, out)["config"].(map[string]any)["kv-storage"]; got != want {
		t.Errorf("kv-storage %v, want %v", got, want)
	}
	again := done(t, "run", "--config", file(t, "result.json", out), "--format", "json").out
	if a, b := resultOf(t, out)["digest"], resultOf(t, again)["digest"]; a != b {
		t.Errorf("digest %v, then %v", a, b)
	}
	for _, text := range []string{"kv-storage: [\"nvme,64GiB\", remote]\n", "kv-storage: nvme,64GiB;remote\n"} {
		out := done(t, tiered("--kv-cpu-blocks", "300", "--config", file(t, "run.yaml", text), "--format", "json")...).out
		if got := resultOf(t, out)["config"].(map[string]any)["kv-storage"]; got != "nvme,64GiB,3GB/s,1.3GB/s,1ms,local;remote,unlimited,20GB/s,10GB/s,1ms,shared" {
			t.Errorf("%q: kv-storage %v", text, got)
		}
	}
	if s := blis(t, nil, tiered("--config", file(t, "run.yaml", "kv-storage: [3]\n"))...); s.code != 2 || !strings.Contains(s.err, "run.yaml:1: kv-storage: ") || !strings.Contains(s.err, "want storage tiers like") {
		t.Errorf("exit %d, %q", s.code, s.err)
	}
}

func TestBadStorageTiers(t *testing.T) {
	for text, want := range map[string]string{
		"disk":                                       "want name,size,read,write,base,scope",
		"nvme,2TiB,3GB/s,1GB/s,1ms,local,x":          "has 7 fields",
		"NVMe,2TiB":                                  "is no name of a storage tier",
		"disk,-1GiB,3GB/s,1GB/s,1ms,local":           `size "-1GiB": want an amount of memory`,
		"disk,0,3GB/s,1GB/s,1ms,local":               `size "0": want`,
		"disk,2 fortnights,3GB/s,1GB/s,1ms,local":    `size "2 fortnights": want`,
		"disk,2TiB,0,1GB/s,1ms,local":                "rate 0: want at least 1kB/s",
		"disk,2TiB,3GB,1GB/s,1ms,local":              `"3GB" is not a rate`,
		"disk,2TiB,3GB/s,100,1ms,local":              `"100" is not a rate`,
		"disk,2TiB,3GB/s,1GB/s,-1ms,local":           `base latency "-1ms": want`,
		"disk,2TiB,3GB/s,1GB/s,1ms,rack":             `scope "rack": want one of local, node, shared`,
		"nvme;nvme":                                  "storage tier nvme is given twice",
		"disk,1kB,3GB/s,1GB/s,1ms,local":             "disk has 1kB: want at least 2MiB",
		"a;b":                                        "",
		"nvme,2TiB,3GB/s,1GB/s,NaN,local":            `base latency "NaN"`,
		"nvme,2TiB,NaNGB/s":                          "is not a rate",
		"d" + strings.Repeat("x", 40) + ",1,1,1,1,1": "is no name of a storage tier",
	} {
		s := blis(t, nil, tiered("--kv-storage", text)...)
		if s.code != 2 || !strings.Contains(s.err, "--kv-storage") || !strings.Contains(s.err, want) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q", text, s.code, s.err, want)
		}
	}
}

// Without a CPU tier nothing is below it.
func TestStorageWithoutCPUTierIsNoted(t *testing.T) {
	if out := done(t, small("--kv-storage", "nvme")...).out; !strings.Contains(strings.Join(strings.Fields(out), " "), "kv-storage has no effect: there is no CPU tier") {
		t.Errorf("no note in\n%s", out)
	}
}

// A trace with storage tiers is read back: its transfers have names, its outcomes the lowest tier.
func TestTraceOfStorageTiersIsSummarized(t *testing.T) {
	decisions := filepath.Join(t.TempDir(), "trace.jsonl")
	done(t, tiered("--kv-cpu-blocks", "300", "--kv-storage", "remote", "--trace-level", "detailed", "--trace-out", decisions)...)
	text := read(t, decisions)
	for _, part := range []string{`"reason":"promotion","from":"remote","to":"cpu"`, `"reason":"offload","from":"cpu","to":"remote"`, `"tier":"storage"`} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in the trace", part)
		}
	}
	if out := strings.Join(strings.Fields(done(t, "trace", "summarize", decisions).out), " "); !strings.Contains(out, " storage writes, ") || !strings.Contains(out, " storage reads, ") {
		t.Errorf("no transfers of storage in\n%s", out)
	}
}
