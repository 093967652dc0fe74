package latency

// RooflineOptions are the shares of the ceilings that real kernels reach, and
// the costs that are neither compute nor memory. The defaults follow
// measurements on H100: prefill at 0.54 to 0.68 of the peak, decode at 0.59 to
// 0.77 of the memory bandwidth.
type RooflineOptions struct {
	PrefillMFU    float64 // share of peak FLOP/s in prefill, (0, 1]
	DecodeMFU     float64 // share of peak FLOP/s in decode, (0, 1]
	HBMEfficiency float64 // share of memory bandwidth, (0, 1]
	LayerOverhead float64 // µs per layer and step: launches, norms, sampling's share
	FrontEnd      float64 // µs from delivery to queued: HTTP, tokenising, hand-over
}

// DefaultRoofline returns 0.60, 0.60, 0.70, 20 µs per layer and a front end of 4.4 ms.
// This front end is the smallest TTFT in 88 of 89 measured stages of vLLM 0.15 with
// fully cached prompts (measured front ends take 4 to 5 ms). It includes the way back
// to the client, so the overheads per token and per request are 0.
func DefaultRoofline() RooflineOptions {
	return RooflineOptions{PrefillMFU: 0.60, DecodeMFU: 0.60, HBMEfficiency: 0.70, LayerOverhead: 20, FrontEnd: 4400}
}

// Roofline derives the time of a step from the work in it: the longer of
// computing and reading memory, over the whole batch, plus a fixed cost per
// layer and two all-reduces per layer when the model is split. It needs no
// fitted coefficients, so it covers every model and GPU that can be described.
//
//	compute = (prefill FLOPs/MFU + decode FLOPs/MFU) / peak of all GPUs
//	memory  = (streamed weights + KV read) / (bandwidth of all GPUs · efficiency)
//
// What depends on the configuration alone is folded into one factor per
// quantity of the batch. All factors are µs.
type Roofline struct {
	frontEnd float64

	prefillToken, prefillRow, prefillPair float64 // compute
	decodeToken, decodeRow, decodePair    float64

	weights, experts, kvToken float64 // memory: always read, all experts, KV of a token
	expertMiss                float64 // probability that a token does not use an expert, 1 − k/E
	window                    slidingWindow

	fixed, communicated float64 // added: per step, per scheduled token
}

// NewRoofline prepares the model for a deployment. One error names every bad
// field of deployment and options.
func NewRoofline(d *Deployment, o RooflineOptions) (*Roofline, error) {
	var p problems
	d.check(&p)
	p.share("prefill MFU", o.PrefillMFU)
	p.share("decode MFU", o.DecodeMFU)
	p.share("HBM efficiency", o.HBMEfficiency)
	p.notNegative("overhead per layer", o.LayerOverhead)
	p.notNegative("front end", o.FrontEnd)
	if err := p.err("roofline of " + d.String()); err != nil {
		return nil, err
	}
	s, n := d.Model, d.Model.Counts()
	prefill := 1e6 / (d.ComputeCeiling() * o.PrefillMFU) // µs per FLOP
	decode := 1e6 / (d.ComputeCeiling() * o.DecodeMFU)
	read := 1e6 / (d.BandwidthCeiling() * o.HBMEfficiency) // µs per byte
	reduceFixed, reducePerByte := d.allReduce()
	layers := float64(s.Layers)
	r := &Roofline{
		frontEnd:     o.FrontEnd,
		prefillToken: float64(d.layerFLOPs() * prefill),
		prefillRow:   float64(float64(n.HeadFLOPs()) * prefill),
		prefillPair:  float64(float64(n.PrefillPairFLOPs()) * prefill),
		decodeToken:  float64(d.layerFLOPs() * decode),
		decodeRow:    float64(float64(n.HeadFLOPs()) * decode),
		decodePair:   float64(float64(n.DecodePairFLOPs()) * decode),
		weights:      float64(n.alwaysStreamed() * read),
		experts:      float64(n.expertBytes() * read),
		kvToken:      float64(float64(d.KVBytesPerToken()) * read),
		window:       newSlidingWindow(s),
		fixed:        float64(layers*o.LayerOverhead) + float64(2*layers*reduceFixed),
		communicated: float64(2 * layers * reducePerByte * float64(s.Hidden*s.ElementBytes)),
	}
	if s.Experts > 0 {
		r.expertMiss = 1 - float64(float64(s.ActiveExperts)/float64(s.Experts))
	}
	return r, nil
}

// Step is the time of one step over b, µs.
func (r *Roofline) Step(b *Batch) float64 {
	scheduled := b.Scheduled()
	decodeRows := min(b.SampledRows, b.DecodeRequests)

	compute := float64(r.prefillToken*float64(b.PrefillTokens)) +
		float64(r.prefillRow*float64(b.SampledRows-decodeRows)) +
		float64(r.prefillPair*r.window.prefillPairs(b)) +
		float64(r.decodeToken*float64(b.DecodeTokens)) +
		float64(r.decodeRow*float64(decodeRows)) +
		float64(r.decodePair*r.window.decodeContext(b))

	memory := r.weights + float64(r.kvToken*r.window.context(b))
	if r.experts > 0 {
		memory += float64(r.experts * (1 - float64(power(r.expertMiss, scheduled))))
	}
	return max(compute, memory) + r.fixed + float64(r.communicated*float64(scheduled))
}

// Queueing is the front end's time, whatever the state.
func (r *Roofline) Queueing(QueueInput) float64 { return r.frontEnd }

// TokenOverhead is 0: the front end's time covers the way back.
func (r *Roofline) TokenOverhead() float64 { return 0 }

// RequestOverhead is 0.
func (r *Roofline) RequestOverhead() float64 { return 0 }

// MinQueueing implements Floor.
func (r *Roofline) MinQueueing(int64) float64 { return r.frontEnd }

// MinStep implements Floor: every step reads the weights.
func (r *Roofline) MinStep() float64 { return r.weights + r.fixed }
