package bundle

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"blis/policy"
)

// idOf is the ID of a bundle in YAML.
func idOf(t *testing.T, text string) string {
	t.Helper()
	b, err := Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	id, err := b.ID()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestIDCountsByValue: how a value is written, who wrote it and which defaults were
// spelled out does not count.
func TestIDCountsByValue(t *testing.T) {
	for _, same := range [][]string{
		{"{}", "routing: {type: round-robin}", "metadata: {generation: 3}"},
		{
			"routing: {type: weighted}",
			"routing: {type: weighted, params: {prefix-affinity: 3, queue-depth: 2.0, kv-utilization: +2}}",
			"routing: {type: weighted, params: {tie: random, prefix-affinity: 3e0, queue-depth: 2, kv-utilization: 2}}",
		},
		{"autoscale: {type: threshold, params: {cooldown: 1s}}", "autoscale: {type: threshold, params: {cooldown: 1000ms}}"},
		{"autoscale: {type: threshold, interval: 1s}", "autoscale: {type: threshold, interval: 1000000us}"},
		{"observability: {queue_depth: 50ms}", "observability: {queue_depth: 50000}"},
		{
			"autoscale: {type: threshold, actuation: {model_load: 40s}}",
			`autoscale: {type: threshold, actuation: {model_load: "40000ms,cv=0.0"}}`,
		},
		{`autoscale: {type: threshold, trigger: "queue>5, load<0.3 for 60s"}`, `autoscale: {type: threshold, trigger: "queue>5,load<0.3  for 60s"}`},
		{"autoscale: {type: threshold, max: 8}", "autoscale: {type: threshold, max: 8.0}"},
	} {
		for _, text := range same[1:] {
			if idOf(t, text) != idOf(t, same[0]) {
				t.Errorf("%s and %s have different IDs", same[0], text)
			}
		}
	}
}

// TestIDsOfOtherPolicies differ, in whatever the policies differ.
func TestIDsOfOtherPolicies(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{
		"{}",
		"routing: {type: least-loaded}",
		"routing: {type: least-loaded, params: {tie: lowest}}",
		"routing: {type: weighted}",
		"routing: {type: weighted, params: {queue-depth: 2, prefix-affinity: 3, kv-utilization: 2}}", // another order of the sum
		"routing: {type: weighted, params: {prefix-affinity: 3, queue-depth: 2}}",
		"admission: {type: tenant-quota, tenants: {gold: 5}}",
		"admission: {type: tenant-quota, tenants: {gold: 6}}",
		"admission: {type: tenant-quota, tenants: {silver: 5}}",
		"autoscale: {type: threshold, max: 8}",
		"autoscale: {type: threshold, actuation: {model_load: 40s}}",
		`autoscale: {type: threshold, actuation: {model_load: "40s,cv=0.2"}}`,
		"observability: {refresh: 50ms}",
		"observability: {queue_depth: 50ms}",
		"observability: {queue_depth: immediate}",
	} {
		id := idOf(t, text)
		if other, twice := seen[id]; twice {
			t.Errorf("%s and %s have the same ID", text, other)
		}
		seen[id] = text
	}
}

// TestIDStaysTheSame: programs keep IDs beside results of other days. Whoever changes a
// default or adds a parameter that is not Quiet changes IDs, and says so in the changelog.
func TestIDStaysTheSame(t *testing.T) {
	const want = "00e7f4d4e668ef00d86478629841d9bf724bc3cd64c39908d02efa0093b1e12a"
	if got := idOf(t, "routing: {type: least-loaded}"); got != want {
		t.Errorf("ID %s, want %s", got, want)
	}
}

// TestIDOfAnyBundle is that of its completed self and of what its JSON reads back as.
func TestIDOfAnyBundle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBundle(t)
		id, err := b.ID()
		if _, refused := b.Complete(); (err == nil) != (refused == nil) {
			t.Fatalf("ID: %v, Complete: %v", err, refused)
		}
		if err != nil {
			return
		}
		complete, _ := b.Complete()
		text, err := json.Marshal(complete)
		if err != nil {
			t.Fatal(err)
		}
		var back Bundle
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		for _, other := range []Bundle{complete, back} {
			if got, err := other.ID(); err != nil || got != id {
				t.Errorf("%s: ID %s (%v), want %s", text, got, err, id)
			}
		}
	})
}

// TestIDChangesNothing: the bundle is the caller's.
func TestIDChangesNothing(t *testing.T) {
	b, err := Parse("x.yaml", []byte("routing: {type: weighted, params: {queue-depth: 2.0}}\nmetadata: {a: 1}"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = b.Complete(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ID(); err != nil {
		t.Fatal(err)
	}
	if got := b.Routing.Params[0]; got != (policy.Setting{Name: "queue-depth", Value: "2.0"}) || b.Metadata == nil {
		t.Errorf("%v, %v", got, b.Metadata)
	}
}
