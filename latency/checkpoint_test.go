package latency

import (
	"strings"
	"testing"
)

func TestCheckpointsOfAModel(t *testing.T) {
	plain, err := FindModel("meta-llama/Llama-3.1-70B")
	if err != nil {
		t.Fatal(err)
	}
	eight, err := plain.Checkpoint("fp8")
	if err != nil || eight.WeightBits != 8 || eight.ActivationBits != 8 || !eight.Reshaped {
		t.Errorf("%+v, %v", eight, err)
	}
	// Served would keep the 8 bits: vLLM serves only what a checkpoint has.
	four, err := eight.Checkpoint("nvfp4")
	if err != nil || four.WeightBits != 4 || four.ScaleBits != 0.5 || !four.Reshaped {
		t.Errorf("%+v, %v", four, err)
	}
	experts, err := FindModel("mistralai/Mixtral-8x7B-v0.1")
	if err != nil {
		t.Fatal(err)
	}
	experts.ExpertWidth = PartWidth{4, 0.5, 16} // INT4 experts alone
	if same, err := experts.Checkpoint("gptq"); err != nil || same.ExpertWidth != experts.ExpertWidth || same.WeightBits != 16 || same.Reshaped {
		t.Errorf("%+v, %v", same, err)
	}
	if all, err := experts.Checkpoint("nvfp4"); err != nil || all.ExpertWidth != (PartWidth{}) || all.WeightBits != 4 || all.ActivationBits != 4 || !all.Reshaped {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := plain.Checkpoint("int3"); err == nil || !strings.Contains(err.Error(), `quantization is "int3"`) {
		t.Error(err)
	}
}
