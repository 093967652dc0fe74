package latency

// expertRow returns the time to move the inputs of the experts of one token in the memory
// of one GPU once, over all layers, s. With experts whole on a GPU it has its share of
// them, else all, and those of the tokens of all ranks.
func (d *Deployment) expertRow() float64 {
	_, moe := d.Model.Counts().split()
	row := float64(moe*d.Model.ActiveExperts*d.Model.Hidden*d.Model.ElementBytes) / d.GPU.Bandwidth
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
