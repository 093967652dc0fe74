package latency

import "cmp"

// What crosses nodes is slower. The figures are estimates.
const (
	// DefaultNodeLink is a network of 400 Gb/s per GPU, in bytes/s.
	DefaultNodeLink = 50e9

	// NodeGPUs is the GPUs of one node.
	NodeGPUs = 8

	nodeLatency = 20 // µs of a collective operation over several nodes
)

// Far more than any deployment has.
const (
	maxImbalance = 1024
	maxRate      = 1e18
)

// imbalance returns the work of the most burdened GPU with experts relative to the mean.
func (d *Deployment) imbalance() float64 { return cmp.Or(d.DataParallel.Imbalance, 1) }

// expertRow returns the time to move the inputs of the experts of one token in the memory
// of one GPU once, over all layers, s. With experts whole on a GPU it has its share of
// them, else all, and those of the tokens of all ranks.
func (d *Deployment) expertRow() float64 {
	_, moe := d.Model.Counts().split()
	row := float64(moe*d.Model.ActiveExperts*d.Model.Hidden*d.Model.ElementBytes) / d.GPU.Bandwidth
	row = float64(row * d.imbalance())
	if d.ExpertParallel {
		return row / float64(d.TP)
	}
	return float64(row * float64(d.ranks()))
}

// exchange returns the time per token to gather the tokens of all ranks before the
// experts and to scatter them behind, s; 0 for one rank.
func (d *Deployment) exchange() float64 {
	ranks := d.ranks()
	if ranks <= 1 {
		return 0
	}
	_, moe := d.Model.Counts().split()
	bytes := float64(2 * moe * d.Model.Hidden * d.Model.ElementBytes)
	return float64(bytes*float64(ranks-1)) / d.linkRate()
}

// conversions returns how many weights a GPU converts to the width of their operands:
// in every step, and of all its experts.
func (d *Deployment) conversions() (always, experts float64) {
	n := d.Model.Counts()
	attention, mlp, chosen := n.widths()
	inAttention, inMLPs, inExperts := n.parts()
	of := func(w PartWidth, weights int64) float64 {
		if weights == 0 || !d.converted(w) {
			return 0
		}
		return float64(weights) / float64(d.TP)
	}
	return of(attention, inAttention) + of(mlp, inMLPs), of(chosen, inExperts) / float64(d.ranks())
}

// residentWeightBytes returns the memory that the weights take on the GPUs of one engine
// together: all weights that are not experts', and its share of the experts, in whole
// experts.
func (d *Deployment) residentWeightBytes() int64 {
	ranks := int64(d.ranks())
	if ranks <= 1 {
		return d.Model.Counts().ResidentWeightBytes()
	}
	held := *d.Model
	held.Experts = (held.Experts + ranks - 1) / ranks
	routers := d.Model.Counts().plainWeights() - held.Counts().plainWeights() // route to the experts of all
	return held.Counts().ResidentWeightBytes() + routers*held.ElementBytes
}

// gather returns the latency of an all-gather and a reduce-scatter over the GPUs of all engines, µs,
// and their time per byte that all engines together have, µs. They are in place of the all-reduce after
// the experts of a layer, as in vLLM's default. In bytes they are an all-reduce.
func (d *Deployment) gather() (fixed, perByte float64) {
	gpus := d.TP * d.ranks()
	if gpus <= 1 {
		return 0, 0
	}
	fixed, rate := d.allReduceLatency(gpus), d.linkRate()
	if gpus > NodeGPUs {
		fixed, rate = nodeLatency, cmp.Or(d.DataParallel.NodeLink, DefaultNodeLink)
	}
	return fixed, float64(2 * float64(gpus-1) / float64(gpus) / rate * 1e6)
}
