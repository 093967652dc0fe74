package latency

import (
	"encoding/json"
	"slices"
)

var (
	expertNames = []string{"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"}
	activeNames = []string{"num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_topk", "moe_top_k", "moe_k"}
)

// experts reads the MoE fields. Which layers have experts is counted, not
// listed: their order changes no sum.
func (c *config) experts(s *ModelSpec) {
	s.Experts = c.integer(0, expertNames...)
	if s.Experts == 0 {
		if c.integer(0, activeNames...) != 0 && !c.has(expertNames...) {
			c.problems.add(expertNames[0], "is missing beside %s", activeNames[0])
		}
		return
	}
	s.ActiveExperts = c.needed(activeNames...)
	if s.Intermediate == 0 {
		c.needed("moe_intermediate_size")
	}
	s.ExpertIntermediate = c.integer(s.Intermediate, "moe_intermediate_size")
	s.SharedIntermediate = c.sharedExperts(s)
	if c.kind == "llama4_text" || c.kind == "llama4" { // one shared expert; dense layers have a size of their own
		s.SharedIntermediate = s.ExpertIntermediate
		s.Intermediate = c.integer(s.Intermediate, "intermediate_size_mlp")
	}
	if s.Layers >= 1 && s.Layers <= maxLayers {
		s.DenseLayers = c.denseLayers(s.Layers)
	}
}

// sharedExperts returns the width of all shared experts together: the value of its
// field, or their number times the width of one.
func (c *config) sharedExperts(s *ModelSpec) int64 {
	const most = 1 << 30 // far above what is valid, and products fit
	n := c.integer(0, "n_shared_experts", "num_shared_experts", "moe_num_shared_experts")
	width := c.integer(s.ExpertIntermediate, "moe_shared_expert_intermediate_size")
	if n < 0 || n > most {
		c.problems.add("n_shared_experts", "is %d, want 0 to %d", n, maxExperts)
		return 0
	}
	product := n * max(0, min(width, most))
	return c.integer(product, "shared_expert_intermediate_size", "shared_intermediate_size")
}

// denseLayers counts the layers of an MoE model that have no experts. Each of
// these fields takes experts from some layers; types differ in whether a period
// begins or ends with its MoE layer.
func (c *config) denseLayers(layers int64) int64 {
	leading := c.layer("first_k_dense_replace", 0, layers)
	if start := c.layer("moe_layer_start_index", 0, layers); start > 0 {
		leading = start
	}
	last := c.integer(-1, "moe_layer_end_index") // -1: the last one
	begins := c.frequency(layers)
	ends := c.step("interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_interval")
	period := c.step("expert_layer_period")
	offset := c.layer("expert_layer_offset", 0, period)
	without, only := c.list("mlp_only_layers"), c.list("moe_layers")
	dense := int64(0)
	for layer := range layers {
		switch {
		case layer < leading, last >= 0 && layer > last,
			!begins(layer), (layer+1)%ends != 0, layer%period != offset,
			slices.Contains(without, layer), len(only) > 0 && !slices.Contains(only, layer):
			dense++
		}
	}
	return dense
}

// frequency reads moe_layer_freq: every how many layers there are experts, or
// for each layer whether it has some.
func (c *config) frequency(layers int64) func(layer int64) bool {
	const name = "moe_layer_freq"
	var marks []json.RawMessage
	if raw := c.find(name); raw != nil && json.Unmarshal(raw, &marks) == nil {
		has := c.list(name)
		if int64(len(has)) != layers {
			c.problems.add(name, "has %d entries, want one for each of num_hidden_layers %d", len(has), layers)
			return func(int64) bool { return true }
		}
		return func(layer int64) bool { return has[layer] != 0 }
	}
	n := c.step(name)
	return func(layer int64) bool { return layer%n == 0 }
}

// layer is the number of a layer, from 0 and below end.
func (c *config) layer(name string, otherwise, end int64) int64 {
	n := c.integer(otherwise, name)
	if n < 0 || n >= end {
		c.problems.add(name, "is %d, want 0 to %d", n, end-1)
		return otherwise
	}
	return n
}

// step is a period of layers, 1 when there is none.
func (c *config) step(names ...string) int64 {
	n := c.integer(1, names...)
	if n < 1 {
		c.problems.add(names[0], "is %d, want 1 or more", n)
		return 1
	}
	return n
}
