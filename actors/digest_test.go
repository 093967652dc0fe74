package actors

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"blis/latency"
	"blis/workload"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// TestDigests writes the digest and a hash of the report's bytes of many runs
// to the file that BLIS_DIGESTS names, so that machines and builds can be
// compared: .ci/arm64 does. Without it, it only runs a few.
func TestDigests(t *testing.T) {
	file := os.Getenv("BLIS_DIGESTS")
	seeds := uint64(100)
	if file == "" {
		seeds = 2
	}
	var lines strings.Builder
	add := func(name string, x *trial) {
		y := mustPlay(t, x)
		fmt.Fprintf(&lines, "%s %s %016x\n", name, y.digest, xxhash.Sum64(y.report))
	}
	for seed := range seeds {
		add(fmt.Sprint("seed ", seed), drawTrial(seed))
	}
	for seed := range seeds / 2 { // programs in Starlark are among their policies
		x, _ := drawBundleTrial(seed)
		add(fmt.Sprint("bundle ", seed), x)
	}
	for name, x := range floating() {
		add(name, x)
		fmt.Fprintf(&lines, "%s: steps %016x arrivals and lengths %016x\n", name, steps(t, x), draws(t, x))
	}
	if file == "" {
		return
	}
	if err := os.WriteFile(file, []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// steps hashes every bit of the latency model's answers on random batches: a
// run shows only whole microseconds of them.
func steps(t *testing.T, x *trial) uint64 {
	p, err := resolve(x.Config)
	if err != nil {
		t.Fatal(err)
	}
	d := dice{rand.New(rand.NewPCG(x.Config.Seed, 1))}
	var bits []byte
	for range 2000 {
		n := func(most int) int64 { return int64(d.IntN(most)) }
		b := latency.Batch{PrefillTokens: n(2048), DecodeTokens: n(256), PrefillRequests: n(20), DecodeRequests: n(256), PrefillPairs: n(1 << 20),
			PrefillContext: n(1 << 14), DecodeContext: n(1 << 18), DecodeBlocks: n(1 << 14), SampledRows: n(276)}
		bits = binary.LittleEndian.AppendUint64(bits, math.Float64bits(p.Pools[0].Latency.Step(&b)))
		bits = binary.LittleEndian.AppendUint64(bits, math.Float64bits(p.Pools[0].Latency.Queueing(latency.QueueInput{Input: n(8192)})))
	}
	return xxhash.Sum64(bits)
}

// draws hashes the traffic of x stretched so far that nearly every bit of a
// random gap or length reaches a whole number.
func draws(t *testing.T, x *trial) uint64 {
	c := &x.Config
	source, err := traffic.NewSynthetic(traffic.SyntheticConfig{
		Seed: c.Seed, Rate: 1e-8, Requests: 2000, Arrival: draw.ProcessKind(c.Arrival), CV: c.CV,
		Input:  traffic.Normal{Mean: 1e9, Stdev: 1.7e8, Min: 1, Max: 2_000_000_000},
		Output: traffic.Normal{Mean: 9e8, Stdev: 1.1e8, Min: 1, Max: 2_000_000_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	var bits []byte
	for {
		var r workload.Request
		more, err := source.Pull(&r)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return xxhash.Sum64(bits)
		}
		bits = binary.LittleEndian.AppendUint64(bits, uint64(r.Arrival))
		bits = binary.LittleEndian.AppendUint64(bits, uint64(r.Input)<<32|uint64(r.Output))
	}
}

// floating yields configurations in which floats matter most: random arrivals
// and lengths, every built-in roofline, sums of weighted scores.
func floating() func(yield func(string, *trial) bool) {
	return func(yield func(string, *trial) bool) {
		for _, arrival := range []string{"poisson", "gamma", "weibull"} {
			for _, cv := range []float64{0.3, 0.9, 3.7} {
				x := benchmark("weighted")
				x.Config.NumRequests, x.Config.Arrival = 400, arrival
				if arrival != "poisson" {
					x.Config.CV = cv
				}
				x.Config.Seed = uint64(100 * cv)
				if !yield(fmt.Sprintf("%s %g", arrival, cv), x) {
					return
				}
			}
		}
		for i, model := range []string{"Llama-3.1-8B-Instruct", "Llama-3.1-70B-Instruct", "Mixtral-8x7B-Instruct-v0.1", "Qwen2.5-7B-Instruct"} {
			for j, gpu := range []string{"H100", "H200", "A100", "L40S"} {
				x := &trial{Config: DefaultConfig()}
				c := &x.Config
				c.Model, c.Hardware, c.TP = model, gpu, 4
				c.NumRequests, c.Rate, c.RoutingPolicy = 200, 30, "weighted"
				c.RoutingScorers = "prefix-affinity:0.7,queue-depth:1.3,kv-utilization:0.37,load-balance:0.11"
				c.AsyncScheduling, c.PrefixTokens, c.Seed = new((i+j)%2 == 0), 100, uint64(10*i+j)
				if !yield(model+" on "+gpu, x) {
					return
				}
			}
		}
	}
}
