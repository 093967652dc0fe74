package bundle

import "testing"

func TestWhichBundlesDependOnTheSeed(t *testing.T) {
	for _, c := range []struct {
		bundle string
		want   bool
	}{
		{"", false},
		{"routing: {type: round-robin}", false},
		{"routing: {type: least-loaded}", true},
		{"routing: {type: least-loaded, params: {tie: lowest}}", false},
		{"routing: {type: weighted, params: {queue-depth: 1, tie: random}}", true},
		{"routing: {type: weighted, params: {queue-depth: 1, tie: lowest}}", false},
		{"routing: {type: prefix-affinity}", true},
		{"routing: {type: always-busiest}", true},
		{"routing: {type: power-of-two}", true},
		{"autoscale: {type: threshold, actuation: {model_load: 40s}}", false},
		{"autoscale: {type: threshold, actuation: {model_load: '40s,cv=0.2'}}", true},
		{"autoscale: {type: threshold, actuation: {provisioning: '30s,cv=0.2'}}", true},
		{"autoscale: {actuation: {model_load: '40s,cv=0.2'}}", false},
	} {
		if b := mustParse(t, c.bundle); b.Seeded() != c.want {
			t.Errorf("%s: %v, want %v", c.bundle, b.Seeded(), c.want)
		}
	}
}
