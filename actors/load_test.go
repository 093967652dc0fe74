package actors

import (
	"strings"
	"testing"
)

// loadOf runs a configuration and returns its load.
func loadOf(t *testing.T, change func(*Config)) Load {
	t.Helper()
	cfg := DefaultConfig()
	cfg.NumRequests = 2000
	change(&cfg)
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r.Load()
}

// Load follows the rate, not how often a step is executing.
func TestLoadIsAShareOfCapacity(t *testing.T) {
	usual := loadOf(t, func(*Config) {})
	if l := *usual.Share; l < 0.72 || l > 0.88 {
		t.Errorf("load %.3f at 80 %% of the capacity estimated before the run", l)
	}
	half := loadOf(t, func(c *Config) { c.Rate = 68 })
	if ratio := *half.Share / *usual.Share; ratio < 0.45 || ratio > 0.55 {
		t.Errorf("at half the rate %.3f of the load", ratio)
	}
	if more := loadOf(t, func(c *Config) { c.Rate = 340 }); *more.Share < 1.7 {
		t.Errorf("load %.3f at twice the capacity", *more.Share)
	}
	eight := loadOf(t, func(c *Config) { c.NumInstances, c.Rate = 8, 136 })
	if ratio := *eight.Capacity / *usual.Capacity; ratio < 1.95 || ratio > 2.05 {
		t.Errorf("twice the instances have %.3f times the capacity", ratio)
	}
}

// What the cache saves is capacity.
func TestLoadCountsWhatTheCacheSaves(t *testing.T) {
	shared := func(c *Config) { c.PrefixTokens, c.Rate = 2000, 40 }
	with := loadOf(t, shared)
	without := loadOf(t, func(c *Config) { shared(c); c.EnablePrefixCaching = false })
	if *with.Capacity < 1.5*(*without.Capacity) {
		t.Errorf("capacity %.1f with a cache, %.1f without", *with.Capacity, *without.Capacity)
	}
}

func TestUseOfLimits(t *testing.T) {
	l := loadOf(t, func(c *Config) { c.NumInstances, c.NumRequests, c.Rate, c.MaxNumSeqs = 1, 3000, 500, 16 })
	if *l.MaxSeqs < 0.95 || *l.MaxSeqs > 1 {
		t.Errorf("max_num_seqs %.3f where requests queue for it", *l.MaxSeqs)
	}
	l = loadOf(t, func(c *Config) {
		c.NumInstances, c.NumRequests, c.Rate, c.MaxNumBatchedTokens, c.PromptTokens, c.OutputTokens = 1, 500, 500, 256, 4000, 8
	})
	if *l.Budget < 0.9 || *l.Budget > 1 {
		t.Errorf("token budget %.3f where every step is full", *l.Budget)
	}
	idle := loadOf(t, func(c *Config) { c.AdmissionPolicy = "reject-all" })
	if idle.Share != nil || idle.Capacity != nil || *idle.MaxSeqs != 0 || idle.Budget != nil {
		t.Errorf("load of nothing: %+v", idle)
	}
}

// The capacity of prefill and decode instances is that of the weaker side.
func TestLoadOfPrefillAndDecodeInstances(t *testing.T) {
	of := func(prefill, decode int) Load {
		return loadOf(t, func(c *Config) { c.Architecture, c.PrefillReplicas, c.DecodeReplicas = "pd", prefill, decode })
	}
	few, more, other := of(1, 8), of(2, 8), of(8, 1)
	for _, l := range []Load{few, more, other} {
		if s := *l.Share; s < 0.6 || s > 1 {
			t.Errorf("load %.3f at 80 %% of the capacity estimated before the run", s)
		}
	}
	if ratio := *more.Capacity / *few.Capacity; ratio < 1.95 || ratio > 2.05 {
		t.Errorf("twice the prefill instances have %.3f times the capacity", ratio)
	}
	if *other.Capacity == *few.Capacity {
		t.Errorf("%v of one prefill or one decode instance", *few.Capacity)
	}
}

// A setting of signals has an effect if the policy of any pool reads it.
func TestSignalsOfAnyPoolAreRead(t *testing.T) {
	for settings, noted := range map[string]bool{"": true, "decode-routing-policy": false, "prefill-routing-policy": false} {
		cfg := DefaultConfig()
		cfg.Architecture, cfg.NumRequests, cfg.Signals = "pd", 10, "per-step"
		if settings != "" {
			if err := cfg.Set(settings, "least-loaded"); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		found := strings.Contains(strings.Join(r.Setup.Notes, "\n"), "signals has no effect")
		if found != noted {
			t.Errorf("%q: noted %v; %q", settings, found, r.Setup.Notes)
		}
	}
}
