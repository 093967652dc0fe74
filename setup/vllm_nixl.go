package setup

import (
	"fmt"
	"slices"
	"strconv"

	"blis/yamldoc"
)

// nixlConnector hands KV from prefill to decode instances.
const nixlConnector = "NixlConnector"

// nixlConfig is what --kv-transfer-config may have for the NixlConnector. It says no more than
// that the server is one of prefill and decode instances.
type nixlConfig struct {
	Connector  string        `yaml:"kv_connector"`
	Role       string        `yaml:"kv_role"`
	OnFailure  string        `yaml:"kv_load_failure_policy"`
	EngineID   string        `yaml:"engine_id"`        // a name
	Device     string        `yaml:"kv_buffer_device"` // where pulls arrive
	BufferSize *yamldoc.Node `yaml:"kv_buffer_size"`   // without a use there
	Parallel   *yamldoc.Node `yaml:"kv_parallel_size"` // the same
	Rank       *yamldoc.Node `yaml:"kv_rank"`          // the same
	Address    string        `yaml:"kv_ip"`            // of the process
	Port       *yamldoc.Node `yaml:"kv_port"`          // the same
}

// nixlFlags returns the flags for the JSON of a NixlConnector.
func nixlFlags(parts []*yamldoc.Node) ([]string, error) {
	c := nixlConfig{Role: "kv_both", OnFailure: "fail", Device: "cuda"}
	for _, part := range parts {
		if err := yamldoc.Decode("", yamldoc.Place{}, part, &c); err != nil {
			return nil, withoutPlace(err)
		}
	}
	for _, x := range []struct {
		field, value string
		choices      []string
	}{
		{"kv_role", c.Role, []string{"kv_both", "kv_producer", "kv_consumer"}}, {"kv_load_failure_policy", c.OnFailure, []string{"fail", "recompute"}},
		{"kv_buffer_device", c.Device, []string{"cuda"}}, // through the host it takes longer
	} {
		if !slices.Contains(x.choices, x.value) {
			return nil, fmt.Errorf("%s: %s is not modelled, want one of %v", x.field, strconv.Quote(yamldoc.Clip(x.value)), x.choices)
		}
	}
	flags := []string{"--architecture=" + PD}
	if c.OnFailure != "fail" {
		flags = append(flags, "--kv-load-failure-policy="+c.OnFailure)
	}
	return flags, nil
}
