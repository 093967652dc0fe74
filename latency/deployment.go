package latency

import (
	"cmp"
	"fmt"
)

// Deployment is the hardware and model of one instance: a model, split over TP GPUs
// of one kind. Its methods compute ceilings: the peaks of all GPUs together. Model
// and GPU are shared, not copied, and must not change while it is in use.
type Deployment struct {
	Model *ModelSpec
	GPU   *Hardware
	TP    int // GPUs per instance (tensor parallelism)

	// ExpertParallel: each GPU holds whole experts (--enable-expert-parallel), not a
	// slice of every expert.
	ExpertParallel bool

	DataParallel DataParallel
}

// DataParallel is how engines share experts: each has TP GPUs with attention and dense layers of its own,
// and the experts are spread over the GPUs of all. The engines are taken to have equal batches where a
// Batch does not say what all of them have.
type DataParallel struct {
	Ranks int // engines; 0 is 1

	// Imbalance is how many times the work of the mean GPU with experts the most burdened one has: what
	// it computes, reads and moves of them. At least 1; 0 is 1.
	Imbalance float64

	// NodeLink is the rate between nodes, one way, bytes/s per GPU, for engines with GPUs of several
	// nodes. 0 is DefaultNodeLink.
	NodeLink float64
}

// ranks returns the number of engines that share the experts.
func (d *Deployment) ranks() int { return max(1, d.DataParallel.Ranks) }

// pcieEfficiency is the share of PCIe's one-way rate that transfers reach, unless
// the description of the GPU has another.
const pcieEfficiency = 0.75

// pcieAllReduceEfficiency is the share of PCIe's one-way rate that an all-reduce reaches,
// unless the description of the GPU has another: every byte crosses the same host in both
// directions at once. data/hardware.yaml names the measurements.
const pcieAllReduceEfficiency = 0.35

// Validate returns one error that names everything impossible in model, GPU
// and TP. Everything below expects a valid Deployment.
func (d *Deployment) Validate() error {
	var p problems
	d.check(&p)
	return p.err(d.String())
}

func (d *Deployment) check(p *problems) {
	checkModel(d.Model, p)
	d.GPU.check(p)
	if text := d.headsProblem(); text != "" {
		p.add("tp", "%s", text)
	}
	p.between("data parallel", int64(d.DataParallel.Ranks), 0, maxTP)
	if x := d.DataParallel.Imbalance; x != 0 && !(x >= 1 && x <= maxImbalance) {
		p.add("ep-imbalance", "is %v, want 1 to %d", x, maxImbalance)
	}
	if x := d.DataParallel.NodeLink; x != 0 && !(x >= 1 && x <= maxRate) {
		p.add("dp-link", "is %v bytes/s, want 1 to 1e18", x)
	}
	if d.DataParallel.Ranks > 1 && d.Model.Experts == 0 {
		p.add("data parallel", "is %d: want a model with experts, which the engines share", d.DataParallel.Ranks)
	}
}

// maxTP is far more than any machine has.
const maxTP = 1024

// headsProblem returns why the heads cannot be split evenly over the GPUs, "" if
// they can. Query heads are split. KV heads are split, or copied if they are fewer
// than the GPUs. The one latent vector of latent attention is copied.
func (d *Deployment) headsProblem() string {
	heads, kvHeads, tp := d.Model.Heads, d.Model.KVHeads, int64(d.TP)
	switch {
	case tp < 1 || tp > maxTP:
		return fmt.Sprintf("is %d, want 1 to %d", tp, maxTP)
	case heads > 0 && heads%tp != 0:
		return fmt.Sprintf("is %d, want a divisor of the %d attention heads", tp, heads)
	case kvHeads > 0 && kvHeads%tp != 0 && tp%kvHeads != 0:
		return fmt.Sprintf("is %d, want a divisor or a multiple of the %d KV heads", tp, kvHeads)
	}
	return ""
}

// String is "model on GPU at TP n".
func (d *Deployment) String() string {
	return fmt.Sprintf("%s on %s at TP %d", d.Model.Name, d.GPU.Name, d.TP)
}

// ComputeCeiling is the peak of all GPUs together for the operands of attention's
// projections, FLOP/s: work is counted for the whole model.
func (d *Deployment) ComputeCeiling() float64 { return d.peak(d.Model.ActivationBits) }

// peak is the peak of all GPUs together for operands of so many bits, FLOP/s.
func (d *Deployment) peak(bits int64) float64 { return float64(d.GPU.Peak(bits) * float64(d.TP)) }

// layerFLOPs is Counts.LayerFLOPs in units of ComputeCeiling: a part whose operands
// have another peak counts by the ratio of the peaks.
func (d *Deployment) layerFLOPs() float64 {
	n := d.Model.Counts()
	_, mlp, experts := n.widths()
	ceiling, mlpPeak, expertPeak := d.ComputeCeiling(), d.peak(mlp.ActivationBits), d.peak(experts.ActivationBits)
	flops := float64(n.LayerFLOPs())
	if mlpPeak == ceiling && expertPeak == ceiling {
		return flops
	}
	plain, chosen := n.mlpLayerFLOPs()
	return flops - float64(plain+chosen) + float64(float64(plain)*ceiling/mlpPeak) + float64(float64(chosen)*ceiling/expertPeak)
}

// converted reports whether weights of this width are converted to that of the
// activations before they are multiplied: integers always, floating-point weights of 4
// bits on GPUs without units for them.
func (d *Deployment) converted(w PartWidth) bool {
	switch {
	case w.WeightBits >= 8*d.Model.ElementBytes:
		return false
	case w.WeightBits == 4 && (w.ActivationBits == 4 || w.isMXFP4()):
		return d.GPU.FP4 == 0
	}
	return w.ActivationBits > w.WeightBits
}

// BandwidthCeiling is the memory bandwidth of all GPUs together, bytes/s.
func (d *Deployment) BandwidthCeiling() float64 { return float64(d.GPU.Bandwidth * float64(d.TP)) }

// KVBytesPerToken returns the bytes of one token in the KV caches of all GPUs
// together.
func (d *Deployment) KVBytesPerToken() int64 { return d.Model.Counts().KVBytesPerToken(d.TP) }

// allReduce returns the latency of an all-reduce, µs, and its further time per byte,
// µs: latency(TP) and 2(TP−1)/TP / one-way link bandwidth; both are 0 at TP 1. The
// latency is the one measured on the next larger number of 2, 4 and 8 GPUs, or on 8.
func (d *Deployment) allReduce() (fixed, perByte float64) {
	if d.TP <= 1 {
		return 0, 0
	}
	return d.allReduceLatency(d.TP), float64(2 * float64(d.TP-1) / float64(d.TP) / d.linkRate() * 1e6)
}

// allReduceLatency returns the latency of an all-reduce of n GPUs of one node, from 2, in µs.
func (d *Deployment) allReduceLatency(n int) float64 {
	switch {
	case n <= 2:
		return d.GPU.AllReduceLatency[0]
	case n <= 4:
		return d.GPU.AllReduceLatency[1]
	}
	return d.GPU.AllReduceLatency[2]
}

// linkRate returns the one-way rate between GPUs that exchange with all others, bytes/s.
func (d *Deployment) linkRate() float64 {
	if d.GPU.Link != 0 {
		return d.GPU.Link
	}
	return float64(d.GPU.PCIe * cmp.Or(d.GPU.PCIeAllReduceEfficiency, pcieAllReduceEfficiency))
}
