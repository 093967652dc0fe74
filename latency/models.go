package latency

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	_ "embed"
)

//go:embed data/models.yaml
var modelsYAML []byte

// builtinModels are the entries of the embedded file, each with one spec per
// Hugging Face id that it stands for.
var builtinModels = sync.OnceValue(func() []embedded[ModelSpec] {
	return embeddedList(modelsYAML, "models.yaml", parseModels)
})

// parseModels reads a list in the format of data/models.yaml.
func parseModels(data []byte, file string) ([]ModelSpec, error) {
	var doc struct {
		Models []modelEntry `yaml:"models"`
	}
	if err := decodeYAML(data, file, &doc); err != nil {
		return nil, err
	}
	var list []ModelSpec
	for _, e := range doc.Models {
		list = append(list, e.specs()...)
	}
	for i := range list {
		if err := list[i].Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return list, nil
}

// modelEntry is one entry of data/models.yaml.
type modelEntry struct {
	IDs     []string   `yaml:"ids"`
	Aliases []string   `yaml:"aliases"`
	Shape   modelShape `yaml:"shape"`

	WeightBits     int64 `yaml:"weight_bits"`     // 0: 16
	ActivationBits int64 `yaml:"activation_bits"` // 0: 16
	KVBits         int64 `yaml:"kv_bits"`         // 0: 16
	MLP            *part `yaml:"mlp"`             // without: as attention
	Experts        *part `yaml:"experts"`         // without: as dense MLPs
	MaxPosition    int64 `yaml:"max_position"`

	NotModelled []string `yaml:"not_modelled"`
}

// part is a PartWidth.
type part struct {
	WeightBits     int64   `yaml:"weight_bits"`
	ScaleBits      float64 `yaml:"scale_bits"`
	ActivationBits int64   `yaml:"activation_bits"`
}

func (p *part) width() PartWidth {
	if p == nil {
		return PartWidth{}
	}
	return PartWidth{p.WeightBits, p.ScaleBits, p.ActivationBits}
}

// modelShape has the names of ModelSpec's fields. What is left out is 0; of MoE
// models expert_intermediate is intermediate then, of latent attention kv_heads
// and head_dim follow.
type modelShape struct {
	Hidden       int64 `yaml:"hidden"`
	Layers       int64 `yaml:"layers"`
	Heads        int64 `yaml:"heads"`
	KVHeads      int64 `yaml:"kv_heads"`
	HeadDim      int64 `yaml:"head_dim"`
	Intermediate int64 `yaml:"intermediate"`
	Vocab        int64 `yaml:"vocab"`

	Experts            int64 `yaml:"experts"`
	ActiveExperts      int64 `yaml:"active_experts"`
	ExpertIntermediate int64 `yaml:"expert_intermediate"`
	SharedIntermediate int64 `yaml:"shared_intermediate"`
	DenseLayers        int64 `yaml:"dense_layers"`

	WindowLayers int64 `yaml:"window_layers"`
	Window       int64 `yaml:"window"`

	LatentRank int64 `yaml:"latent_rank"`
	QueryRank  int64 `yaml:"query_rank"`
	NopeDim    int64 `yaml:"nope_dim"`
	RopeDim    int64 `yaml:"rope_dim"`
	ValueDim   int64 `yaml:"value_dim"`
}

// specs is a spec for each id.
func (e *modelEntry) specs() []ModelSpec {
	var list []ModelSpec
	for i, id := range e.IDs {
		s := e.Shape.spec()
		s.Name, s.Source = id, "https://huggingface.co/"+id+" (config.json)"
		s.ElementBytes, s.KVElementBytes = 2, cmp.Or(e.KVBits, 16)/8
		s.MLPWidth, s.ExpertWidth = e.MLP.width(), e.Experts.width()
		s.WeightBits, s.ActivationBits = cmp.Or(e.WeightBits, 16), cmp.Or(e.ActivationBits, 16)
		s.MaxPosition, s.NotModelled = e.MaxPosition, e.NotModelled
		if i == 0 {
			s.Aliases = e.Aliases
		}
		list = append(list, s)
	}
	return list
}

func (m *modelShape) spec() ModelSpec {
	s := ModelSpec{
		Hidden: m.Hidden, Layers: m.Layers, Heads: m.Heads, KVHeads: m.KVHeads, HeadDim: m.HeadDim,
		LatentRank: m.LatentRank, QueryRank: m.QueryRank, NopeDim: m.NopeDim, RopeDim: m.RopeDim, ValueDim: m.ValueDim,
		WindowLayers: m.WindowLayers, Window: m.Window,
		Intermediate: m.Intermediate, MLPMatrices: 3, Vocab: m.Vocab,
		Experts: m.Experts, ActiveExperts: m.ActiveExperts, ExpertIntermediate: m.ExpertIntermediate,
		SharedIntermediate: m.SharedIntermediate, DenseLayers: m.DenseLayers,
	}
	if s.LatentRank > 0 {
		s.KVHeads, s.HeadDim = 1, s.NopeDim+s.RopeDim
	}
	if s.Experts > 0 && s.ExpertIntermediate == 0 {
		s.ExpertIntermediate = s.Intermediate
	}
	return s
}

// AllModels lists the built-in models in order of name.
func AllModels() []ModelSpec {
	list := all(builtinModels())
	slices.SortFunc(list, func(a, b ModelSpec) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// FindModel returns the built-in model with this Hugging Face id, or its part
// after the slash, or alias, whatever the case. The error for an unknown name
// lists the nearest.
func FindModel(name string) (ModelSpec, error) {
	if s, ok := find(builtinModels(), name, (*ModelSpec).Is); ok {
		return s, nil
	}
	var known []string
	for _, s := range AllModels() {
		known = append(known, s.Name)
	}
	return ModelSpec{}, &Unknown{
		Kind: "model", Name: name, Nearest: nearest(name, known, 3),
		Remedy: "give the folder of any other model's config.json with --model-config-folder",
	}
}

// Is reports whether name is one of the model's: its Hugging Face id, the part
// after the slash, or a short name; upper and lower case are alike.
func (s *ModelSpec) Is(name string) bool {
	return strings.EqualFold(s.Name, name) || strings.EqualFold(baseName(s.Name), name) ||
		slices.ContainsFunc(s.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
}
