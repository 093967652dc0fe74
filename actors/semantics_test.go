package actors

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blis/setup"
)

var updateDigests = flag.Bool("update-digests", false, "write testdata/digests.txt, for a new SemanticsVersion")

// digestCases are configurations that together meet most of what a run does.
var digestCases = []struct {
	name string
	set  func(*Config)
}{
	{"defaults", func(c *Config) { c.Coefficients = "" }},
	{"blackbox", func(c *Config) {
		c.AlphaCoeffs, c.BetaCoeffs = []float64{1601.35, 3.51, 1805.54}, []float64{6910.42, 17.67, 2.84}
	}},
	{"roofline, TP 2, preemptions", func(c *Config) { c.LatencyModel, c.TP, c.TotalKVBlocks, c.NumInstances = "roofline", 2, 500, 2 }},
	{"weighted, cache", func(c *Config) { c.Scenario, c.RoutingPolicy, c.NumRequests = "prefix-heavy", "weighted", 400 }},
	{"sessions, priorities", func(c *Config) {
		c.Scenario, c.PriorityPolicy, c.Scheduler = "multi-turn-chat", "slo-based", "priority-fcfs"
		c.NumRequests = 300
	}},
	{"stale signals", func(c *Config) {
		c.RoutingPolicy, c.SnapshotRefreshInterval, c.InFlight = "least-loaded", 50_000, "periodic"
	}},
	{"closed loop", func(c *Config) { c.Concurrency, c.ThinkTime = 40, 200_000 }},
	{"autoscaled", func(c *Config) {
		c.AutoscalePolicy, c.DrainPolicy, c.RoutingPolicy, c.NumRequests = "target-utilization", "redirect", "least-loaded", 3000
		c.NumInstances, c.MaxReplicas, c.Rate, c.ProvisioningDelay.Mean = 1, 6, 120, 2_000_000
	}},
	{"time-outs, token bucket", func(c *Config) {
		c.AdmissionPolicy, c.Timeout, c.NumInstances, c.Rate = "token-bucket", 3_000_000, 1, 90
	}},
}

// TestDigestsAreThoseOfTheSemanticsVersion: a digest that changes needs a new
// SemanticsVersion, and a new version new digests. -update-digests writes them.
func TestDigestsAreThoseOfTheSemanticsVersion(t *testing.T) {
	text := fmt.Sprintf("version %d\n", SemanticsVersion)
	for _, k := range digestCases {
		c := Config{Config: setup.DefaultConfig(), Execution: Execution{Workers: 1}}
		k.set(&c)
		r, err := Run(context.Background(), c)
		if err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
		text += r.Digest + " " + k.name + "\n"
	}
	file := filepath.Join("..", "testdata", "digests.txt")
	kept, err := os.ReadFile(file)
	if err != nil && !*updateDigests {
		t.Fatal(err)
	}
	if string(kept) == text {
		return
	}
	version := func(s string) string { head, _, _ := strings.Cut(s, "\n"); return head }
	switch same := version(string(kept)) == version(text); {
	case same:
		t.Errorf("digests changed, so SemanticsVersion must go up:\n%s\nare now\n%s", kept, text)
	case !*updateDigests:
		t.Errorf("SemanticsVersion is not that of testdata/digests.txt: go test ./actors -run DigestsAreThose -update-digests")
	default:
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
