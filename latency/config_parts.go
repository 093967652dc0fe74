package latency

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// ignored returns the modules that quantisation leaves alone, and the field that lists
// them. What is no list of names is passed over.
func (c *config) ignored() (field string, names []string) {
	var q map[string]json.RawMessage
	if raw := c.find("quantization_config", "compression_config"); raw == nil || json.Unmarshal(raw, &q) != nil {
		return "", nil
	}
	if inner, ok := q["quantization"]; ok { // modelopt's older form
		var older map[string]json.RawMessage
		if json.Unmarshal(inner, &older) == nil && older != nil {
			q = older
		}
	}
	for _, field := range []string{"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules", "llm_int8_skip_modules"} {
		if json.Unmarshal(q[field], &names) == nil && len(names) > 0 {
			return field, names
		}
		names = nil
	}
	return "", nil
}

// parts gives s the widths that it has been given to MLPs alone, or to experts alone,
// where the file leaves the others as they are. Only whole parts count: where
// attention is left alone in some layers it counts as quantised.
func (c *config) parts(s *ModelSpec, method string) {
	attention, shared := c.leftAlone(s)
	if s.Experts > 0 && strings.EqualFold(method, "mxfp4") { // in vLLM for experts
		attention, shared = true, true
	}
	if !attention {
		return
	}
	width := PartWidth{s.WeightBits, s.ScaleBits, s.ActivationBits}
	s.WeightBits, s.ScaleBits, s.ActivationBits = 16, 0, 16
	if s.Experts > 0 && (shared || s.SharedIntermediate == 0 && s.DenseLayers == 0) {
		s.ExpertWidth = width
	} else {
		s.MLPWidth = width
	}
}

// Projections of attention that stand for all of it: the first and the last.
var (
	queryProjections  = strings.Fields("q_proj q_b_proj qkv_proj query_key_value c_attn")
	outputProjections = strings.Fields("o_proj out_proj dense c_proj")
)

// leftAlone reports whether quantisation leaves attention alone in all layers, and
// shared experts in all layers that have some.
func (c *config) leftAlone(s *ModelSpec) (attention, shared bool) {
	if s.Layers < 1 || s.Layers > maxLayers {
		return false, false
	}
	_, names := c.ignored()
	queries, output, experts := make([]bool, s.Layers), make([]bool, s.Layers), make([]bool, s.Layers)
	for _, name := range names {
		segments, first, last := module(name, s.Layers)
		mark := func(layers []bool) {
			for i := first; i < last; i++ {
				layers[i] = true
			}
		}
		for i, segment := range segments {
			next := ""
			if i+1 < len(segments) {
				next = segments[i+1]
			}
			switch segment {
			case "self_attn", "attn", "attention", "self_attention":
				if next == "" || slices.Contains(queryProjections, next) {
					mark(queries)
				}
				if next == "" || slices.Contains(outputProjections, next) {
					mark(output)
				}
			case "shared_expert", "shared_experts":
				if next == "" || next == "down_proj" {
					mark(experts)
				}
			}
		}
	}
	marked := int64(0)
	for _, m := range experts {
		if m {
			marked++
		}
	}
	attention = !slices.Contains(queries, false) && !slices.Contains(output, false)
	return attention, s.SharedIntermediate > 0 && marked >= s.Layers-s.DenseLayers
}

// module takes the pattern of a module apart, "model.layers.3.self_attn*" or
// "re:.*self_attn.*": its segments, and the layers from first to before last that it
// is about. A pattern with a choice of layers is about none.
func module(pattern string, layers int64) (segments []string, first, last int64) {
	if skippedAsUsual(pattern) { // attention of an encoder of images
		return nil, 0, 0
	}
	text := strings.NewReplacer("re:", "", `\.`, ".", ".*", "*.", "$", "").Replace(pattern)
	last = layers
	for _, segment := range strings.Split(text, ".") {
		segment = strings.Trim(segment, "*^")
		switch {
		case segment == "":
			continue
		case len(segments) > 0 && segments[len(segments)-1] == "layers" && segment != `\d+` && segment != "[0-9]+":
			n, err := strconv.ParseInt(segment, 10, 64)
			switch {
			case err == nil && n >= 0 && n < layers:
				first, last = n, n+1
			case err == nil || strings.ContainsAny(segment, "|[{"):
				return nil, 0, 0
			}
		}
		segments = append(segments, segment)
	}
	return segments, first, last
}

// skipped is the field that lists layers which quantisation leaves alone though
// they are counted as quantised, "" when there are none.
func (c *config) skipped(s *ModelSpec) string {
	field, names := c.ignored()
	attention := s.MLPWidth != (PartWidth{}) || s.ExpertWidth != (PartWidth{})
	mlps := s.ExpertWidth != (PartWidth{})
	for _, name := range names {
		switch {
		case skippedAsUsual(name):
		case attention && (strings.Contains(name, "attn") || strings.Contains(name, "attention")):
		case mlps && (strings.Contains(name, "shared_expert") || strings.Contains(name, "mlp") && !strings.Contains(name, "experts")):
		default:
			return field
		}
	}
	return ""
}
