package bundle

import (
	"slices"
	"testing"
)

// Fields lists the single fields that a file gives, wherever they stand in it, and no policies.
func TestFieldsThatAreGiven(t *testing.T) {
	b, err := Parse("a.yaml", []byte(`observability: {kv_event_delay: 5ms, refresh: 0s, queue_depth: 50ms}
routing: {type: weighted, params: {queue-depth: 1}}
autoscale: {type: threshold, params: {up: 0.9}, actuation: {warmup: {duration: 5s}}, max: 4}
metadata: {refresh: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"autoscale.max", "autoscale.actuation.warmup.duration", "observability.refresh", "observability.queue_depth", "observability.kv_event_delay"}
	got := b.Fields()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if empty := (&Bundle{}).Fields(); len(empty) != 0 {
		t.Errorf("an empty bundle gives %v", empty)
	}
}
