package actors

import (
	"testing"

	"blis/metrics"
)

// A request that goes on after its instance was taken away, and then ends at the router, names that
// instance and its pool.
func TestReturnedRequestNamesThePoolOfItsInstance(t *testing.T) {
	r := &router{fleet: fleet{ranks: []*place{{server: &server{pool: &pool{index: 0}}}, {server: &server{pool: &pool{index: 2}}}}}}
	r.outcome = metrics.Outcome{Instance: -1}
	r.describeTransfer(&transfer{noProgress(), 1})
	if r.outcome.Pool != 2 || r.outcome.Instance != 1 {
		t.Errorf("pool %d, instance %d; want 2 and 1", r.outcome.Pool, r.outcome.Instance)
	}
	row := Row{Outcome: &r.outcome, names: rowNames{pools: []poolName{{"chat/prefill", "chat"}, {"chat/decode", "chat"}, {"small", "small"}}}}
	if deployment, pool := Place(&row); deployment != "small" || pool != "small" {
		t.Errorf("pool %q of %q", pool, deployment)
	}
	r.outcome.Instance = -1
	if deployment, pool := Place(&row); deployment+pool != "" {
		t.Errorf("pool %q of %q without an instance", pool, deployment)
	}
}
