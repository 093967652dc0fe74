package actors

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"blis/trace"
	"blis/vtime"
	"blis/workload"
)

// decisionsOf runs 300 requests of five prompts over four instances, and returns the records.
func decisionsOf(t *testing.T, seed uint64, level trace.Level, change func(*Config)) (records []map[string]any, digest string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	var labels workload.Labels
	tenants := []workload.Label{labels.Tenants.Label("a"), labels.Tenants.Label("b")}
	var requests []workload.Request
	at := vtime.Time(0)
	for range 300 {
		at += vtime.Time(rng.IntN(4000))
		prompt := 1 + rng.IntN(5)
		r := request(at, int32(40*prompt+rng.IntN(20)), 1+int32(rng.IntN(4)))
		r.Spans = []workload.Span{{Content: workload.ContentID(prompt), Length: r.Input}}
		r.Tenant = tenants[rng.IntN(2)]
		requests = append(requests, r)
	}
	source, err := workload.NewSlice(requests, labels)
	if err != nil {
		t.Fatal(err)
	}
	cfg, k := small(t), &kept{}
	cfg.Custom.Source, cfg.NumInstances = source, 4
	if level != trace.None {
		cfg.Tracing = Tracing{Level: level, Consumer: k}
	}
	change(&cfg)
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range k.lines {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	return records, r.Digest
}

// watchers are policies of which some expect prefixes and some do not, one less than the caches
// hold.
var watchers = map[string]func(*Config){
	"round-robin":   func(c *Config) { c.RoutingPolicy = "round-robin" },
	"least-loaded":  func(c *Config) { c.RoutingPolicy = "least-loaded" },
	"weighted":      func(c *Config) { c.RoutingPolicy = "weighted" },
	"a small index": func(c *Config) { c.RoutingPolicy, c.PrefixIndexBlocks = "prefix-affinity", "1" },
	"quotas": func(c *Config) {
		c.RoutingPolicy = "round-robin"
		c.Policies.Set("admission.type", "tenant-quota") // these cannot fail
		c.Policies.Set("admission.params.max_active", "3")
	},
}

// TestTraceKnowsWhoHoldsPrefixes with any policy: what was sent to an instance before, of the
// same content, in whole blocks. Nothing is evicted here.
func TestTraceKnowsWhoHoldsPrefixes(t *testing.T) {
	for name, change := range watchers { // any order
		const seed, block = 11, 16
		records, _ := decisionsOf(t, seed, trace.Detailed, change)
		sent := map[int]map[string]int{} // by instance, the blocks of a content
		away := 0
		for _, r := range records {
			if r["type"] != "routing" {
				continue
			}
			input, target := int(r["input_tokens"].(float64)), int(r["target"].(float64))
			prefix := r["prefix"].(map[string]any)
			content, blocks := prefix["first"].(string), int(prefix["blocks"].(float64))
			have := func(i int) int { return min(min(sent[i][content], blocks)*block, (input-1)/block*block) }
			most, at := 0, any(nil)
			for i := range 4 {
				if n := have(i); n > most {
					most, at = n, float64(i)
				}
			}
			held := r["held"].(map[string]any)
			if held["target_tokens"] != float64(have(target)) || held["most_tokens"] != float64(most) || held["most_at"] != at {
				t.Fatalf("%s, seed %d: request %v to %d: held is %v, want %d of target, %d of %v", name, seed, r["request"], target, held, have(target), most, at)
			}
			if most > have(target) {
				away++
			}
			if sent[target] == nil {
				sent[target] = map[string]int{}
			}
			sent[target][content] = max(sent[target][content], blocks)
		}
		if away == 0 && name == "round-robin" {
			t.Errorf("%s: no request went away from a prefix: the test proves nothing", name)
		}
	}
}

// TestTraceHasRouterState: counts of the router are those of the records before; what no policy
// reads is null.
func TestTraceHasRouterState(t *testing.T) {
	refused := false
	for name, change := range watchers { // any order
		const seed = 12
		records, _ := decisionsOf(t, seed, trace.Detailed, change)
		arrived, admitted, rejected := map[float64]bool{}, 0.0, 0.0
		for _, r := range records {
			switch r["type"] {
			case "admission":
				arrived[r["request"].(float64)] = true
				switch r["verdict"] {
				case "admit":
					admitted++
				case "reject":
					rejected++
				}
			case "routing":
				s := r["router_state"].(map[string]any)
				if s["arrived"] != float64(len(arrived)) || s["admitted"] != admitted || s["rejected"] != rejected {
					t.Fatalf("%s, seed %d: request %v: %v, want %d arrived, %v admitted, %v rejected", name, seed, r["request"], s, len(arrived), admitted, rejected)
				}
				if rejected > 0 {
					refused = true
				}
				if quotas := name == "quotas"; (s["active"] != nil) != quotas || (s["tenant_active"] != nil) != quotas || s["rate"] != nil || s["tenant_burst"] != nil {
					t.Fatalf("%s: %v", name, s)
				}
				if a, of := s["active"], s["tenant_active"]; a != nil && (a.(float64) < of.(float64) || of.(float64) < 1) {
					t.Fatalf("%s: %v", name, s)
				}
			}
		}
	}
	if !refused {
		t.Error("nothing was rejected: the test proves less than it could")
	}
}

// TestStateIsOfDetailedTraces alone, and a trace changes no run.
func TestStateIsOfDetailedTraces(t *testing.T) {
	for name, change := range watchers { // any order
		_, plain := decisionsOf(t, 13, trace.None, change)
		for _, level := range []trace.Level{trace.Decisions, trace.Detailed} {
			records, digest := decisionsOf(t, 13, level, change)
			if digest != plain {
				t.Errorf("%s: the digest with a trace is %s, without %s", name, digest, plain)
			}
			for _, r := range records {
				if r["type"] == "routing" && ((r["router_state"] != nil) != (level == trace.Detailed) || (r["prefix"] != nil) != (level == trace.Detailed) || r["held"] == nil) {
					t.Fatalf("%s, %v: %v", name, level, r)
				}
			}
		}
	}
}
