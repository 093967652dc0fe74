package policy_test

import (
	"testing"

	"blis/bundle"
	"blis/policy"
)

// TestBundleSetsTheFreshnessOfAnOwnSignal reads it from a file and by its path.
func TestBundleSetsTheFreshnessOfAnOwnSignal(t *testing.T) {
	policy.WithOwn(func() {
		own := policy.RegisterSignal("free_share", func(*policy.InstanceState) float64 { return 0 })
		b, err := bundle.Parse("p.yaml", []byte("observability: {free_share: 50ms}"))
		if err != nil || *b.Observability.Fresh.Of(own) != "50ms" || b.Get("observability.free_share") != "50ms" {
			t.Errorf("%v, %+v", err, b.Observability)
		}
	})
	if _, err := bundle.Parse("p.yaml", []byte("observability: {free_share: 50ms}")); err == nil {
		t.Error("a signal that nobody registered has a freshness")
	}
}
