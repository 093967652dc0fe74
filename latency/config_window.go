package latency

import (
	"encoding/json"
	"strings"
)

// slidingPeriod is every how many layers one attends to all keys, by types whose
// files may leave the pattern out. Layers of other types all have the window, as in
// vLLM.
var slidingPeriod = map[string]int64{
	"cohere2": 4, "exaone4": 4, "gemma2": 2, "gemma3": 6, "gemma3_text": 6, "gpt_oss": 2, "llama4": 4, "llama4_text": 4, "olmo3": 4,
}

// windows reads which layers attend to the last keys only. Attention in chunks counts
// as a window of a chunk, which is an upper bound: a token attends to the part of its
// chunk that is before it.
func (c *config) windows(s *ModelSpec) {
	kind := "sliding_attention"
	size := c.windowSize(s)
	if size == 0 {
		kind, size = "chunked_attention", c.chunkSize(s)
	}
	if size == 0 || s.Layers < 1 || s.Layers > maxLayers {
		return
	}
	if s.WindowLayers = c.windowLayers(s.Layers, kind); s.WindowLayers > 0 {
		s.Window = size
	}
}

// windowSize is the sliding window, 0 if there is none or it is as long as the
// context.
func (c *config) windowSize(s *ModelSpec) int64 {
	off := strings.HasPrefix(c.kind, "qwen2") || strings.HasPrefix(c.kind, "qwen3") // unless the file says true
	if !c.switched("use_sliding_window", !off) {
		return 0
	}
	return belowContext(c.peek("sliding_window"), s)
}

// chunkSize is the chunk that attention is limited to, 0 if there is none.
func (c *config) chunkSize(s *ModelSpec) int64 {
	return belowContext(c.peek("attention_chunk_size"), s)
}

func belowContext(tokens int64, s *ModelSpec) int64 {
	if tokens < 1 || tokens > maxWindow || s.MaxPosition > 0 && tokens >= s.MaxPosition {
		return 0
	}
	return tokens
}

// windowLayers counts the layers of a kind: those that layer_types names, or those
// that the type has.
func (c *config) windowLayers(layers int64, kind string) int64 {
	if kinds := c.layerTypes(layers); kinds != nil {
		return count(kinds, kind)
	}
	if kind == "chunked_attention" {
		return c.chunkedLayers(layers)
	}
	if strings.HasPrefix(c.kind, "qwen") { // the first ones attend to all keys
		return max(0, layers-max(0, c.peek("max_window_layers")))
	}
	period := slidingPeriod[c.kind]
	for _, name := range []string{"sliding_window_pattern", "_sliding_window_pattern"} {
		if n := c.peek(name); n > 0 {
			period = n
		}
	}
	if period == 0 {
		return layers
	}
	return layers - layers/period
}

// chunkedLayers counts the layers that attend in chunks: in Llama 4 those that have
// rotary positions, three of four unless no_rope_layers marks them.
func (c *config) chunkedLayers(layers int64) int64 {
	var rotary []int64
	if raw := c.find("no_rope_layers"); raw != nil && json.Unmarshal(raw, &rotary) == nil && int64(len(rotary)) == layers {
		n := int64(0)
		for _, has := range rotary {
			if has != 0 {
				n++
			}
		}
		return n
	}
	if period := slidingPeriod[c.kind]; period > 0 {
		return layers - layers/period
	}
	return 0
}

// layerTypes are the kinds of the layers, nil if the file does not name them. Entries
// beyond the last layer are for multi-token prediction; those that are missing attend
// to all keys.
func (c *config) layerTypes(layers int64) []string {
	var kinds []string
	if raw := c.find("layer_types"); raw == nil || json.Unmarshal(raw, &kinds) != nil || len(kinds) == 0 {
		return nil
	}
	return kinds[:min(int64(len(kinds)), max(0, layers))]
}

func count(list []string, of string) int64 {
	n := int64(0)
	for _, v := range list {
		if v == of {
			n++
		}
	}
	return n
}

// switched is a flag that nothing but a window depends on: otherwise where it is no
// boolean.
func (c *config) switched(name string, otherwise bool) bool {
	on := otherwise
	if raw := c.find(name); raw == nil || json.Unmarshal(raw, &on) != nil {
		return otherwise
	}
	return on
}
