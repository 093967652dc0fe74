package setup

import (
	"strings"
	"testing"

	"blis/latency"
)

// Whole experts on a GPU change the steps of an MoE model on several GPUs, and nothing
// else: elsewhere a note says so.
func TestExpertParallel(t *testing.T) {
	for _, c := range []struct {
		model   string
		tp      int
		because string
	}{
		{"Mixtral-8x7B-v0.1", 2, ""},
		{"Qwen3-30B-A3B", 1, "enable-expert-parallel has no effect: one GPU holds all experts"},
		{"Llama-3.1-8B", 2, "enable-expert-parallel has no effect: meta-llama/Llama-3.1-8B has no experts"},
	} {
		plans := map[bool]*Plan{}
		for _, parallel := range []bool{false, true} {
			cfg := DefaultConfig()
			cfg.Model, cfg.TP, cfg.LatencyModel, cfg.EnableExpertParallel = c.model, c.tp, "roofline", parallel
			p, err := Resolve(cfg)
			if err != nil {
				t.Fatal(err)
			}
			plans[parallel] = p
			noted := ""
			for _, note := range p.Summary.Notes {
				if strings.Contains(note, "enable-expert-parallel") {
					noted = note
				}
			}
			if want := c.because; parallel && noted != want || !parallel && noted != "" {
				t.Errorf("%s at TP %d, %v: note %q, want %q", c.model, c.tp, parallel, noted, want)
			}
			if got := p.Pools[0].Deployment.ExpertParallel; got != parallel {
				t.Errorf("%s: the deployment has %v, want %v", c.model, got, parallel)
			}
		}
		batch := &latency.Batch{DecodeTokens: 64, DecodeRequests: 64, DecodeContext: 64000, SampledRows: 64}
		off, on := plans[false].Pools[0].Latency.Step(batch), plans[true].Pools[0].Latency.Step(batch)
		if (off != on) != (c.because == "") {
			t.Errorf("%s at TP %d: a step takes %v µs, and %v with whole experts", c.model, c.tp, off, on)
		}
	}
}
