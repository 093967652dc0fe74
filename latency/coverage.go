package latency

import (
	"fmt"
	"slices"
	"strings"
)

// ModelNotMeasured begins the reason of Coverage that weighs least: another
// model of the kind was measured, on all else that counts.
const ModelNotMeasured = "model family not measured"

// AsyncDiffers begins the reason of Coverage that speaks of the schedule, not of
// the time of steps.
const AsyncDiffers = "async scheduling"

// Coverage says where a run lies outside of what the set was fitted to, a
// short clause per reason, none when it is covered. There are two levels of
// knowing a model: the set may have been fitted to it, or only to others of its
// kind, dense or MoE. Models count as the same when all that features
// depend on is, so a chat model is known by its base.
func (s *PhysicsSet) Coverage(d *Deployment, e EngineLimits, async bool) []string {
	t := &s.TrainedOn
	var reasons []string
	add := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	kind := d.Model.Kind()
	known := slices.ContainsFunc(t.Models, d.Model.isSameAs)
	switch {
	case !slices.Contains(t.Kinds, kind):
		add("%s models not measured, only %s", kind, strings.Join(t.Kinds, ", "))
	case !known:
		add("%s: %s is not among %s", ModelNotMeasured, d.Model.Name, strings.Join(t.Models, ", "))
	}
	switch {
	case !slices.ContainsFunc(t.GPUs, d.GPU.is):
		add("GPU %s is not among %s", d.GPU.Name, strings.Join(t.GPUs, ", "))
	case !d.GPU.asBuiltIn():
		add("GPU %s is described otherwise than the one that was measured", d.GPU.Name)
	}
	if m := d.Model; m.LatentRank > 0 && !known {
		add("multi-head latent attention not measured")
	}
	if m := d.Model; !known && (m.WeightBits != 16 || m.ActivationBits != 16 || m.KVElementBytes != 2) {
		add("only 16-bit weights, activations and KV caches were measured, not %d, %d and %d bits", m.WeightBits, m.ActivationBits, 8*m.KVElementBytes)
	}
	if d.TP < t.TPMin || d.TP > t.TPMax {
		add("TP %d is outside %d to %d", d.TP, t.TPMin, t.TPMax)
	}
	if n := e.MaxBatchedTokens; t.BatchedTokensMax > 0 && (n < t.BatchedTokensMin || n > t.BatchedTokensMax) {
		add("max-num-batched-tokens %d is outside %d to %d", n, t.BatchedTokensMin, t.BatchedTokensMax)
	}
	if async != t.AsyncScheduling {
		add(AsyncDiffers+" is %s, measured %s", onOff(async), onOff(t.AsyncScheduling))
	}
	if e.ChunkedPrefill != t.ChunkedPrefill {
		add("chunked prefill is %s, measured %s", onOff(e.ChunkedPrefill), onOff(t.ChunkedPrefill))
	}
	return reasons
}

// asBuiltIn reports whether the GPU has the numbers of the built-in one of its
// name, if there is one: a user's file may call anything an H100.
func (g *Hardware) asBuiltIn() bool {
	known, err := FindHardware(g.Name)
	return err != nil || known.BF16 == g.BF16 && known.FP8 == g.FP8 && known.Bandwidth == g.Bandwidth && known.Link == g.Link && known.AllReduceLatency == g.AllReduceLatency
}

func onOff(v bool) string {
	if v {
		return "on"
	}
	return "off"
}

// isSameAs reports whether name stands for this model or for a built-in one
// with the same work.
func (s *ModelSpec) isSameAs(name string) bool {
	if s.is(name) {
		return true
	}
	other, err := FindModel(name)
	if err != nil {
		return false
	}
	return s.work() == other.work()
}

// work is all of the spec that features depend on.
func (s *ModelSpec) work() [13]float64 {
	return [...]float64{
		float64(s.LayerFLOPs()), float64(s.HeadFLOPs()), float64(s.PrefillPairFLOPs()), float64(s.DecodePairFLOPs()),
		float64(s.KVBytesPerToken(1)), s.alwaysStreamed(), s.expertBytes(), float64(s.Experts), float64(s.ActiveExperts),
		float64(s.Heads), float64(s.KVHeads), float64(s.Hidden * s.ElementBytes), float64(s.ActivationBits),
	}
}
