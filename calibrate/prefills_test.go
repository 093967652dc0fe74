package calibrate

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"blis/calibrate/measured"
	"blis/latency"
	"blis/vtime"
)

// alone is the trace of requests that came one after the other.
func alone(inputs ...int32) *measured.Trace {
	trace := &measured.Trace{}
	for i, n := range inputs {
		at := vtime.Time(i) * 1_000_000
		trace.Requests = append(trace.Requests, measured.TracedRequest{Start: at, End: at + 999, Input: n, Output: 2, Prefill: vtime.Duration(1000 * (i + 1))})
	}
	return trace
}

// A prompt is prefilled in chunks of the token budget. What that costs is added
// up here from the model's and the GPU's numbers alone, chunk by chunk.
func TestPrefillsInChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := deploymentOf(t, rigs[rapid.IntRange(0, len(rigs)-1).Draw(t, "rig")])
		budget := rapid.SampledFrom([]int64{1, 7, 512, 2048, 8192}).Draw(t, "budget")
		n := rapid.Int64Range(1, 300).Draw(t, "tokens")
		if budget > 7 {
			n *= 37
		}
		list, err := Prefills(alone(int32(n)), d, latency.EngineLimits{MaxBatchedTokens: budget, MaxSeqs: 8, BlockSize: 16, GPUBlocks: 2000, ChunkedPrefill: true})
		if err != nil || len(list) != 1 {
			t.Fatal(len(list), err)
		}
		if p := &list[0]; p.Tokens != n || p.Measured != 1e-3 || len(p.points()) != 1 || p.points()[0].seconds != 1e-3 || p.points()[0].features != p.features {
			t.Fatalf("%+v", p)
		}
		m := d.Model
		compute, bandwidth := d.ComputeCeiling(), d.BandwidthCeiling()
		var want latency.BetaVector
		for done := int64(0); done < n; {
			c := min(budget, n-done)
			want[0] += float64(c) * float64(m.Counts().LayerFLOPs()) / compute
			for token := range c { // its keys: all before it, and its own
				want[1] += float64(done+token+1) * float64(m.Counts().PrefillPairFLOPs()) / compute
			}
			want[2] += m.Counts().StreamedWeightBytes(c) / bandwidth
			want[4] += float64(done) * float64(d.KVBytesPerToken()) / bandwidth
			want[15]++
			done += c
		}
		want[0] += float64(m.Counts().HeadFLOPs()) / compute // one row is sampled, of the last chunk
		for _, i := range []int{0, 1, 2, 3, 4, 14, 15} {
			if got := list[0].features[i]; math.Abs(got-want[i]) > 1e-9*want[i] {
				t.Fatalf("%s of %d tokens at %d a step: %v, want %v", latency.BetaNames[i], n, budget, got, want[i])
			}
		}
		c := truth()
		if got, want := list[0].Predicted(c), dot(list[0].features[:], c.Beta[:]); got != want || got <= 0 {
			t.Fatalf("predicted %v, want %v", got, want)
		}
	})
}

func deploymentOf(t fatal, r rig) *latency.Deployment {
	t.Helper()
	m, err := latency.FindModel(r.model)
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := latency.FindHardware("H100")
	if err != nil {
		t.Fatal(err)
	}
	return &latency.Deployment{Model: &m, GPU: &gpu, TP: r.tp}
}

func TestPrefillsOfRequestsThatRanAlone(t *testing.T) {
	d := deploymentOf(t, rigs[0])
	limits := latency.EngineLimits{MaxBatchedTokens: 2048, MaxSeqs: 8, BlockSize: 16, GPUBlocks: 2000, ChunkedPrefill: true}
	trace := alone(100, 200, 300, 400)
	trace.Requests[1].End = trace.Requests[2].Start // not alone, and not letting the next be
	trace.Requests[3].Prefill = 0
	list, err := Prefills(trace, d, limits)
	if err != nil || len(list) != 1 || list[0].Tokens != 100 {
		t.Errorf("%+v, %v", list, err)
	}
	const none = "no request of the trace ran alone with its prefill told: want llm_request spans that do not overlap"
	trace.Requests = trace.Requests[1:]
	if list, err := Prefills(trace, d, limits); err == nil || err.Error() != none {
		t.Errorf("%+v, %v", list, err)
	}
	limits.MaxBatchedTokens = 0
	if _, err := Prefills(alone(100), d, limits); err == nil {
		t.Error("no budget is no error")
	}
	list, err = Prefills(alone(100, 2000, 3000), d, latency.EngineLimits{MaxBatchedTokens: 2048, MaxSeqs: 8, BlockSize: 16, GPUBlocks: 2000, ChunkedPrefill: true})
	if err != nil {
		t.Fatal(err)
	}
	c := truth()
	list[0].Measured, list[1].Measured, list[2].Measured = list[0].Predicted(c), list[1].Predicted(c)/1.5, list[2].Predicted(c)/0.9
	if e := MedianError(list, c); math.Abs(e-0.1) > 1e-9 {
		t.Errorf("median error %v, want 0.1", e)
	}
}

// Decodes of a request that ran alone are steps over one token each, whose keys
// are the prompt and all tokens so far.
func TestDecodesOfRequestsThatRanAlone(t *testing.T) {
	d := deploymentOf(t, rigs[0])
	trace := alone(500)
	trace.Requests[0].Output, trace.Requests[0].Decode = 4, 21_000
	list, err := Prefills(trace, d, latency.EngineLimits{MaxBatchedTokens: 2048, MaxSeqs: 8, BlockSize: 16, GPUBlocks: 2000, ChunkedPrefill: true})
	if err != nil {
		t.Fatal(err)
	}
	points := list[0].points()
	if len(points) != 2 || points[1].seconds != 0.021 || points[1].model != d.Model.Name {
		t.Fatalf("%+v", points)
	}
	x := points[1].features
	keys := float64(501+502+503) * float64(d.KVBytesPerToken()) / d.BandwidthCeiling()
	weights := 3 * d.Model.Counts().StreamedWeightBytes(1) / d.BandwidthCeiling()
	rows := 3 * float64(d.Model.Counts().HeadFLOPs()) / d.ComputeCeiling()
	for i, want := range map[int]float64{0: rows, 1: 0, 2: weights, 4: keys, 15: 3} {
		if math.Abs(x[i]-want) > 1e-12*math.Max(1, want) {
			t.Errorf("%s is %v, want %v", latency.BetaNames[i], x[i], want)
		}
	}
}
