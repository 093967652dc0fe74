package setup

import (
	"strings"
	"testing"

	"blis/bundle"
)

func TestEditsByRank(t *testing.T) {
	for name, c := range map[string]struct {
		edits []Edit
		want  string // path=value, or an error
	}{
		"the highest origin wins": {[]Edit{
			{Flag: "snapshot-refresh-interval", Text: "3s", Origin: FromFlag, Where: "--snapshot-refresh-interval"},
			{Flag: "snapshot-refresh-interval", Text: "1s", Origin: FromFile, Where: "f:1"},
			{Text: "observability.refresh=2s", Origin: FromSet, Where: "--set"},
		}, "observability.refresh=3s"},
		"a policy comes before its parameters": {[]Edit{
			{Flag: "token-bucket-capacity", Text: "7", Origin: FromFlag, Where: "--token-bucket-capacity"},
			{Flag: "admission-policy", Text: "token-bucket", Origin: FromFlag, Where: "--admission-policy"},
		}, "admission.params.capacity=7"},
		"a file may have settings of another policy at their defaults": {[]Edit{
			{Flag: "token-bucket-capacity", Text: "10000", Origin: FromFile, Where: "f:1"},
		}, "admission.params.capacity="},
		"but no other values": {[]Edit{
			{Flag: "token-bucket-capacity", Text: "7", Origin: FromFile, Where: "f:1: token-bucket-capacity"},
		}, "f:1: token-bucket-capacity: admission.params.capacity: always-admit takes no parameters"},
		"unless a higher origin chose the policy": {[]Edit{
			{Flag: "token-bucket-capacity", Text: "7", Origin: FromFile, Where: "f:1"},
			{Flag: "admission-policy", Text: "reject-all", Origin: FromFlag, Where: "--admission-policy"},
		}, "admission.type=reject-all"},
		"vLLM's name of a scheduler": {[]Edit{{Flag: "scheduler", Text: "priority", Origin: FromFlag, Where: "--scheduler"}}, "scheduler.type=priority-fcfs"},
		"no field":                   {[]Edit{{Text: "routing", Origin: FromSet, Where: "--set"}}, "--set routing: want path=value"},
	} {
		var b bundle.Bundle
		err := ApplyEdits(&b, c.edits)
		if path, value, isField := strings.Cut(c.want, "="); err == nil && isField && b.Get(path) == value {
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, bundle %+v; want %s", name, err, b, c.want)
		}
	}
}

// The settings show the bundle, and resolving an effective configuration again
// changes nothing.
func TestSettingsShowTheBundle(t *testing.T) {
	c := DefaultConfig()
	if err := c.Policies.Set("autoscale.type", "threshold"); err != nil {
		t.Fatal(err)
	}
	if err := c.Policies.Set("autoscale.min", "2"); err != nil {
		t.Fatal(err)
	}
	c.MaxReplicas, c.RoutingPolicy = 9, "least-loaded"
	p, err := Resolve(c)
	if err != nil {
		t.Fatal(err)
	}
	e := &p.Config
	if e.AutoscalePolicy != "threshold" || e.MinReplicas != 2 || e.Policies.Get("autoscale.max") != "9" || e.Policies.Routing.Type != "least-loaded" {
		t.Errorf("policy %s, min %d, bundle %+v", e.AutoscalePolicy, e.MinReplicas, e.Policies)
	}
	if list := e.edits(); len(list) != 0 {
		t.Errorf("an effective configuration has the edits %+v", list)
	}
}
