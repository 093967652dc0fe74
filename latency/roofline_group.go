package latency

// rooflineGroup is Roofline for a step of engines that share experts and step together, of which the
// batch says what all of them schedule; groupFeatures has the rules. Factors are those of Roofline, in µs.
type rooflineGroup struct {
	engines                      float64
	prefillToken, decodeToken    float64 // linear layers without the experts that a token chooses
	prefillExpert, decodeExpert  float64 // of these, per token of a GPU's share
	fixed                        float64 // per step
	communicated, small, gathers float64 // per scheduled token; of the first 512 on top; per token of all engines
}

func newRooflineGroup(d *Deployment, r *Roofline, o *RooflineOptions) rooflineGroup {
	n := d.Model.Counts()
	_, moe := n.split()
	g := rooflineGroup{engines: float64(d.ranks()), fixed: r.fixed}
	if moe == 0 {
		return g
	}
	chosen := d.chosenFLOPs()
	plain := d.layerFLOPs() - chosen
	chosen = float64(chosen * d.imbalance())
	prefill := 1e6 / (d.ComputeCeiling() * o.PrefillMFU)
	decode := 1e6 / (d.ComputeCeiling() * o.DecodeMFU)
	g.prefillToken, g.prefillExpert = float64(plain*prefill), float64(chosen*prefill)
	g.decodeToken, g.decodeExpert = float64(plain*decode), float64(chosen*decode)

	start, perByte := d.allReduce()
	gather, perGathered := d.gather()
	layers, gathered := float64(2*d.Model.Layers), float64(moe)
	width := float64(d.Model.Hidden * d.Model.ElementBytes)
	g.fixed = r.fixed + float64(gathered*gather) - float64(gathered*start)
	reduced := float64((layers - gathered) * perByte * width)
	g.communicated = float64(reduced * o.LinkTime)
	g.small = float64(reduced * (o.SmallLinkTime - o.LinkTime))
	g.gathers = float64(gathered * perGathered * width * o.LinkTime)
	return g
}

// step is the time of one step over b, µs.
func (g *rooflineGroup) step(r *Roofline, b *Batch) float64 {
	scheduled := b.Scheduled()
	decodeRows := min(b.SampledRows, b.DecodeRequests)
	prefill := float64(b.GroupPrefill) / g.engines
	decode := float64(b.GroupTokens-b.GroupPrefill) / g.engines

	linear := float64(g.prefillToken*float64(b.PrefillTokens)) + float64(g.prefillExpert*prefill) + float64(r.prefillRow*float64(b.SampledRows-decodeRows))
	share := r.expertShare.of(b)
	reading := r.weights + float64(r.experts*share)
	fixed := g.fixed + float64(r.conversion*share) + float64(r.rowDecode*decode) + float64(r.rowPrefill*prefill)
	keys := r.window.decodeContext(b)
	return max(linear, reading) + fixed +
		float64(r.prefillPair*r.window.prefillPairs(b)) +
		float64(r.decodeKey*keys) +
		float64(r.kvToken*(r.window.context(b)-keys)) +
		float64(g.decodeToken*float64(b.DecodeTokens)) +
		float64(g.decodeExpert*decode) +
		float64(r.decodeRow*float64(decodeRows)) +
		float64(r.decodeRequest*float64(b.DecodeRequests)) +
		float64(g.communicated*float64(scheduled)) +
		float64(g.gathers*float64(b.GroupTokens)) +
		float64(g.small*float64(min(scheduled, smallAllReduce)))
}
