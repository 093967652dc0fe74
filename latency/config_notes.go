package latency

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// notModelled returns the properties in the file that the counts ignore. The texts
// have names of fields but no values from the file, so they can be printed. Values of
// a wrong type are ignored: nothing depends on them.
func (c *config) notModelled(s *ModelSpec) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }

	if text := c.partialAttention(s); text != "" {
		notes = append(notes, text)
	}
	for _, name := range []string{"hybrid_override_pattern", "attn_layer_period", "attn_type_list", "full_attention_interval", "linear_attn_config", "layers_block_type", "block_types"} {
		if c.find(name) != nil && !c.allOnes(name) {
			add("layers of other kinds than attention (%s): counted as full attention, with its weights and KV cache", name)
			break
		}
	}
	if n := c.peek("index_topk"); n > 0 {
		add("attention to the %d best keys only (index_topk): counted as full attention", n)
	}
	if n := c.peek("num_kv_shared_layers"); n > 0 {
		add("%d layers that use the KV cache of others: counted with their own", n)
	}
	if n := c.peek("v_head_dim"); n > 0 && s.LatentRank == 0 && n != s.HeadDim {
		add("values of %d per head: counted as %d, as wide as keys", n, s.HeadDim)
	}
	if n := max(c.peek("num_nextn_predict_layers"), c.peek("num_mtp_modules")); n > 0 {
		add("multi-token prediction: its layers (%d) are left out", n)
	}
	for _, name := range []string{"vision_config", "audio_config", "visual"} {
		if c.find(name) != nil {
			add("what reads images or sound (%s): left out, with its weights", name)
			break
		}
	}
	if name := c.skipped(s); name != "" {
		add("layers that quantisation leaves alone (%s): counted as quantised", name)
	}
	return notes
}

// partialAttention says which layers attend to a part of the keys only though they
// are counted otherwise, "" when there are none.
func (c *config) partialAttention(s *ModelSpec) string {
	chunk := c.chunkSize(s)
	if c.windowSize(s) > 0 {
		chunk = 0
	}
	kinds := c.layerTypes(s.Layers)
	other := int64(len(kinds)) - count(kinds, "full_attention")
	if s.WindowLayers > 0 { // of one of the kinds
		other -= max(count(kinds, "sliding_attention"), count(kinds, "chunked_attention"))
	} else if c.windowSize(s) == 0 { // the window is off, or as long as the context
		other -= count(kinds, "sliding_attention")
	}
	switch {
	case other > 0:
		return fmt.Sprintf("%d of %d layers that do not attend to all keys: counted as full attention", other, len(kinds))
	case chunk > 0 && s.WindowLayers > 0:
		return fmt.Sprintf("attention in chunks of %d tokens in %d of %d layers: counted as a sliding window of as many", chunk, s.WindowLayers, s.Layers)
	case chunk > 0 && kinds == nil:
		return fmt.Sprintf("attention in chunks of %d tokens: counted as full attention", chunk)
	}
	return ""
}

// usuallySkipped are parts of names that quantisation leaves alone as a rule:
// what the counts hold at full width or leave out. Routers end in gate.
var usuallySkipped = strings.Fields("lm_head embed norm router vision visual multi_modal projector mtp e_score")

func skippedAsUsual(name string) bool {
	return strings.HasSuffix(strings.TrimRight(name, "$*."), "gate") ||
		slices.ContainsFunc(usuallySkipped, func(part string) bool { return strings.Contains(name, part) })
}

// peek is the value of a field that nothing depends on; 0 when it is no
// integer.
func (c *config) peek(name string) int64 {
	var n int64
	if raw := c.find(name); raw == nil || json.Unmarshal(raw, &n) != nil {
		return 0
	}
	return n
}

// allOnes reports whether a field is a list of ones: MiniMax marks layers of ordinary
// attention so.
func (c *config) allOnes(name string) bool {
	var marks []int64
	return json.Unmarshal(c.find(name), &marks) == nil && len(marks) > 0 && !slices.ContainsFunc(marks, func(n int64) bool { return n != 1 })
}
