package latency

import (
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
	IDs     []string `yaml:"ids"`
	Aliases []string `yaml:"aliases"`
	Shape   struct {
		Hidden        int64 `yaml:"hidden"`
		Layers        int64 `yaml:"layers"`
		Heads         int64 `yaml:"heads"`
		KVHeads       int64 `yaml:"kv_heads"`
		HeadDim       int64 `yaml:"head_dim"`
		Intermediate  int64 `yaml:"intermediate"`
		Vocab         int64 `yaml:"vocab"`
		Experts       int64 `yaml:"experts"`
		ActiveExperts int64 `yaml:"active_experts"`
	} `yaml:"shape"`
	MaxPosition int64 `yaml:"max_position"`
}

func (e *modelEntry) specs() []ModelSpec {
	var list []ModelSpec
	for i, id := range e.IDs {
		s := ModelSpec{
			Name: id, Source: "https://huggingface.co/" + id + " (config.json)",
			Hidden: e.Shape.Hidden, Layers: e.Shape.Layers, Heads: e.Shape.Heads, KVHeads: e.Shape.KVHeads, HeadDim: e.Shape.HeadDim,
			Intermediate: e.Shape.Intermediate, MLPMatrices: 3, Vocab: e.Shape.Vocab,
			Experts: e.Shape.Experts, ActiveExperts: e.Shape.ActiveExperts,
			ElementBytes: 2, WeightBits: 16, ActivationBits: 16, KVElementBytes: 2,
			MaxPosition: e.MaxPosition,
		}
		if s.Experts > 0 {
			s.ExpertIntermediate = e.Shape.Intermediate
		}
		if i == 0 {
			s.Aliases = e.Aliases
		}
		list = append(list, s)
	}
	return list
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
	if s, ok := find(builtinModels(), name, (*ModelSpec).is); ok {
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

func (s *ModelSpec) is(name string) bool {
	return strings.EqualFold(s.Name, name) || strings.EqualFold(baseName(s.Name), name) ||
		slices.ContainsFunc(s.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
}
