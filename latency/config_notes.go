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
		add("%s: counted as full attention", text)
	}
	for _, name := range []string{"hybrid_override_pattern", "attn_layer_period", "attn_type_list", "full_attention_interval", "linear_attn_config", "layers_block_type", "block_types"} {
		if c.find(name) != nil {
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
	if n := c.peek("num_nextn_predict_layers"); n > 0 {
		add("multi-token prediction: its layers (%d) are left out", n)
	}
	for _, name := range []string{"vision_config", "audio_config", "visual"} {
		if c.find(name) != nil {
			add("what reads images or sound (%s): left out, with its weights", name)
			break
		}
	}
	if name := c.skipped(); name != "" {
		add("layers that quantisation leaves alone (%s): counted as quantised", name)
	}
	return notes
}

// partialAttention says which layers attend to a part of the keys only, "" when
// all attend to all.
func (c *config) partialAttention(s *ModelSpec) string {
	window, chunk := c.peek("sliding_window"), c.peek("attention_chunk_size")
	if raw := c.find("use_sliding_window"); string(raw) == "false" || s.MaxPosition > 0 && window >= s.MaxPosition {
		window = 0
	}
	size := ""
	if window > 0 {
		size = fmt.Sprintf(" (window of %d tokens)", window)
	}
	var kinds []string
	if raw := c.find("layer_types"); raw != nil && json.Unmarshal(raw, &kinds) == nil && len(kinds) > 0 {
		partial := 0
		for _, kind := range kinds {
			if kind != "full_attention" {
				partial++
			}
		}
		if partial == 0 {
			return ""
		}
		return fmt.Sprintf("%d of %d layers that do not attend to all keys%s", partial, len(kinds), size)
	}
	switch {
	case window > 0:
		return fmt.Sprintf("sliding window of %d tokens", window)
	case chunk > 0:
		return fmt.Sprintf("attention in chunks of %d tokens", chunk)
	}
	return ""
}

// usuallySkipped are parts of names that quantisation leaves alone as a rule:
// what the counts hold at full width or leave out. Routers end in gate.
var usuallySkipped = strings.Fields("lm_head embed norm router vision visual multi_modal projector mtp")

func skippedAsUsual(name string) bool {
	return strings.HasSuffix(strings.TrimRight(name, "$*."), "gate") ||
		slices.ContainsFunc(usuallySkipped, func(part string) bool { return strings.Contains(name, part) })
}

// skipped is the field that lists layers which quantisation leaves alone though
// they are counted as quantised, "" when there are none.
func (c *config) skipped() string {
	raw := c.find("quantization_config", "compression_config")
	if raw == nil {
		return ""
	}
	var q map[string]json.RawMessage
	if json.Unmarshal(raw, &q) != nil {
		return ""
	}
	for _, field := range []string{"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules", "llm_int8_skip_modules"} {
		var names []string
		if json.Unmarshal(q[field], &names) != nil {
			continue
		}
		if slices.ContainsFunc(names, func(name string) bool { return !skippedAsUsual(name) }) {
			return field
		}
	}
	return ""
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
