package latency

// RooflineOptions are the shares of the ceilings that real kernels reach, and the costs
// that are neither compute nor memory. docs/latency.md says where the defaults come
// from.
type RooflineOptions struct {
	PrefillMFU    float64 // share of peak FLOP/s in prefill, (0, 1]
	DecodeMFU     float64 // the same in decode; reading the weights hides some of it, so a large share, (0, 1]
	HBMEfficiency float64 // share of memory bandwidth, (0, 1]

	LayerOverhead  float64 // µs per layer and step: launches, norms, sampling's share
	MoEOverhead    float64 // µs more per layer with experts: router, sorting of tokens, launches
	DecodeOverhead float64 // µs per layer and decoding request: its share of the kernels of attention and cache

	// A token is copied to the experts that it uses and back. That takes so many times
	// as long as reading the copies once; from 0 on.
	DecodeRows, PrefillRows float64

	Conversion float64 // ps per weight of a GPU that is converted to the width of its operands, from 0 on

	// The bytes of an all-reduce take LinkTime times what the links take, those of the
	// first 512 tokens of a step SmallLinkTime times: from 0 on, and not below LinkTime.
	LinkTime, SmallLinkTime float64

	FrontEnd float64 // µs from delivery to queued: HTTP, tokenising, hand-over
}

// DefaultRoofline returns the options for a GPU: the efficiencies that its description
// states, else and for nil those of all GPUs.
//
// The front end of 4.4 ms is the smallest TTFT in 88 of 89 measured stages of vLLM 0.15
// with fully cached prompts (measured front ends take 4 to 5 ms). It includes the way
// back to the client, so the overheads per token and per request are 0.
func DefaultRoofline(gpu *Hardware) RooflineOptions {
	o := RooflineOptions{
		PrefillMFU: 0.65, DecodeMFU: 1, HBMEfficiency: 0.9,
		LayerOverhead: 50, MoEOverhead: 25, DecodeOverhead: 0.1,
		DecodeRows: 20, PrefillRows: 15, Conversion: 0.08,
		LinkTime: 1.3, SmallLinkTime: 2,
		FrontEnd: 4400,
	}
	if gpu != nil && gpu.ComputeEfficiency != 0 {
		o.PrefillMFU = gpu.ComputeEfficiency
	}
	if gpu != nil && gpu.MemoryEfficiency != 0 {
		o.HBMEfficiency = gpu.MemoryEfficiency
	}
	return o
}

func (o *RooflineOptions) check(p *problems) {
	p.share("prefill MFU", o.PrefillMFU)
	p.share("decode MFU", o.DecodeMFU)
	p.share("HBM efficiency", o.HBMEfficiency)
	p.notNegative("overhead per layer", o.LayerOverhead)
	p.notNegative("overhead per MoE layer", o.MoEOverhead)
	p.notNegative("overhead per decoding request", o.DecodeOverhead)
	p.notNegative("rows of experts in decode", o.DecodeRows)
	p.notNegative("rows of experts in prefill", o.PrefillRows)
	p.notNegative("conversion", o.Conversion)
	p.notNegative("link time", o.LinkTime)
	p.notNegative("small link time", o.SmallLinkTime)
	if o.SmallLinkTime < o.LinkTime {
		p.add("small link time", "is %v, want at least the link time, %v", o.SmallLinkTime, o.LinkTime)
	}
	p.notNegative("front end", o.FrontEnd)
}

// Roofline derives the time of a step from the work in it and from what a layer costs
// whatever the work. Nothing of it is fitted to a deployment, so it covers every model
// and GPU that can be described.
//
//	step = max(linear layers of prefill, reading weights) + attention + linear layers of decode
//	     + overheads + rows of experts + conversion + communication
//
// Prefill hides the reading of weights, as large matrices are multiplied while they are
// read. Decode does not: its matrices are as wide as the batch, and attention is a
// kernel of its own behind them.
//
// What depends on the configuration alone is folded into one factor per quantity of the
// batch. All factors are µs and not negative, so that Step rises with each of its terms
// and MinStep is a lower bound to the last bit.
type Roofline struct {
	frontEnd float64

	prefillToken, prefillRow, prefillPair float64 // linear layers, head, attention
	decodeToken, decodeRow, decodeKey     float64 // the same; a key is computed while it is read
	decodeRequest                         float64

	weights, experts, kvToken float64 // reading: always, all experts, KV of a token
	expertShare               expertShares
	conversion                float64 // of all experts
	rowDecode, rowPrefill     float64 // rows of experts of a token
	window                    slidingWindow

	fixed               float64 // per step
	communicated, small float64 // per scheduled token; of the first 512 on top

	group rooflineGroup
}

// NewRoofline prepares the model for a deployment. One error names every bad
// field of deployment and options.
func NewRoofline(d *Deployment, o RooflineOptions) (*Roofline, error) {
	var p problems
	d.check(&p)
	o.check(&p)
	if err := p.err("roofline of " + d.String()); err != nil {
		return nil, err
	}
	s, n := d.Model, d.Model.Counts()
	prefill := 1e6 / (d.ComputeCeiling() * o.PrefillMFU) // µs per FLOP
	decode := 1e6 / (d.ComputeCeiling() * o.DecodeMFU)
	read := 1e6 / (d.BandwidthCeiling() * o.HBMEfficiency) // µs per byte
	_, moe := n.split()
	layers := float64(s.Layers)
	always, experts := d.conversions()
	r := &Roofline{
		frontEnd:      o.FrontEnd,
		prefillToken:  float64(d.layerFLOPs() * prefill),
		prefillRow:    float64(float64(n.HeadFLOPs()) * prefill),
		prefillPair:   float64(float64(n.PrefillPairFLOPs()) * prefill),
		decodeToken:   float64(d.layerFLOPs() * decode),
		decodeRow:     float64(float64(n.HeadFLOPs()) * decode),
		decodeRequest: float64(layers * o.DecodeOverhead),
		weights:       float64(n.alwaysStreamed() * read),
		kvToken:       float64(float64(d.KVBytesPerToken()) * read),
		window:        newSlidingWindow(s),
		fixed:         float64(layers*o.LayerOverhead) + float64(always*o.Conversion/1e6),
	}
	r.decodeKey = max(r.kvToken, float64(float64(n.DecodePairFLOPs())*decode))
	if moe > 0 {
		r.fixed += float64(float64(moe) * o.MoEOverhead)
		r.experts = float64(float64(n.expertBytes()*read) / float64(d.ranks()) * d.imbalance())
		r.expertShare = newExpertShares(d)
		r.conversion = float64(experts * o.Conversion / 1e6)
		row := float64(d.expertRow() * 1e6)
		r.rowDecode, r.rowPrefill = float64(row*o.DecodeRows), float64(row*o.PrefillRows)
	}
	start, perByte := d.allReduce() // two in every layer
	reduced := float64(2 * layers * perByte * float64(s.Hidden*s.ElementBytes))
	r.fixed += float64(2 * layers * start)
	r.communicated = float64(reduced*o.LinkTime) + float64(d.exchange()*1e6*o.LinkTime)
	r.small = float64(reduced * (o.SmallLinkTime - o.LinkTime))
	imbalanced := float64(d.chosenFLOPs() * (d.imbalance() - 1))
	r.prefillToken += float64(imbalanced * prefill)
	r.decodeToken += float64(imbalanced * decode)
	r.group = newRooflineGroup(d, r, &o)
	return r, nil
}

// Step is the time of one step over b, µs.
func (r *Roofline) Step(b *Batch) float64 {
	if b.GroupTokens > 0 {
		return r.group.step(r, b)
	}
	scheduled := b.Scheduled()
	decodeRows := min(b.SampledRows, b.DecodeRequests)

	linear := float64(r.prefillToken*float64(b.PrefillTokens)) + float64(r.prefillRow*float64(b.SampledRows-decodeRows))
	reading := r.weights
	fixed := r.fixed
	if r.experts > 0 {
		share := r.expertShare.ofStep(scheduled)
		reading += float64(r.experts * share)
		fixed += float64(r.conversion*share) +
			float64(r.rowDecode*float64(b.DecodeTokens)) +
			float64(r.rowPrefill*float64(b.PrefillTokens))
	}
	keys := r.window.decodeContext(b)
	return max(linear, reading) + fixed +
		float64(r.prefillPair*r.window.prefillPairs(b)) +
		float64(r.decodeKey*keys) +
		float64(r.kvToken*(r.window.context(b)-keys)) +
		float64(r.decodeToken*float64(b.DecodeTokens)) +
		float64(r.decodeRow*float64(decodeRows)) +
		float64(r.decodeRequest*float64(b.DecodeRequests)) +
		float64(r.communicated*float64(scheduled)) +
		float64(r.small*float64(min(scheduled, smallAllReduce)))
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
func (r *Roofline) MinStep() float64 { return r.weights + min(r.fixed, r.group.fixed) }
