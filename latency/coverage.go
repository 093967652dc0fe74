package latency

import (
	"fmt"
	"slices"
	"strings"
)

// ModelNotMeasured begins a reason of Coverage: the set was fitted to other models of
// the same kind, dense or MoE. With this reason alone HeldOutModel errors apply.
const ModelNotMeasured = "model family not measured"

// asyncDiffers begins a reason of Coverage: async scheduling changes the schedule,
// not the time of a step.
const asyncDiffers = "async scheduling"

// AsyncByDefault reports whether a server forms its batches one step ahead if nobody
// says: as vLLM does since 0.14, but with coefficients fitted to servers that did not,
// as those. The set is nil for a latency model without one.
func (s *PhysicsSet) AsyncByDefault() bool { return s == nil || s.TrainedOn.AsyncScheduling }

// coverageGap is one setting of a run that the data of a set do not include.
type coverageGap struct {
	setting string // setting of a run: model, hardware, tp, …
	value   string // of the run, and what was measured: "TP 8 (measured: 1 to 4)"
	reason  string // element of Coverage
}

// Coverage returns the reasons why the data of the set do not include the settings
// of a run, a short clause each; none if the run is covered. Two models count as the
// same if all their features are equal, as for a chat model and its base.
func (s *PhysicsSet) Coverage(d *Deployment, e EngineLimits, async bool) []string {
	var reasons []string
	for _, g := range s.gaps(d, e, async) {
		reasons = append(reasons, g.reason)
	}
	return reasons
}

// gaps is Coverage by setting.
func (s *PhysicsSet) gaps(d *Deployment, e EngineLimits, async bool) []coverageGap {
	t := &s.TrainedOn
	var gaps []coverageGap
	add := func(setting, value, format string, args ...any) {
		gaps = append(gaps, coverageGap{setting, value, fmt.Sprintf(format, args...)})
	}
	m, kind := d.Model, d.Model.Kind()
	precise := len(t.Precisions) == 0 || slices.Contains(t.Precisions, m.Precision())
	known := precise && slices.ContainsFunc(t.Models, m.isSameAs)
	switch {
	case !slices.Contains(t.Kinds, kind):
		add("model", kind+" model", "%s models not measured, only %s", kind, strings.Join(t.Kinds, ", "))
	case !known && !slices.ContainsFunc(t.Models, m.Is):
		add("model", m.Name, "%s: %s is not among %s", ModelNotMeasured, m.Name, strings.Join(t.Models, ", "))
	}
	switch {
	case !slices.ContainsFunc(t.GPUs, d.GPU.is):
		add("hardware", "GPU "+d.GPU.Name, "GPU %s is not among %s", d.GPU.Name, strings.Join(t.GPUs, ", "))
	case !d.GPU.asBuiltIn():
		add("hardware", "GPU "+d.GPU.Name+", described otherwise", "GPU %s is described otherwise than the one that was measured", d.GPU.Name)
	}
	if m.LatentRank > 0 && !known && !t.has(func(o *ModelSpec) bool { return o.LatentRank > 0 }) {
		add("model", "multi-head latent attention", "multi-head latent attention not measured")
	}
	if m.WindowLayers > 0 && !known && !t.has(func(o *ModelSpec) bool { return o.WindowLayers > 0 }) {
		add("model", "sliding window", "sliding window not measured")
	}
	if other := otherWidths(m); !known && other != "" && len(t.Precisions) == 0 {
		setting := "model"
		if m.Reshaped {
			setting = "quantization or kv-cache-dtype"
		}
		add(setting, other, "only 16-bit weights, activations and KV caches were measured, not %s", other)
	}
	if !precise {
		setting := "model"
		if m.Reshaped {
			setting = "quantization"
		}
		add(setting, m.Precision(), "precision %s is not among %s", m.Precision(), strings.Join(t.Precisions, ", "))
	}
	if d.TP < t.TPMin || d.TP > t.TPMax {
		add("tp", fmt.Sprintf("TP %d (measured: %s)", d.TP, fromTo(int64(t.TPMin), int64(t.TPMax))), "TP %d is outside %d to %d", d.TP, t.TPMin, t.TPMax)
	}
	if n := e.MaxBatchedTokens; t.BatchedTokensMax > 0 && (n < t.BatchedTokensMin || n > t.BatchedTokensMax) {
		add("max-num-batched-tokens", fmt.Sprintf("max-num-batched-tokens %d (measured: %s)", n, fromTo(t.BatchedTokensMin, t.BatchedTokensMax)),
			"max-num-batched-tokens %d is outside %d to %d", n, t.BatchedTokensMin, t.BatchedTokensMax)
	}
	if async != t.AsyncScheduling {
		add("async-scheduling", asyncDiffers+" "+onOff(async), asyncDiffers+" is %s, measured %s", onOff(async), onOff(t.AsyncScheduling))
	}
	if e.ChunkedPrefill != t.ChunkedPrefill {
		add("enable-chunked-prefill", "chunked prefill "+onOff(e.ChunkedPrefill), "chunked prefill is %s, measured %s", onOff(e.ChunkedPrefill), onOff(t.ChunkedPrefill))
	}
	return gaps
}

// has reports whether one of the measured models that BLIS knows has a property.
func (t *Training) has(property func(*ModelSpec) bool) bool {
	return slices.ContainsFunc(t.Models, func(name string) bool {
		m, err := FindModel(name)
		return err == nil && property(&m)
	})
}

func fromTo(low, high int64) string {
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// asBuiltIn reports whether the GPU has the numbers of the built-in GPU of its name,
// if there is one: a file of the user may call anything an H100. Numbers that differ
// by rounding count as equal.
func (g *Hardware) asBuiltIn() bool {
	known, err := FindHardware(g.Name)
	if err != nil {
		return true
	}
	const rounding = 0.01
	for _, pair := range [][2]float64{{known.BF16, g.BF16}, {known.FP8, g.FP8}, {known.Bandwidth, g.Bandwidth}, {known.Link, g.Link},
		{known.AllReduceLatency[0], g.AllReduceLatency[0]}, {known.AllReduceLatency[1], g.AllReduceLatency[1]}, {known.AllReduceLatency[2], g.AllReduceLatency[2]}} {
		if !closeTo(pair[0], pair[1], rounding) {
			return false
		}
	}
	return true
}

func onOff(v bool) string {
	if v {
		return "on"
	}
	return "off"
}

// isSameAs reports whether name is a name of this model, or of a built-in model with
// equal features.
func (s *ModelSpec) isSameAs(name string) bool {
	if s.Is(name) && !s.Reshaped {
		return true
	}
	other, err := FindModel(name)
	if err != nil {
		return false
	}
	return s.Counts().features() == other.Counts().features()
}
