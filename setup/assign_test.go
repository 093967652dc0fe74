package setup

import (
	"errors"
	"strings"
	"testing"

	"blis/bundle"
)

func TestAssign(t *testing.T) {
	c := DefaultConfig()
	var b bundle.Bundle
	if err := b.Set("routing.type", "least-loaded"); err != nil {
		t.Fatal(err)
	}
	before := c
	err := c.Assign([]Assignment{
		{Name: "routing.params.queue-depth", Text: "3"}, // of the policy that the next one chooses
		{Name: "routing-policy", Text: "weighted"},
		{Name: PoliciesSetting, Policies: &b},
		{Name: "rate", Text: "2.5"}, {Name: "timeout", Text: "30s"}, {Name: "seed", Text: "7"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Policies.Get("routing.params.queue-depth") != "3" || c.RoutingPolicy != "weighted" || c.Rate != 2.5 || c.Timeout != 30e6 || !c.SeedGiven || c.Seed != 7 {
		t.Errorf("%+v", c)
	}
	if before.Policies.Routing.Type != "" || b.Routing.Type != "least-loaded" {
		t.Error("the original changed")
	}
}

func TestAssignErrors(t *testing.T) {
	for name, bad := range map[string][2]string{
		"a text":             {"rate", "fast"},
		"beyond int32":       {"max-num-seqs", "5000000000"},
		"another choice":     {"arrival", "often"},
		"without a unit":     {"timeout", "30"},
		"no field":           {"routing.params.nothing", "1"},
		"of another policy":  {"routing.params.queue-depth", "1"},
		"no policy":          {"routing-policy", "best"},
		"none of the values": {"observability.in_flight", "often"},
	} {
		c := DefaultConfig()
		err := c.Assign([]Assignment{{Name: bad[0], Text: bad[1]}})
		var input *InputError
		if !errors.As(err, &input) || !strings.Contains(input.Text, bad[0]) || strings.Contains(input.Text, "strconv") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, want := range map[string]string{
		"rate": "", "num-instances": "", "routing.params.queue-depth": "", "admission.tenants.red": "", "autoscale.actuation.drain": "", "observability.refresh": "", "policies": "",
		"rat":                         `unknown setting "rat", the nearest is "rate"`,
		"tensor-parallel-size":        "tensor-parallel-size is another name of tp: want tp",
		"routing.params.queue-dept":   `routing.params.queue-dept: unknown parameter "queue-dept", the nearest is "queue-depth"`,
		"routes.type":                 `routes.type: unknown section "routes" (there are: admission`,
		"metadata.name":               "metadata.name: is not a single field",
		"deployments.chat.num-blocks": `deployments.chat.num-blocks: unknown section "deployments"`,
	} {
		err := CheckName(name)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
