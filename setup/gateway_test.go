package setup

import (
	"strings"
	"testing"
)

// Each setting of the gateway without flow control, and each that cannot be, is refused with one line that names it.
func TestGatewaySettingsAreChecked(t *testing.T) {
	for name, text := range map[string]string{ // any order: each by itself
		"saturation-detector": "concurrency", "max-concurrency": "3", "queue-depth-threshold": "2", "kv-cache-util-threshold": "0.5", "dispatch-credit": "true",
		"max-gateway-queue-depth": "4", "per-band-capacity": "4", "queue-shedding": "true", "fairness-policy": "vtc", "fairness-weights": "a=2", "dispatch-order": "edf",
		"usage-limit-policy": "soft-reflective", "usage-limit-threshold": "0.5", "request-ttl": "1s", "dispatch-tick-interval": "2ms", "dispatch-per-cycle": "0", "in-flight-eviction": "true",
	} {
		c := DefaultConfig()
		if err := c.Set(name, text); err != nil {
			t.Fatal(err)
		}
		wantFault(t, c, "--"+name, "--flow-control with it")
	}
	for _, x := range [][]string{
		{"max-concurrency", "0", "1 to 2^40"}, {"max-concurrency", "-5", "1 to 2^40"}, {"queue-depth-threshold", "0", "above 0"}, {"queue-depth-threshold", "NaN", "above 0"},
		{"kv-cache-util-threshold", "1.5", "at most 1"}, {"usage-limit-threshold", "0", "above 0"}, {"usage-limit-threshold", "1.01", "at most 1"}, {"usage-limit-threshold", "NaN", "above 0"},
		{"request-ttl", "-1", "0 or more"}, {"dispatch-tick-interval", "0", "1us to an hour"}, {"dispatch-tick-interval", "2h", "1us to an hour"}, {"per-band-capacity", "-1", "0 (no limit) or more"},
		{"max-gateway-queue-depth", "-1", "0 (no limit) or more"}, {"dispatch-per-cycle", "-1", "or more"}, {"dispatch-credit", "true", "--saturation-detector concurrency or total with it"},
		{"queue-shedding", "true", "--max-gateway-queue-depth above 0 with it"}, {"fairness-weights", "a=2", "--fairness-policy vtc with it"},
	} {
		c := DefaultConfig()
		c.FlowControl = true
		if err := c.Set(x[0], x[1]); err != nil {
			if !strings.Contains(err.Error(), x[0]) {
				t.Errorf("%v: %v", x, err)
			}
			continue
		}
		wantFault(t, c, "--"+x[0], x[2])
	}
	for _, text := range []string{"a", "a=0", "a=NaN", "a=1,a=2", "=1", "a=1,"} {
		c := DefaultConfig()
		c.FlowControl, c.FairnessPolicy, c.FairnessWeights = true, "vtc", text
		wantFault(t, c, "--fairness-weights", "tenant")
	}
	for _, x := range [][2]string{{"saturation-detector", "latency"}, {"fairness-policy", "fair"}, {"dispatch-order", "lifo"}, {"usage-limit-policy", "none"}} {
		c := DefaultConfig()
		if err := c.Set(x[0], x[1]); err == nil || !strings.Contains(err.Error(), x[0]) {
			t.Errorf("%v: %v, want an error that names it", x, err)
		}
	}
}

// wantFault resolves a configuration that must be refused in one line, with a part of it.
func wantFault(t *testing.T, c Config, parts ...string) {
	t.Helper()
	_, err := Resolve(c)
	if err == nil {
		t.Errorf("%v: nothing is said", parts)
		return
	}
	for _, part := range parts {
		if text := err.Error(); !strings.Contains(text, part) || strings.Contains(text, "\n") {
			t.Errorf("%q: want one line with %q", text, part)
		}
	}
}

// A tenant has its own weight, else that of default, else 1.
func TestWeightsOfTenants(t *testing.T) {
	list, err := parseWeights("gold=4, default=0.5")
	if err != nil {
		t.Fatal(err)
	}
	if of := weightsOf(list); of("gold") != 4 || of("other") != 0.5 {
		t.Errorf("weights %v %v", of("gold"), of("other"))
	}
	if of := weightsOf(nil); of("x") != 1 {
		t.Errorf("weight %v without any", of("x"))
	}
}
