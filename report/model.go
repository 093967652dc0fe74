package report

import (
	"errors"
	"slices"
	"strings"

	"blis/latency"
)

// Model holds the costs of a model, and its capacity on a GPU, without a simulation.
// Bytes and FLOPs are of the whole model, for any number of GPUs.
type Model struct {
	Model       string   `json:"model"`
	Source      string   `json:"source"`
	Parameters  int64    `json:"parameters"`
	Active      int64    `json:"active_parameters"` // in use for one token, embeddings included
	Layers      int64    `json:"layers"`
	Hidden      int64    `json:"hidden"`
	Vocabulary  int64    `json:"vocabulary"`
	MaxPosition int64    `json:"max_position"` // 0: not described
	NotModelled []string `json:"not_modelled"`

	Attention modelAttention `json:"attention"`
	MLP       modelMLP       `json:"mlp"`
	Widths    modelWidths    `json:"widths"`
	PerToken  modelPerToken  `json:"per_token"`
	Weights   modelWeights   `json:"weight_bytes"`

	GPU         modelGPU        `json:"gpu"`
	TP          int             `json:"tp"`
	SmallestTP  *int            `json:"smallest_tp"` // that fits; null: none
	Utilization float64         `json:"gpu_memory_utilization"`
	Activations int64           `json:"activation_bytes"`
	BlockSize   int64           `json:"block_size_in_tokens"`
	Capacity    []modelCapacity `json:"capacity"` // at TP 1, 2, 4, 8 and the one asked for
}

type modelAttention struct {
	Kind       latency.AttentionKind `json:"kind"`
	Heads      int64                 `json:"heads"`
	KVHeads    int64                 `json:"kv_heads"`
	HeadDim    int64                 `json:"head_dim"`
	LatentRank int64                 `json:"kv_lora_rank"` // these five 0 but for MLA
	QueryRank  int64                 `json:"q_lora_rank"`
	NopeDim    int64                 `json:"qk_nope_head_dim"`
	RopeDim    int64                 `json:"qk_rope_head_dim"`
	ValueDim   int64                 `json:"v_head_dim"`

	WindowLayers int64 `json:"window_layers"` // whose tokens see at most the window
	Window       int64 `json:"sliding_window"`
}

type modelMLP struct {
	Matrices           int64 `json:"matrices"`
	Intermediate       int64 `json:"intermediate"` // of dense layers
	DenseLayers        int64 `json:"dense_layers"`
	Experts            int64 `json:"experts"`
	ActiveExperts      int64 `json:"active_experts"`
	ExpertIntermediate int64 `json:"expert_intermediate"`
	SharedIntermediate int64 `json:"shared_intermediate"`
}

type modelWidths struct {
	WeightBits     int64   `json:"weight_bits"` // of attention and MLP, but for the parts below
	ScaleBits      float64 `json:"scale_bits_per_weight"`
	ActivationBits int64   `json:"activation_bits"`

	MLP     *partWidths `json:"mlp"`     // of dense MLPs and shared experts; null: as attention
	Experts *partWidths `json:"experts"` // null: as dense MLPs

	ElementBytes   int64 `json:"embedding_bytes"`
	KVElementBytes int64 `json:"kv_bytes"`
	Tied           bool  `json:"tied_embeddings"`
}

type partWidths struct {
	WeightBits     int64   `json:"weight_bits"`
	ScaleBits      float64 `json:"scale_bits_per_weight"`
	ActivationBits int64   `json:"activation_bits"`
}

// newPartWidths is nil for a part without widths of its own.
func newPartWidths(w latency.PartWidth) *partWidths {
	if w == (latency.PartWidth{}) {
		return nil
	}
	return &partWidths{w.WeightBits, w.ScaleBits, w.ActivationBits}
}

type modelPerToken struct {
	Layers     int64 `json:"layer_flops"`
	Head       int64 `json:"head_flops"` // per row that yields a token
	PrefillKey int64 `json:"prefill_flops_per_key"`
	DecodeKey  int64 `json:"decode_flops_per_key"`
	KVBytes    int64 `json:"kv_bytes"` // at TP 1
}

type modelWeights struct {
	Resident     int64   `json:"resident"`
	StreamedOne  float64 `json:"streamed_by_one_token"`
	StreamedMany float64 `json:"streamed_by_many_tokens"`
	Many         int64   `json:"many_tokens"` // a full step
}

type modelGPU struct {
	Name   string `json:"name"`
	Memory int64  `json:"memory_bytes"`
	Source string `json:"source"`
}

// modelCapacity is the capacity of an instance of TP GPUs.
type modelCapacity struct {
	TP      int    `json:"tp"`
	Problem string `json:"problem"` // why the model cannot be split so; "": it can

	WeightBytesPerGPU int64  `json:"weight_bytes_per_gpu"` // split evenly
	KVBytesPerToken   int64  `json:"kv_bytes_per_token"`   // cached on all GPUs together
	Blocks            *int64 `json:"kv_blocks"`            // null: does not fit
	Tokens            *int64 `json:"kv_tokens"`
	Needed            *int64 `json:"needed_bytes"` // on all GPUs, where it does not fit
	Available         *int64 `json:"available_bytes"`
}

// NewModel describes a deployment. Its errors name what is impossible in
// it; that the model does not fit is none.
func NewModel(d *latency.Deployment, m latency.Memory) (*Model, error) {
	s, n, g := d.Model, d.Model.Counts(), d.GPU
	if _, err := newModelCapacity(d, m); err != nil {
		return nil, err
	}
	dense := s.Layers
	if s.Experts > 0 {
		dense = s.DenseLayers
	}
	many, _ := latency.DefaultLimits(g)
	shown := &Model{
		Model: s.Name, Source: s.Source, Parameters: n.Parameters(), Active: n.ActiveParameters(),
		Layers: s.Layers, Hidden: s.Hidden, Vocabulary: s.Vocab, MaxPosition: s.MaxPosition, NotModelled: append([]string{}, s.NotModelled...),
		Attention: modelAttention{s.Attention(), s.Heads, s.KVHeads, s.HeadDim, s.LatentRank, s.QueryRank, s.NopeDim, s.RopeDim, s.ValueDim, s.WindowLayers, s.Window},
		MLP:       modelMLP{s.MLPMatrices, s.Intermediate, dense, s.Experts, s.ActiveExperts, s.ExpertIntermediate, s.SharedIntermediate},
		Widths:    modelWidths{s.WeightBits, s.ScaleBits, s.ActivationBits, newPartWidths(s.MLPWidth), newPartWidths(s.ExpertWidth), s.ElementBytes, s.KVElementBytes, s.TiedEmbeddings},
		PerToken:  modelPerToken{n.LayerFLOPs(), n.HeadFLOPs(), n.PrefillPairFLOPs(), n.DecodePairFLOPs(), n.KVBytesPerToken(1)},
		Weights:   modelWeights{n.ResidentWeightBytes(), n.StreamedWeightBytes(1), n.StreamedWeightBytes(many), many},
		GPU:       modelGPU{g.Name, g.Memory, g.Source}, TP: d.TP,
		Utilization: m.Utilization, Activations: m.Activations, BlockSize: m.BlockSize,
	}
	degrees := []int{1, 2, 4, 8, d.TP}
	slices.Sort(degrees)
	for _, tp := range slices.Compact(degrees) {
		row, err := newModelCapacity(&latency.Deployment{Model: s, GPU: g, TP: tp}, m)
		if err != nil {
			row.Problem = problemOf(err)
		}
		shown.Capacity = append(shown.Capacity, row)
	}
	smallest, err := d.SmallestTP(m)
	if smallest > 0 {
		shown.SmallestTP = &smallest
	}
	return shown, err
}

// newModelCapacity is a row of the table. An error says that there can be no
// such deployment.
func newModelCapacity(d *latency.Deployment, m latency.Memory) (modelCapacity, error) {
	row := modelCapacity{TP: d.TP}
	blocks, err := d.KVBlocks(m)
	var fit *latency.DoesNotFit
	if err != nil && !errors.As(err, &fit) {
		return row, err
	}
	row.WeightBytesPerGPU = d.Model.Counts().ResidentWeightBytes() / int64(d.TP)
	row.KVBytesPerToken = d.CachedBytesPerToken(m.BlockSize)
	if fit != nil {
		row.Needed, row.Available = &fit.Needed, &fit.Available
		return row, nil
	}
	tokens := blocks * m.BlockSize
	row.Blocks, row.Tokens = &blocks, &tokens
	return row, nil
}

// problemOf is an error without what it is about, which stands before a colon.
func problemOf(err error) string {
	_, text, found := strings.Cut(err.Error(), ": ")
	if !found {
		return err.Error()
	}
	return text
}
