package setup

import (
	"fmt"

	"blis/engine"
	"blis/latency"
)

// DataParallelSettings is what a user sets of data-parallel ranks. The tags are as those of Config.
type DataParallelSettings struct {
	DataParallelSize      int          `json:"data-parallel-size" default:"1" group:"Instances" help:"Data-parallel ranks of an instance, as in vLLM. Each has tp GPUs, a scheduler, a KV cache and tiers of its own: what is said per instance is of each rank. Ranks of MoE models share the experts and step together. See docs/data-parallel.md."`
	DataParallelLB        string       `json:"data-parallel-lb" default:"internal" enum:"internal,external,hybrid" group:"Instances" help:"Endpoints that the router knows of an instance with data-parallel ranks: internal, one, whose API processes choose the rank; external, one for each rank; hybrid, one for each data-parallel-size-local ranks."`
	DataParallelSizeLocal int          `json:"data-parallel-size-local" group:"Instances" help:"With data-parallel-lb hybrid: ranks behind one endpoint, those of a node."`
	APIServerCount        int          `json:"api-server-count" name:"api-server-count" group:"Instances" help:"API processes of an endpoint with several data-parallel ranks, which choose the rank of a request; 0: as many as ranks, as in vLLM."`
	EPImbalance           float64      `json:"ep-imbalance" name:"ep-imbalance" default:"1" group:"Instances" help:"With enable-expert-parallel: what the most burdened GPU computes, reads and moves of experts, times the mean; from 1, all alike."`
	DPLink                latency.Rate `json:"dp-link" name:"dp-link" default:"50GB/s" group:"Instances" help:"Rate per GPU between nodes, one way, for data-parallel ranks of an MoE model that have more than the 8 GPUs of a node together."`
}

// Load balancing among data-parallel ranks: the endpoints of an instance.
const (
	internalLB = "internal" // one, of all ranks
	externalLB = "external" // one for each rank
	hybridLB   = "hybrid"   // one for each --data-parallel-size-local ranks
)

// mostRanks is far more than any instance has; mostImbalance bounds the figure of a user.
const mostRanks, mostImbalance = 1024, 1024

// checkDataParallel checks the settings of data-parallel ranks one by one.
func checkDataParallel(c *Config, check func(ok bool, name string, value any, want string)) {
	d, l := c.DataParallelSize, c.DataParallelSizeLocal
	check(d >= 1 && d <= mostRanks, "data-parallel-size", d, fmt.Sprintf("1 (no ranks) to %d", mostRanks))
	hybrid := c.DataParallelLB == hybridLB
	check(l >= 0 && l <= mostRanks, "data-parallel-size-local", l, "a divisor of --data-parallel-size, with --data-parallel-lb hybrid")
	check(!hybrid || d <= 1 || l >= 1 && d%l == 0, "data-parallel-size-local", l, fmt.Sprintf("a divisor of --data-parallel-size %d with --data-parallel-lb hybrid: the ranks behind an endpoint", d))
	check(c.APIServerCount >= 0 && c.APIServerCount <= mostRanks, "api-server-count", c.APIServerCount, fmt.Sprintf("1 to %d, 0 for as many as ranks", mostRanks))
	check(c.EPImbalance >= 1 && c.EPImbalance <= mostImbalance, "ep-imbalance", c.EPImbalance, fmt.Sprintf("1 (all GPUs alike) to %d", mostImbalance))
	check(c.DPLink > 0, "dp-link", c.DPLink, "a rate like 50GB/s")
	most := max(c.NumInstances, c.PrefillReplicas, c.DecodeReplicas)
	check(d < 1 || d > mostRanks || most*d <= MostInstances || most > MostInstances, "data-parallel-size", d, fmt.Sprintf("at most %d ranks of all instances together", MostInstances))
}

// localRanks returns the ranks behind one endpoint.
func localRanks(c *Config) int {
	switch {
	case c.DataParallelSize <= 1 || c.DataParallelLB == externalLB:
		return 1
	case c.DataParallelLB == hybridLB:
		return c.DataParallelSizeLocal
	}
	return c.DataParallelSize
}

// resolveRanks derives the data-parallel ranks of the pool's instances, which need the model.
func resolveRanks(p *resolver) {
	c := &p.Config
	local := localRanks(c)
	if local > 1 && c.APIServerCount == 0 {
		c.APIServerCount = local
	}
	r := engine.RanksConfig{Ranks: c.DataParallelSize, Local: local, FrontEnds: max(1, c.APIServerCount)}
	if local == 1 {
		r.FrontEnds = 1
	}
	r.LockStep = r.Ranks > 1 && p.server.Model.Experts > 0
	p.server.Ranks, p.Summary.Ranks = r, r.Ranks
	noteRanks(p)
}

// sharedExperts is how the ranks of an instance of the model share experts, as the latency model takes it.
func sharedExperts(c *Config, m *latency.ModelSpec) (d latency.DataParallel) {
	if m.Experts == 0 {
		return d
	}
	if c.DataParallelSize > 1 {
		d.Ranks, d.NodeLink = c.DataParallelSize, float64(c.DPLink)
	}
	if c.EnableExpertParallel && c.DataParallelSize*c.TP > 1 && c.EPImbalance > 1 {
		d.Imbalance = c.EPImbalance
	}
	return d
}

// noteRanks notes settings of ranks without an effect on this model and these GPUs.
func noteRanks(p *resolver) {
	c, m := &p.Config, p.server.Model
	gpus := c.DataParallelSize * c.TP
	imbalance := ""
	switch {
	case m.Experts == 0:
		imbalance = m.Name + " has no experts"
	case !c.EnableExpertParallel:
		imbalance = "without enable-expert-parallel each GPU has a slice of every expert"
	case gpus == 1:
		imbalance = "one GPU holds all experts"
	}
	if imbalance != "" {
		p.noteIfSet([]string{"ep-imbalance"}, imbalance)
	}
	switch {
	case c.DataParallelSize <= 1: // unusedOfRanks says it
	case m.Experts == 0:
		p.noteIfSet([]string{"dp-link"}, m.Name+" has no experts, so its ranks exchange nothing")
	case gpus <= latency.NodeGPUs:
		p.noteIfSet([]string{"dp-link"}, fmt.Sprintf("the %d GPUs of the ranks are taken to be of one node", gpus))
	}
}

// noteOwnTokens says once that the latency model knows the tokens of a rank alone, where ranks share
// experts.
func noteOwnTokens(p *resolver) {
	if !p.server.Ranks.LockStep || p.brief {
		return
	}
	if m := p.Summary.LatencyModel; m == "blackbox" || m == "custom" {
		p.note("%s knows the tokens of a rank alone: a step takes as long as its slowest rank, but experts and the exchange between ranks are not those of all %d", m, p.server.Ranks.Ranks)
	}
}

func unusedOfRanks(c *Config) []unused {
	return []unused{
		{c.DataParallelSize <= 1, []string{"data-parallel-lb", "data-parallel-size-local", "api-server-count", "dp-link"}, "data-parallel-size is 1"},
		{c.DataParallelSize > 1 && c.DataParallelLB != hybridLB, []string{"data-parallel-size-local"}, "data-parallel-lb is " + c.DataParallelLB},
		{c.DataParallelSize > 1 && localRanks(c) == 1, []string{"api-server-count"}, "each endpoint has one rank"},
	}
}
