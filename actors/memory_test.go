package actors

import (
	"errors"
	"slices"
	"testing"

	"blis/latency"
)

// Activations take their share of each GPU before the KV cache does.
func TestActivationMemoryLeavesFewerBlocks(t *testing.T) {
	blocks := func(memory string, tp int) int64 {
		c := DefaultConfig()
		c.TP = tp
		if err := c.ActivationMemory.UnmarshalText([]byte(memory)); err != nil {
			t.Fatal(err)
		}
		_, setup, err := Check(c)
		if err != nil {
			t.Fatal(err)
		}
		return setup.KVBlocks
	}
	const perBlock = 16 * 131072 // bytes, of Llama-3.1-8B up to TP 8
	for _, c := range []struct {
		memory string
		tp     int
		less   int64 // bytes on all GPUs than with the default
	}{{"1GB", 1, 0}, {"1000000000", 2, 0}, {"3GB", 1, 2e9}, {"0", 1, -1e9}, {"3GB", 4, 8e9}} {
		got, usual := blocks(c.memory, c.tp), blocks("1GB", c.tp)
		if want := usual - c.less/perBlock; got < want-1 || got > want+1 {
			t.Errorf("%s at TP %d: %d blocks, want about %d", c.memory, c.tp, got, want)
		}
	}
}

func TestTooMuchActivationMemoryDoesNotFit(t *testing.T) {
	c := DefaultConfig()
	c.ActivationMemory = 60 << 30
	_, _, err := Check(c)
	var fit *latency.DoesNotFit
	if !errors.As(err, &fit) || fit.Model != "meta-llama/Llama-3.1-8B-Instruct" || fit.GPU != "H100" || fit.TP != 1 || fit.Needed <= fit.Available {
		t.Errorf("%v", err)
	}
	c.ActivationMemory = -1
	refusal(t, c, "activation-memory is -1")
}

// What a description has and the model of time does not is noted once.
func TestWhatIsNotModelledIsNoted(t *testing.T) {
	c := DefaultConfig()
	c.ModelConfigFolder = file(t, "config.json", `{"model_type": "gemma2", "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
		"intermediate_size": 9216, "vocab_size": 256000, "max_position_embeddings": 8192, "index_topk": 2048}`)
	_, setup, err := Check(c)
	if err != nil || !slices.Contains(setup.Notes, "attention to the 2048 best keys only (index_topk): counted as full attention") {
		t.Errorf("%q, %v", setup.Notes, err)
	}
}
