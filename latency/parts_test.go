package latency

import (
	"math"
	"strings"
	"testing"
)

// Mixtral with its experts alone in 4 bits: they take 4.25 of 16 bits, all else stays.
func TestWidthOfExpertsAlone(t *testing.T) {
	plain := mustModel(t, "mixtral-8x7b")
	s := *plain
	s.ExpertWidth = PartWidth{WeightBits: 4, ScaleBits: 0.25, ActivationBits: 16}
	const experts = 32 * 8 * 3 * 4096 * 14336
	if got, want := s.Counts().ResidentWeightBytes(), plain.Counts().ResidentWeightBytes()-2*experts+experts*425/800; got != want {
		t.Errorf("%d bytes of weights, want %d", got, want)
	}
	if got, want := s.Counts().alwaysStreamed(), plain.Counts().alwaysStreamed(); got != want {
		t.Errorf("%v bytes are read always, want %v", got, want)
	}
	if got, want := s.Counts().expertBytes(), plain.Counts().expertBytes()*4.25/16; got != want {
		t.Errorf("%v bytes of experts, want %v", got, want)
	}
	if text := s.WidthsText(); text != "weights of 16 bits (experts 4), activations of 16, KV cache of 16" {
		t.Error(text)
	}
	if text := otherWidths(&s); text != "weights of experts of 4 bits" {
		t.Error(text)
	}
	if s.Counts().features() == plain.Counts().features() {
		t.Error("the features do not tell the models apart")
	}
}

// Shared experts and dense layers follow the MLPs' width, attention its own.
func TestWidthOfMLPs(t *testing.T) {
	plain := mustModel(t, "DeepSeek-V2-Lite")
	s := *plain
	s.MLPWidth = PartWidth{WeightBits: 8, ActivationBits: 8}
	attention, mlp, experts := s.Counts().parts()
	if got, want := s.Counts().ResidentWeightBytes(), 2*attention+mlp+experts+2*s.Counts().plainWeights(); got != want {
		t.Errorf("%d bytes of weights, want %d", got, want)
	}
	head := float64(2 * s.Hidden * s.Vocab)
	if got, want := s.Counts().alwaysStreamed(), float64(2*attention+mlp)+head; got != want {
		t.Errorf("%v bytes are read always, want %v", got, want)
	}
	if got := s.Counts().expertBytes(); got != float64(experts) {
		t.Errorf("%v bytes of experts, want %d", got, experts)
	}
	s.ExpertWidth = PartWidth{WeightBits: 4, ScaleBits: 0.5, ActivationBits: 4}
	if text := s.WidthsText(); text != "weights of 16 bits (MLPs 8, experts 4), activations of 16 (MLPs 8, experts 4), KV cache of 16" {
		t.Error(text)
	}
}

// Each part computes at the peak of its operands.
func TestPartsComputeAtTheirPeak(t *testing.T) {
	s := *mustModel(t, "DeepSeek-V2-Lite")
	d := &Deployment{Model: &s, GPU: mustGPU(t, "B200"), TP: 2}
	n := s.Counts()
	if got := d.layerFLOPs(); got != float64(n.LayerFLOPs()) {
		t.Errorf("16 bits: %v FLOPs, want %d", got, n.LayerFLOPs())
	}
	s.MLPWidth = PartWidth{WeightBits: 8, ActivationBits: 8}
	s.ExpertWidth = PartWidth{WeightBits: 4, ActivationBits: 4}
	plain, chosen := n.mlpLayerFLOPs()
	// By hand: 1 dense layer of 10,944, 26 with shared experts of 2,816 and 6 of 1,408.
	if plain != 2*3*2048*(10944+26*2816) || chosen != 2*3*2048*26*6*1408 {
		t.Errorf("MLPs %d, experts %d FLOPs", plain, chosen)
	}
	want := float64(n.LayerFLOPs()-plain-chosen) + float64(plain)/2 + float64(chosen)/4
	if got := d.layerFLOPs(); math.Abs(got-want) > 1e-12*want {
		t.Errorf("8 and 4 bits: %v FLOPs at the 16-bit peak, want %v", got, want)
	}
}

func TestImpossibleWidthOfAPart(t *testing.T) {
	s := *mustModel(t, "mixtral-8x7b")
	s.Name, s.MLPWidth, s.ExpertWidth = "x", PartWidth{ScaleBits: -1}, PartWidth{WeightBits: 4}
	err := s.Validate()
	for _, want := range []string{"MLP: bits per weight is 0, want 1 to 64", "MLP: bits of scales per weight is -1", "experts: bits per activation is 0, want 4 to 64"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// MXFP4 is for experts in vLLM; a dense model has it everywhere here.
func TestServedMXFP4IsForExperts(t *testing.T) {
	base := mustModel(t, "mixtral-8x7b")
	s, err := base.Served(Widths{Quantization: "mxfp4"})
	if err != nil || s.WeightBits != 16 || s.ExpertWidth != (PartWidth{4, 0.25, 16}) || !s.Reshaped {
		t.Errorf("%s, %v", s.WidthsText(), err)
	}
	if again, err := s.Served(Widths{Quantization: "fp8"}); err != nil || again.WidthsText() != s.WidthsText() {
		t.Errorf("quantised again: %s, %v", again.WidthsText(), err)
	}
}
