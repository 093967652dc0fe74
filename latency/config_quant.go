package latency

import (
	"encoding/json"
	"strings"
)

// quantConfig is the part of a quantization_config that says how wide numbers
// are. Each library has its own names.
type quantConfig struct {
	Method string `json:"quant_method"`
	Algo   string `json:"quant_algo"` // modelopt's

	Bits      int64  `json:"bits"`
	AWQBits   int64  `json:"w_bit"`
	GroupSize int64  `json:"group_size"`
	AWQGroup  int64  `json:"q_group_size"`
	ZeroPoint *bool  `json:"zero_point"`
	Symmetric *bool  `json:"sym"`
	Load4     bool   `json:"load_in_4bit"`
	Load8     bool   `json:"load_in_8bit"`
	Double    bool   `json:"bnb_4bit_use_double_quant"`
	KVAlgo    string `json:"kv_cache_quant_algo"`

	Groups map[string]quantGroup `json:"config_groups"`
	KV     *tensorWidth          `json:"kv_cache_scheme"`
	Inner  *quantConfig          `json:"quantization"` // modelopt's older form
}

type quantGroup struct {
	Weights     *tensorWidth `json:"weights"`
	Activations *tensorWidth `json:"input_activations"`
}

type tensorWidth struct {
	Bits      int64 `json:"num_bits"`
	GroupSize int64 `json:"group_size"`
	Symmetric *bool `json:"symmetric"`
}

// quantisation reads the width of quantised weights, of their scales, of the
// activations that meet them, and of the KV cache. Attention and shared experts may
// be left as they are in all layers; other layers that a scheme skips count as
// quantised.
func (c *config) quantisation(s *ModelSpec) {
	raw := c.find("quantization_config", "compression_config")
	if raw == nil {
		return
	}
	var q quantConfig
	if err := json.Unmarshal(raw, &q); err != nil {
		c.problems.add("quantization_config", "is not understood: want quant_method with bits or config_groups")
		return
	}
	if q.Inner != nil {
		q = *q.Inner
	}
	c.weightWidth(s, &q)
	if s.WeightBits < 1 || s.WeightBits > 16 {
		c.problems.add("quantization_config", "has weights of %d bits, want 1 to 16", s.WeightBits)
		s.WeightBits = 16 // said once
	}
	if s.WeightBits < 16 {
		c.parts(s, q.Method)
	}
	c.kvWidth(s, &q)
}

func (c *config) weightWidth(s *ModelSpec, q *quantConfig) {
	bits, group := max(q.Bits, q.AWQBits), max(q.GroupSize, q.AWQGroup)
	asymmetric := q.ZeroPoint != nil && *q.ZeroPoint || q.Symmetric != nil && !*q.Symmetric
	switch {
	case strings.EqualFold(q.Method, "fp8"), strings.EqualFold(q.Method, "fbgemm_fp8"), strings.HasPrefix(strings.ToUpper(q.Algo), "FP8"):
		s.WeightBits, s.ActivationBits = 8, 8 // scales are one per block of 128 × 128 or fewer
	case q.Method == "mxfp4":
		s.WeightBits, s.ScaleBits = 4, 8.0/32
	case strings.EqualFold(q.Algo, "NVFP4"):
		s.WeightBits, s.ScaleBits, s.ActivationBits = 4, 8.0/16, 4
	case bits != 0:
		s.WeightBits, s.ScaleBits = bits, scaleBits(bits, group, asymmetric)
	case q.Load4: // a float32 per 64 weights, itself quantised to 8 bits if asked for
		s.WeightBits, s.ScaleBits = 4, 32.0/64
		if q.Double {
			s.ScaleBits = 8.0 / 64
		}
	case q.Load8: // a scale per row
		s.WeightBits = 8
	case len(q.Groups) > 0:
		c.groupWidth(s, q.Groups)
	default:
		c.problems.add("quantization_config", "gives no width: want bits, config_groups, or a quant_method among fp8, fbgemm_fp8, mxfp4 (it is %q)", excerptText(q.Method))
	}
}

// groupWidth returns the largest widths of all groups of a compressed-tensors file.
func (c *config) groupWidth(s *ModelSpec, groups map[string]quantGroup) {
	var bits, activations int64
	scales := 0.0
	for _, g := range groups { // in any order: only maxima are taken
		if w := g.Weights; w != nil {
			bits = max(bits, w.Bits)
			scales = max(scales, scaleBits(w.Bits, w.GroupSize, w.Symmetric != nil && !*w.Symmetric))
		}
		if g.Activations != nil {
			activations = max(activations, g.Activations.Bits)
		}
	}
	s.WeightBits, s.ScaleBits = bits, scales
	if activations != 0 {
		s.ActivationBits = activations
	}
}

// scaleBits is the number of bits per weight for the scale of its group, 16
// bits, and the zero point if there is one. Without groups there is one scale
// per row or matrix, which is negligible.
func scaleBits(bits, group int64, zeroPoint bool) float64 {
	if group <= 0 {
		return 0
	}
	shared := int64(16)
	if zeroPoint {
		shared += min(max(bits, 0), 16)
	}
	return float64(shared) / float64(group)
}

// kvWidth is the width of the KV cache where the file gives one: vLLM follows
// it without a flag.
func (c *config) kvWidth(s *ModelSpec, q *quantConfig) {
	switch {
	case strings.EqualFold(q.KVAlgo, "FP8"):
		s.KVElementBytes = 1
	case q.KV != nil && q.KV.Bits != 0:
		if q.KV.Bits != 8 && q.KV.Bits != 16 {
			c.problems.add("kv_cache_scheme", "has %d bits, want 8 or 16", q.KV.Bits)
			return
		}
		s.KVElementBytes = q.KV.Bits / 8
	}
}
