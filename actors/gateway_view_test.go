package actors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"blis/vtime"
)

// TestGatewayReadsNothingAhead: a cycle that counts requests in flight takes in no signals of instances, for which
// nobody has waited; a routing decision between the same refreshes reads them later. This trial did.
func TestGatewayReadsNothingAhead(t *testing.T) {
	mustAgree(t, drawGated(100227), everyExecutor(0))
}

// TestGatewayForeseesItsTicks: an instance that starts opens the gate at the next tick, which was not known before.
// That tick reads signals, so instances have to come that far: in these trials one did not.
func TestGatewayForeseesItsTicks(t *testing.T) {
	mustAgree(t, drawGated(71982), everyExecutor(0))
}

// TestGatewayCandidates: an instance that the router knows to be down makes no room.
func TestGatewayCandidates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "failures.yaml")
	if err := os.WriteFile(file, []byte("failures:\n  - {crash: instance-1, at: 1ms, for: 1s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := gatewayExample(t, 1, func(c *Config) { c.NumInstances, c.Failures = 2, file }, sample{at: 2000, output: 5}, sample{at: 3500, output: 1})
	if want := []string{"completed 0 7000", "completed 4500 9000"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestManyTenants: ten thousand tenants wait in turn, one of them with a long name.
func TestManyTenants(t *testing.T) {
	var list []sample
	long := make([]byte, 10_000)
	for i := range long {
		long[i] = 'x'
	}
	for i := range 10_000 {
		list = append(list, sample{vtime.Time(i), 1, fmt.Sprint("tenant-", i), ""})
	}
	list[500].tenant = string(long)
	for _, fairness := range []string{"round-robin", "vtc", "global-strict"} {
		got := gatewayExample(t, 100, func(c *Config) { c.FairnessPolicy, c.MaxNumSeqs = fairness, 100 }, list...)
		for i, row := range got {
			if row[:9] != "completed" {
				t.Fatalf("%s: request %d: %s", fairness, i, row)
			}
		}
	}
}

// TestGateThatStaysClosed: where no instance will ever be ready the run fails, and says why.
func TestGateThatStaysClosed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "failures.yaml")
	if err := os.WriteFile(file, []byte("failures:\n  - {crash: all, at: 1ms}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range Executors(2) {
		cfg := DefaultConfig()
		cfg.FlowControl, cfg.Failures, cfg.NumRequests = true, file, 30
		cfg.Execution = x.Execution
		_, err := Run(context.Background(), cfg)
		var closed *ClosedGate
		if !errors.As(err, &closed) || closed.Waiting < 25 || closed.Error() != err.Error() {
			t.Errorf("%s: %v, want that requests wait for ever", x.Name, err)
		}
		cfg.RequestTTL = vtime.Second
		if _, err := Run(context.Background(), cfg); err != nil {
			t.Errorf("%s: with a TTL: %v", x.Name, err)
		}
	}
}
