package setup

import (
	"math"
	"testing"
)

// A remote store that pools share has the rate of all their GPUs, as its preset has it per GPU: 2 of prefill
// and 6 of decode. What the run prints gives the same store.
func TestPoolsShareARemoteStore(t *testing.T) {
	c := configOf(t, "architecture=pd prefill-replicas=2 decode-replicas=3 decode-tp=2 kv-cpu-blocks=100 kv-storage=remote")
	for range 2 {
		p, err := Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range p.Pools {
			block := float64(s.BlockBytes())
			if want := block / (8 * 10e9) * 1e6; math.Abs(s.Storage[0].Read.PerBlock-want) > 1e-9*want {
				t.Errorf("pool %d reads a block in %v µs, want %v", i, s.Storage[0].Read.PerBlock, want)
			}
		}
		c = p.Config
	}
}

// The rate of the preset remote is of each GPU, of all data-parallel ranks: 3 instances of 2 ranks of 2 GPUs
// are 12, in a pool alone and with others.
func TestARemoteStoreCountsTheGPUsOfRanks(t *testing.T) {
	for text, gpus := range map[string]float64{
		"num-instances=3 tp=2 data-parallel-size=2":                                                    12,
		"architecture=pd prefill-replicas=2 decode-replicas=3 decode-tp=2 decode-data-parallel-size=2": 14,
	} {
		p, err := Resolve(configOf(t, text+" kv-cpu-blocks=100 kv-storage=remote"))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range p.Pools {
			if want := float64(s.BlockBytes()) / (gpus * 10e9) * 1e6; math.Abs(s.Storage[0].Read.PerBlock-want) > 1e-9*want {
				t.Errorf("%s: pool %d reads a block in %v µs, want %v", text, i, s.Storage[0].Read.PerBlock, want)
			}
		}
	}
}
