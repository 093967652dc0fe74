package spec

import (
	"fmt"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// FuzzSpec: whatever the file, the answer is an error of one line that begins
// with its name, or traffic that package traffic accepts.
func FuzzSpec(f *testing.F) {
	for _, s := range Scenarios() {
		f.Add(string(ScenarioText(s.Name)))
	}
	for _, c := range badFiles {
		f.Add(c.text)
	}
	f.Add(fmt.Sprintf(threeTenants, "abusive", "prompt_tokens: 300, session_length: {type: exponential, params: {mean: 4}}", ", load_profile: {type: ramp, segments: [{duration: 1s, multiplier: 2}]}"))
	f.Add("inference_perf: {stages: [{rate: 8, duration: 6}, {rate: 2, duration: 9}], shared_prefix: {num_unique_system_prompts: 3, num_users_per_system_prompt: 2, enable_multi_turn_chat: true}}")
	f.Add("aggregate_rate: 9\ncohorts: [{id: a, population: 3, rate_fraction: 2, prefix_group: g, prefix_sharing: per_member, " + lengths + ", diurnal: {peak_hour: 3, peak_to_trough_ratio: 2}, spike: {start_time_us: 3, duration_us: 8, trace_rate: 3}}]")
	f.Add("clients: [{rate: 1, output_distribution: {type: zipf, params: {s: 1, n: 9}}, multimodal: {image_distribution: {type: constant, params: {value: 9}}, image_count_distribution: {type: empirical, params: {0: 1, 3: 2}}}}]")
	f.Add("a: &a {b: 1}\nc: [*a, <<: *a]")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 || strings.Contains(text, "file") { // no file of this machine is meant
			return
		}
		s, err := Parse("w.yaml", []byte(text))
		if err == nil {
			d := defaults()
			d.ServeGen = func(string) ([]traffic.Client, error) {
				return []traffic.Client{{ID: "s", Class: "standard", Rate: draw.Flat(1), Input: draw.Exactly(1), Output: draw.Exactly(1)}}, nil
			}
			var c traffic.Config
			c, _, err = s.Traffic(d)
			if err == nil {
				checkTraffic(t, s, &c)
				return
			}
		}
		if line := err.Error(); !strings.HasPrefix(line, "w.yaml:") || strings.ContainsAny(line, "\n\r") {
			t.Errorf("error %q", line)
		}
	})
}

// checkTraffic holds a configuration to what package traffic wants, and draws
// from all that it draws from.
func checkTraffic(t *testing.T, s *Spec, c *traffic.Config) {
	if err := acceptable(c); err != nil {
		t.Errorf("accepted, but: %v", err)
	}
	for i := range c.Clients {
		k := &c.Clients[i]
		draws := draw.NewVariates(vtime.NewStream(1, "x"))
		for range 3 {
			if n := k.Input.Sample(&draws); n < 1 || n > maxTokens {
				t.Errorf("a prompt of %d tokens", n)
			}
			if n := k.Output.Sample(&draws); n < 0 || n > maxTokens {
				t.Errorf("an output of %d tokens", n)
			}
			if d := k.Think.Sample(&draws); d < 0 {
				t.Errorf("a think time of %v", d)
			}
		}
		if i > 20 {
			break
		}
	}
	if targets := s.Targets(); strings.ContainsAny(targets, "\n ") {
		t.Errorf("targets %q", targets)
	}
}
