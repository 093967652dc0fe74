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
	described := plain
	described.WeightBits, described.ScaleBits = 4, 0.25 // experts of its own kind
	if same, err := described.Checkpoint("nvfp4"); err != nil || same.ScaleBits != 0.25 || same.Reshaped {
		t.Errorf("%+v, %v", same, err)
	}
	if _, err := plain.Checkpoint("int3"); err == nil || !strings.Contains(err.Error(), `quantization is "int3"`) {
		t.Error(err)
	}
}
