package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"blis/internal/testsize"
)

// overload is twice what two H100 serve, where KV blocks run out at two thirds
// of the seats.
func overload(requests int, more ...string) []string {
	return append([]string{"run", "--format", "json", "--num-instances", "2", "--max-replicas", "8", "--rate", "200", "--num-requests", fmt.Sprint(requests)}, more...)
}

// warned are the warnings of a result.
func warned(result map[string]any) []string {
	var list []string
	for _, w := range result["warnings"].([]any) {
		list = append(list, w.(string))
	}
	return list
}

// begins reports whether one of the texts begins so.
func begins(list []string, with string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, with) })
}

// TestAutoscalersFollowWhatBinds: by default every autoscaler follows the
// resource that runs out, whichever that is, and the result says what keeps the
// tail long all the same.
func TestAutoscalersFollowWhatBinds(t *testing.T) {
	testsize.Long(t)
	for _, policy := range []string{"threshold", "target-utilization", "queue-depth"} {
		result := resultOf(t, done(t, overload(120_000, "--measure-from", "450s", "--autoscale-policy", policy)...).out)
		scaling := result["scaling"].(map[string]any)
		peak, p50, p99 := scaling["peak_replicas"].(float64), result["ttft_p50_ms"].(float64), result["ttft_p99_ms"].(float64)
		if peak < 5 || p50 >= 100 || begins(warned(result), "not steady") {
			t.Errorf("%s: up to %v replicas, median TTFT %v ms, warnings %v", policy, peak, p50, warned(result))
		}
		if said := begins(warned(result), "p99 TTFT of "); said != (p99 > 1000) {
			t.Errorf("%s: p99 TTFT %v ms, warnings %v", policy, p99, warned(result))
		}
		if s := scaling["signal"].(map[string]any); s["passed"] != true {
			t.Errorf("%s: signal %v", policy, s)
		}
	}
}

// TestDeafSignalIsNamed: an autoscaler whose signal cannot reach its threshold
// says so, with the resource that requests waited for.
func TestDeafSignalIsNamed(t *testing.T) {
	for _, c := range []struct {
		policy, set, want string
	}{
		{"threshold", "signal=batch", "autoscaling: signal batch never passed its threshold of 0.8 (it came to 0.6"},
		{"target-utilization", "signal=batch", "autoscaling: signal batch never passed its threshold of 0.77 (it came to 0.6"},
		{"threshold", "signal=kv", ""},
	} {
		result := resultOf(t, done(t, overload(20_000, "--autoscale-policy", c.policy, "--set", "autoscale.params."+c.set)...).out)
		list := warned(result)
		at := slices.IndexFunc(list, func(s string) bool { return strings.HasPrefix(s, "autoscaling: signal") })
		switch {
		case c.want == "" && at >= 0:
			t.Errorf("%s %s: %v", c.policy, c.set, list[at])
		case c.want != "" && (at < 0 || !strings.HasPrefix(list[at], c.want) || !strings.Contains(list[at], "requests waited for KV")):
			t.Errorf("%s %s: %v, want %s", c.policy, c.set, list, c.want)
		}
	}
}
