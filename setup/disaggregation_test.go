package setup

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"blis/engine"
	"blis/vtime"
)

// configOf returns the default configuration with settings, "tp=4 pd-decider=never".
func configOf(t testing.TB, settings string) Config {
	t.Helper()
	c := DefaultConfig()
	var list []Assignment
	for s := range strings.FieldsSeq(settings) {
		name, text, _ := strings.Cut(s, "=")
		list = append(list, Assignment{Name: name, Text: text})
	}
	if err := c.Assign(list); err != nil {
		t.Fatal(err)
	}
	return c
}

func resolved(t testing.TB, settings string) *Plan {
	t.Helper()
	p, err := Resolve(configOf(t, settings))
	if err != nil {
		t.Fatalf("%s: %v", settings, err)
	}
	return p
}

// Each pool has the settings of the run, but for its own.
func TestPoolsOfTwo(t *testing.T) {
	p := resolved(t, "architecture=pd prefill-replicas=3 decode-replicas=5 max-num-seqs=100 prefill-tp=2 prefill-max-num-batched-tokens=16384 decode-hardware=H200 decode-max-num-seqs=300 decode-routing-policy=least-loaded decode-autoscale-policy=threshold decode-max-replicas=9")
	if len(p.Pools) != 2 || len(p.Deployments) != 1 {
		t.Fatalf("%d pools, %d deployments", len(p.Pools), len(p.Deployments))
	}
	prefill, decode, d := p.Pools[0], p.Pools[1], &p.Deployments[0]
	if d.Prefill != prefill || d.Serving != decode || d.PD == nil || d.PoolName(prefill) != "prefill" || d.PoolName(decode) != "decode" {
		t.Errorf("deployment %+v", d)
	}
	if prefill.Instances != 3 || prefill.TP != 2 || prefill.GPU.Name != "H100" || prefill.MaxNumSeqs != 100 || prefill.MaxNumBatchedTokens != 16384 || prefill.Routing.Type != "round-robin" || prefill.Scaling != nil {
		t.Errorf("prefill: %+v", prefill)
	}
	if decode.Instances != 5 || decode.TP != 1 || decode.GPU.Name != "H200" || decode.MaxNumSeqs != 300 || decode.MaxNumBatchedTokens != 8192 || decode.Routing.Type != "least-loaded" || decode.Scaling == nil || decode.Scaling.Max != 9 {
		t.Errorf("decode: %+v", decode)
	}
	if prefill.Blocks <= decode.Blocks || prefill.Latency == nil || decode.Latency == nil || reflect.DeepEqual(prefill.Latency, decode.Latency) {
		t.Errorf("%d and %d blocks; one latency model", prefill.Blocks, decode.Blocks)
	}
	if n, gpus := Instances(&p.Config), GPUs(&p.Config); n != 8 || gpus != 11 {
		t.Errorf("%d instances, %d GPUs", n, gpus)
	}
	s := &p.Summary
	if len(s.Pools) != 2 || s.Pools[0].TP != 2 || s.Pools[0].KVBlocks != prefill.Blocks || s.Pools[1].Hardware != "H200" || s.Pools[1].Instances != 5 || s.Pools[1].MaxNumSeqs != 300 ||
		s.KVBlocks != decode.Blocks || !strings.HasPrefix(s.Latency, "prefill: physics") || !strings.Contains(s.Latency, "; decode: roofline") || !strings.Contains(s.Policies, "decode: admission always-admit, priority constant, routing least-loaded") {
		t.Errorf("summary %+v", s)
	}
}

// The examples: 4,096 tokens of Llama-3.1-8B are 256 blocks of 2 MiB, 0.45 + 15.3 ms at 35 GB/s;
// three blocks of four tokens take 200 + 30.5·3 µs, truncated.
func TestPullOfTheExamples(t *testing.T) {
	const token = 2 * 32 * 8 * 128 * 2 // grouped-query attention, not the 4,096 of the queries
	for _, c := range []struct {
		settings string
		blocks   float64
		us       float64
	}{
		{"", 256, 450 + 256*16*token/35e9*1e6},
		{"block-size-in-tokens=4 pd-transfer-latency=200us pd-transfer-bandwidth=17.18977GB/s", 3, 200 + 30.5*3},
		{"prefill-tp=4 decode-tp=2", 1, 450 + 16*token/70e9*1e6}, // of the side with fewer GPUs
		{"prefill-tp=2 decode-tp=4", 1, 450 + 16*token/70e9*1e6},
		{"model=DeepSeek-V3.1 hardware=H200 prefill-tp=16 decode-tp=8", 1, 450 + 61*(512+64)*2*8*16/(8*35e3)}, // every GPU that decodes has the latent
		{"kv-cache-dtype=fp8", 1, 450 + 16*token/2/35e9*1e6},
		{"pd-kv-bytes-per-token=1MiB pd-transfer-bandwidth=1GB/s", 1, 450 + 16*(1<<20)/1e3},
		{"pd-transfer-bandwidth=tcp pd-transfer-latency=0", 1, 16 * token / 0.5e3},
		{"pd-transfer-bandwidth=pcie-peer", 1, 450 + 16*token/49e3},
		{"pd-transfer-bandwidth=nvlink", 1, 450 + 16*token/(0.75*450e3)},
	} {
		pull := resolved(t, "architecture=pd "+c.settings).Deployments[0].PD.Pull
		if got := pull.Base + float64(pull.PerBlock*c.blocks); math.Abs(got/c.us-1) > 1e-6 {
			t.Errorf("%q: %v µs, want %v", c.settings, got, c.us)
		}
	}
	if ms := 256 * 16 * token / 35e9 * 1e3; math.Abs(ms-15.3) > 0.05 {
		t.Errorf("%v ms", ms)
	}
}

func TestDisaggregationOfTheSettings(t *testing.T) {
	got := *resolved(t, "architecture=pd").Deployments[0].PD
	want := Disaggregation{Decider: DecideAlways, PrefixThreshold: 512, DirectThreshold: 256, HandOffLatency: vtime.Millisecond, Backpressure: 16,
		Disaggregation: engine.Disaggregation{Pull: got.Pull, HoldTimeout: 480 * vtime.Second, MaxModelLen: 131072}}
	if got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	got = *resolved(t, `architecture=pd pd-decider=direct-to-decode pd-prefix-threshold=7 pd-direct-decode-threshold=8 pd-decode-choice=handoff pd-handoff-latency=2ms pd-notify-latency=3ms
		pd-pipeline=0.5 pd-max-held=4 pd-backpressure-threshold=5 pd-hold-timeout=6s pd-failure-rate=0.25 kv-load-failure-policy=recompute decode-max-model-len=5000`).Deployments[0].PD
	want = Disaggregation{Decider: DecideDirect, PrefixThreshold: 7, DirectThreshold: 8, AtHandOver: true, HandOffLatency: 2000, NotifyLatency: 3000, FailureRate: 0.25, Backpressure: 5,
		Disaggregation: engine.Disaggregation{Pull: got.Pull, Recompute: true, StartShare: 0.5, HoldTimeout: 6 * vtime.Second, MaxHeld: 4, MaxModelLen: 5000}}
	if got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestBadDisaggregation(t *testing.T) {
	for settings, want := range map[string]string{
		"num-instances=5":                                         "--num-instances is 5: want none with --architecture pd: its pools have --prefill-replicas and --decode-replicas",
		"pd-ratio=1:1 num-instances=1":                            "--num-instances is 1: want 2 to 1048576 with --pd-ratio",
		"pd-ratio=1:1 prefill-replicas=3":                         "--prefill-replicas is 3: want none with --pd-ratio, which shares --num-instances",
		"pd-ratio=1:1 decode-replicas=3":                          "--decode-replicas is 3: want none with --pd-ratio, which shares --num-instances",
		"prefill-replicas=0":                                      "--prefill-replicas is 0: want 1 to 1048576",
		"decode-replicas=1048575":                                 "--decode-replicas is 1048575: want at most 1048576 with those of prefill",
		"pd-decode-choice=handoff pd-decider=prefix-threshold":    "--pd-decode-choice is handoff: want arrival with --pd-decider prefix-threshold",
		"pd-link=fifo pd-pipeline=0.5":                            "--pd-pipeline is 0.5: want 1 with --pd-link fifo",
		"force-routing=1=0":                                       "--force-routing is 1=0: want none with --architecture pd, which is not modelled yet",
		"pd-handoff-latency=0":                                    "--pd-handoff-latency is 0µs: want 1us or more",
		"pd-hold-timeout=0":                                       "--pd-hold-timeout is 0µs: want 1us or more",
		"pd-pipeline=0":                                           "--pd-pipeline is 0: want a share of the blocks of a pull, above 0 and at most 1",
		"pd-pipeline=NaN":                                         "--pd-pipeline is NaN: want a share",
		"pd-failure-rate=1.5":                                     "--pd-failure-rate is 1.5: want a share of the pulls, 0 to 1",
		"pd-max-held=-1":                                          "--pd-max-held is -1: want 0 (no limit) or more",
		"pd-backpressure-threshold=0":                             "--pd-backpressure-threshold is 0: want at least 1",
		"kv-cpu-blocks=9 kv-offload-policy=threshold":             "--kv-offload-policy is threshold: want write-through or lazy with --architecture pd: what moves is nowhere to be pulled",
		"hardware=L40S pd-transfer-bandwidth=nvlink":              "--pd-transfer-bandwidth is nvlink: L40S has none, want a rate like 35GB/s, or pcie-peer or tcp",
		"prefill-tp=3":                                            "prefill pool: meta-llama/Llama-3.1-8B-Instruct on H100 at TP 3: ",
		"prefill-hardware=H1000":                                  "prefill pool: unknown GPU",
		"hardware=H1000":                                          "unknown GPU",
		"prefill-max-num-seqs=-1":                                 "prefill pool: --prefill-max-num-seqs is -1: want at least 1",
		"decode-min-replicas=4 decode-autoscale-policy=threshold": "decode pool: --decode-replicas is 2: want from --decode-min-replicas 4",
		"decode-routing-scorers=nothing:1 decode-routing-policy=weighted": "decode pool: --decode-routing-scorers: ",
		"model=Llama-3.1-70B-Instruct decode-tp=4":                        "prefill pool: ",
	} {
		c := configOf(t, "architecture=pd "+settings)
		_, err := Resolve(c)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\n%v\nwant %s", settings, err, want)
		}
		if _, again := Effective(c); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: Effective has %v, Resolve %v", settings, again, err)
		}
	}
}

// The configuration that a run prints repeats its plan, also through JSON and as flags.
func TestEffectivePoolsRepeatThePlan(t *testing.T) {
	for _, settings := range []string{
		"",
		"prefill-replicas=1 decode-replicas=7 rate=5",
		"tp=2 prefill-tp=4 decode-tp=8 model=Llama-3.1-70B-Instruct",
		"decode-hardware=H200 kv-cpu-size=64GiB prefill-kv-cpu-size=0 decode-kv-storage=nvme",
		"routing-policy=weighted routing-scorers=queue-depth:3 decode-routing-scorers=kv-utilization:2,queue-depth:1 prefill-scheduler=sjf",
		"autoscale-policy=threshold prefill-autoscale-policy=none decode-max-replicas=6 decode-warmup-duration=3s",
		"prefill-autoscale-policy=threshold prefill-min-replicas=2 snapshot-refresh-interval=50ms decode-in-flight=periodic prefill-prefix-index=events",
		"prefill-alpha-coeffs=1,2,3 prefill-beta-coeffs=4000,5,6 decode-latency-model=roofline decode-no-such=",
		"alpha-coeffs=1,2,3 beta-coeffs=4000,5,6 decode-alpha-coeffs= decode-beta-coeffs= decode-async-scheduling=false",
		"pd-transfer-bandwidth=nvlink decode-routing.params.queue-depth=7 routing-policy=weighted decode-gpu-memory-utilization=0.8",
	} {
		settings = strings.ReplaceAll(settings, " decode-no-such=", "")
		c := configOf(t, "architecture=pd "+settings)
		first, err := Resolve(c)
		if err != nil {
			t.Errorf("%s: %v", settings, err)
			continue
		}
		if got, err := Effective(c); err != nil || text(t, &got) != text(t, &first.Config) {
			t.Errorf("%s: %v\n%s\nResolve has\n%s", settings, err, text(t, &got), text(t, &first.Config))
		}
		if blocks, err := KVBlocks(c); err != nil || blocks != first.Pools[1].Blocks {
			t.Errorf("%s: %d KV blocks, %v; Resolve has %d", settings, blocks, err, first.Pools[1].Blocks)
		}
		var fromJSON, fromFlags Config
		if err := json.Unmarshal([]byte(text(t, &first.Config)), &fromJSON); err != nil {
			t.Fatal(err)
		}
		fromFlags = DefaultConfig()
		for _, f := range Flags(&first.Config) {
			name, value, given := strings.Cut(strings.TrimPrefix(f, "--"), "=")
			if !given {
				value = "true"
				if off, found := strings.CutPrefix(name, "no-"); found {
					name, value = off, "false"
				}
			}
			if err := fromFlags.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		for way, again := range map[string]Config{"itself": first.Config, "JSON": fromJSON, "flags": fromFlags} {
			second, err := Resolve(again)
			if err != nil {
				t.Errorf("%s, by %s: %v", settings, way, err)
				continue
			}
			if got, want := text(t, &second.Config), text(t, &first.Config); got != want {
				t.Errorf("%s, by %s:\n%s\nwas\n%s", settings, way, got, want)
			}
			for i := range first.Pools {
				if !reflect.DeepEqual(first.Pools[i], second.Pools[i]) {
					t.Errorf("%s, by %s: pool %d is\n%+v\nwas\n%+v", settings, way, i, second.Pools[i], first.Pools[i])
				}
			}
			if *first.Deployments[0].PD != *second.Deployments[0].PD {
				t.Errorf("%s, by %s: %+v, was %+v", settings, way, second.Deployments[0].PD, first.Deployments[0].PD)
			}
		}
	}
}

// What the pools have alike stands in the configuration, not in each pool.
func TestPoolsShareWhatTheyHaveAlike(t *testing.T) {
	c := resolved(t, "architecture=pd autoscale-policy=threshold decode-min-replicas=1 prefill-tp=1").Config
	if !c.Prefill.Equal(Overrides{}) || !c.Decode.Equal(Overrides{}) || c.MaxReplicas != 4 || c.TotalKVBlocks != 28355 || !*c.AsyncScheduling {
		t.Errorf("%d replicas at most, %d blocks; prefill %v, decode %v", c.MaxReplicas, c.TotalKVBlocks, c.Prefill, c.Decode)
	}
	c = resolved(t, "architecture=pd decode-autoscale-policy=threshold").Config
	if !c.Prefill.Equal(Overrides{}) || len(c.Decode.Names()) != 1 || c.AutoscalePolicy != "none" {
		t.Errorf("prefill %v, decode %v", c.Prefill, c.Decode)
	}
}

// The default rate is a share of what the weaker pool completes.
func TestCapacityOfTwoPools(t *testing.T) {
	p := resolved(t, "architecture=pd prefill-replicas=1 decode-replicas=100")
	q := resolved(t, "architecture=pd prefill-replicas=3 decode-replicas=100")
	r := resolved(t, "architecture=pd prefill-replicas=100 decode-replicas=1")
	s := resolved(t, "architecture=pd prefill-replicas=100 decode-replicas=2")
	if a, b := p.Summary.Capacity, q.Summary.Capacity; math.Abs(b/a-3) > 1e-9 {
		t.Errorf("%v of one prefill instance, %v of three", a, b)
	}
	if a, b := r.Summary.Capacity, s.Summary.Capacity; math.Abs(b/a-2) > 1e-9 {
		t.Errorf("%v of one decode instance, %v of two", a, b)
	}
	one := resolved(t, "num-instances=1").Summary.Capacity
	if prefill, decode := p.Summary.Capacity, r.Summary.Capacity; prefill < one || decode < one || math.Abs(1/(1/prefill+1/decode)/one-1) > 0.3 {
		t.Errorf("%v of an instance, %v of prefill, %v of decode", one, prefill, decode)
	}
	if got := p.Config.Rate / p.Summary.Capacity; math.Abs(got-0.8) > 0.01 {
		t.Errorf("rate %v", p.Config.Rate)
	}
}

// Settings of architecture pd are noted where there are none of its pools, and those that pools
// share once.
func TestNotesOfTwoPools(t *testing.T) {
	quiet := resolved(t, "architecture=pd tp=2 prefill-tp=1 decode-tp=4")
	if again, err := Resolve(quiet.Config); err != nil || strings.Contains(strings.Join(again.Summary.Notes, "\n"), "no effect") {
		t.Errorf("%v; the effective configuration has settings without an effect: %q", err, again.Summary.Notes)
	}
	for settings, want := range map[string]string{
		"pd-decider=never prefill-tp=4 decode-replicas=3":        "decode-replicas, prefill, pd-decider have no effect: architecture is monolithic",
		"architecture=pd tp=2 prefill-tp=1 decode-tp=4":          "tp has no effect: prefill and decode have their own",
		"architecture=pd pd-prefix-threshold=4":                  "pd-prefix-threshold has no effect: pd-decider is always",
		"architecture=pd kv-eviction=arc":                        "kv-eviction has no effect: there is no CPU tier",
		"architecture=pd kv-eviction=arc decode-kv-cpu-blocks=7": "prefill: kv-eviction has no effect: there is no CPU tier",
	} {
		if notes := strings.Join(resolved(t, settings).Summary.Notes, "\n"); strings.Count(notes, want) != 1 || strings.Contains(notes, ": "+want) {
			t.Errorf("%s: notes\n%s\nwant %s", settings, notes, want)
		}
	}
}

// A configuration whose files of pools are replaced leaves the one that it was copied from alone.
func TestReplacePoolFiles(t *testing.T) {
	c := configOf(t, "architecture=pd prefill-coefficients=a prefill-tp=2 decode-coefficients=b")
	listed := DefaultConfig()
	if err := listed.Set("deployments", "[{id: x, model-config-folder: c, architecture: pd, coefficients: d, prefill: {replicas: 1, coefficients: e}, decode: {replicas: 1, coefficients: f}}]"); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]Config{"a b": c, "c d e f": listed} {
		before, copied := text(t, &c), c
		var got []string
		err := ReplacePoolFiles(&copied, func(setting, path string) (string, error) {
			got = append(got, path)
			return "other", nil
		})
		if err != nil || strings.Join(got, " ") != want || strings.Count(text(t, &copied), "other") != len(got) {
			t.Errorf("%q, %v: want %s; now %s", got, err, want, text(t, &copied))
		}
		if now := text(t, &c); now != before {
			t.Errorf("the configuration was\n%s\nand is\n%s", before, now)
		}
	}
}
