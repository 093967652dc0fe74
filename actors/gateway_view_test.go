package actors

import (
	"context"
	"encoding/json"
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
// That tick reads signals, so instances have to come that far: in this random trial one did not.
func TestGatewayForeseesItsTicks(t *testing.T) {
	const drawn = `{"config": {"alpha-coeffs": [50, 0.5, 20], "autoscale-interval": "5ms", "autoscale-trigger": "event", "beta-coeffs": [300.3, 1.37, 7.11], "dispatch-credit": true, "dispatch-tick-interval": "1\u00b5s", "flow-control": true, "in-flight": "periodic", "kv-cpu-blocks": 3, "max-concurrency": 2, "max-gateway-queue-depth": 13, "min-replicas": 0, "model-load-time": "0\u00b5s", "num-instances": 2, "num-requests": 40, "provisioning-delay": "0\u00b5s,cv=2", "request-ttl": "5ms", "routing-latency": "250\u00b5s", "routing-policy": "weighted", "routing-scorers": "prefix-affinity:1", "saturation-detector": "concurrency", "seed": 3144521595, "snapshot-refresh-interval": "700\u00b5s", "total-kv-blocks": 46, "usage-limit-threshold": 0.5, "warmup-duration": "2ms", "warmup-routable": false}, "closed_loop": 3538141666127872731, "reads_signals": 68062, "noisy_autoscaler": 2563, "checks": "50\u00b5s", "fresh": {"128": 50, "4": 50}}`
	var x trial
	if err := json.Unmarshal([]byte(drawn), &x); err != nil {
		t.Fatal(err)
	}
	mustAgree(t, &x, everyExecutor(0))
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
