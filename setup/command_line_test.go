package setup

import (
	"reflect"
	"strings"
	"testing"

	"blis/bundle"
)

// TestFlagsGiveTheConfiguration: the flags of a configuration make an equal one.
func TestFlagsGiveTheConfiguration(t *testing.T) {
	off, seed := false, uint64(7)
	weighted, err := bundle.Parse("b.yaml", []byte("routing: {type: weighted, params: {queue-depth: 3}}\nscheduler: {type: sjf}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"nothing":  func(*Config) {},
		"numbers":  func(c *Config) { c.Rate, c.TP, c.NumInstances, c.MaxNumSeqs = 12.5, 4, 3, 128 },
		"switches": func(c *Config) { c.AsyncScheduling, c.EnablePrefixCaching, c.EnableExpertParallel = &off, false, true },
		"seeds":    func(c *Config) { c.Seed, c.WorkloadSeed = 9, &seed },
		"lists":    func(c *Config) { c.AlphaCoeffs, c.BetaCoeffs = []float64{1, 2, 3}, []float64{4, 5.5, 6} },
		"policy": func(c *Config) {
			c.RoutingPolicy = "least-loaded"
			c.Policies.Set("routing.type", "least-loaded")
		},
		"bundle": func(c *Config) {
			if err := c.UseBundle(weighted); err != nil {
				t.Fatal(err)
			}
		},
	} {
		want := DefaultConfig()
		change(&want)
		got := DefaultConfig()
		for _, flag := range Flags(&want) {
			flag, value, given := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
			if !given {
				if positive, off := strings.CutPrefix(flag, "no-"); off {
					flag, value = positive, "false"
				} else {
					value = "true"
				}
			}
			if flag == "policies" {
				b, err := bundle.Parse("", []byte(value))
				if err != nil || got.UseBundle(b) != nil {
					t.Fatalf("%s: %s: %v", name, value, err)
				}
			} else if err := got.Set(flag, value); err != nil {
				t.Fatalf("%s: --%s=%s: %v", name, flag, value, err)
			}
		}
		if name == "policy" {
			got.Policies.Set("routing.type", got.RoutingPolicy)
		}
		if !got.Policies.Equal(want.Policies) {
			t.Errorf("%s: policies %v, want %v", name, got.Policies, want.Policies)
		}
		got.Policies, want.Policies = bundle.Bundle{}, bundle.Bundle{}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v gives another configuration", name, Flags(&want))
		}
	}
}

// The line has the CPU tier too, in vLLM's words.
func TestServeArgumentsHaveTheCPUTier(t *testing.T) {
	c := DefaultConfig()
	c.KVCPUBlocks, c.KVOffloadBlockSize, c.KVEviction, c.KVStoreThreshold = 700, 32, "arc", 2
	want, err := Effective(c)
	if err != nil {
		t.Fatal(err)
	}
	again := DefaultConfig()
	if _, err := again.Serve(ServeArguments(&want, want.Model)); err != nil {
		t.Fatal(err)
	}
	if got, err := Effective(again); err != nil || !reflect.DeepEqual(got.KVTier, want.KVTier) {
		t.Errorf("%+v, %v, want %+v", got.KVTier, err, want.KVTier)
	}
	for _, policy := range []string{LazyOffload, ThresholdOffload} {
		x := DefaultConfig()
		x.KVCPUBlocks, x.KVOffloadPolicy = 700, policy
		if want, err = Effective(x); err != nil || strings.Contains(strings.Join(ServeArguments(&want, want.Model), " "), "kv-") {
			t.Errorf("the OffloadingConnector has no policy %s: %v, %v", policy, ServeArguments(&want, want.Model), err)
		}
	}
	c.KVEviction = "lfu"
	if want, err = Effective(c); err != nil || strings.Contains(strings.Join(ServeArguments(&want, want.Model), " "), "kv-") {
		t.Errorf("vLLM has no lfu: %v, %v", ServeArguments(&want, want.Model), err)
	}
}

// TestServeArgumentsReadBack: the line that starts a server is one that BLIS reads as the same
// engine.
func TestServeArgumentsReadBack(t *testing.T) {
	c := DefaultConfig()
	c.TP, c.MaxNumSeqs, c.MaxNumBatchedTokens = 2, 256, 4096
	c.GPUMemoryUtilization, c.EnablePrefixCaching, c.Quantization, c.BlockSizeInTokens = 0.85, false, "fp8", 32
	c.Scheduler = "priority-fcfs"
	line := ServeArguments(&c, c.Model)
	got := DefaultConfig()
	if _, err := got.Serve(line); err != nil {
		t.Fatalf("%v: %v", line, err)
	}
	got.Scheduler = strings.TrimSuffix(got.Scheduler, "-fcfs") + "-fcfs"
	if !reflect.DeepEqual(got, c) {
		t.Errorf("%s: %v, want %v", strings.Join(line, " "), Flags(&got), Flags(&c))
	}
}
