package latency

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// windowed is Llama-3.1-8B with a window in some of its 32 layers.
func windowed(t testing.TB, layers, window int64) *ModelSpec {
	t.Helper()
	s := *mustModel(t, "llama-3.1-8b")
	s.WindowLayers, s.Window = layers, window
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return &s
}

// request is what one request has in a step: chunk tokens after done computed ones.
type request struct {
	done, chunk int64
	decodes     bool
}

// batchOf sums requests as the engine does.
func batchOf(requests []request) *Batch {
	var b Batch
	for _, r := range requests {
		if r.decodes {
			b.DecodeRequests, b.DecodeTokens, b.SampledRows = b.DecodeRequests+1, b.DecodeTokens+1, b.SampledRows+1
			b.DecodeContext += r.done + 1
			continue
		}
		b.PrefillRequests, b.PrefillTokens, b.PrefillContext = b.PrefillRequests+1, b.PrefillTokens+r.chunk, b.PrefillContext+r.done
		b.PrefillPairs += r.chunk*r.done + r.chunk*(r.chunk+1)/2
	}
	return &b
}

// keysOf is the same sums token by token and layer by layer, with the window.
func keysOf(requests []request, layers, windowLayers, window int64) (prefill, decode, read float64) {
	for layer := range layers {
		sees := func(keys int64) float64 {
			if layer < windowLayers {
				keys = min(keys, window)
			}
			return float64(keys) / float64(layers)
		}
		for _, r := range requests {
			if r.decodes {
				decode += sees(r.done + 1)
				read += sees(r.done + 1)
				continue
			}
			read += sees(r.done)
			for token := range r.chunk {
				prefill += sees(r.done + token + 1)
			}
		}
	}
	return prefill, decode, read
}

// Sums with a window are never below those over the requests, and equal to them where
// all contexts are on the same side of the window.
func TestWindowAgainstEachRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		window := rapid.Int64Range(1, 300).Draw(t, "window")
		windowLayers := rapid.Int64Range(1, 4).Draw(t, "layers with a window")
		side := rapid.SampledFrom([]string{"below", "above", "any"}).Draw(t, "side")
		low, high := int64(0), int64(600)
		switch side {
		case "below":
			high = window
		case "above":
			low = window
		}
		var requests []request
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			r := request{done: rapid.Int64Range(low, high).Draw(t, "done"), chunk: 1, decodes: rapid.Bool().Draw(t, "decodes")}
			if !r.decodes {
				r.chunk = rapid.Int64Range(1, 50).Draw(t, "chunk")
			}
			if side == "below" { // of the last token, too
				r.done = max(0, min(r.done, window-r.chunk))
				r.chunk = min(r.chunk, window)
			}
			requests = append(requests, r)
		}
		b := batchOf(requests)
		s := ModelSpec{Layers: 4, WindowLayers: windowLayers, Window: window}
		w := newSlidingWindow(&s)
		prefill, decode, read := keysOf(requests, s.Layers, windowLayers, window)
		for name, c := range map[string]struct{ got, want, full float64 }{
			"prefill pairs":  {w.prefillPairs(b), prefill, float64(b.PrefillPairs)},
			"decode context": {w.decodeContext(b), decode, float64(b.DecodeContext)},
			"context":        {w.context(b), read, float64(b.DecodeContext + b.PrefillContext)},
		} {
			const rounding = 1e-9
			if c.got < c.want*(1-rounding) || c.got > c.full {
				t.Fatalf("%s: %v, want from %v to %v", name, c.got, c.want, c.full)
			}
			if side != "any" && math.Abs(c.got-c.want) > rounding*c.want {
				t.Fatalf("%s, contexts %s the window: %v, want %v", name, side, c.got, c.want)
			}
		}
	})
}

// A model whose window no request reaches costs the same, to the bit, as one without.
func TestUnreachedWindowChangesNothing(t *testing.T) {
	plain := &Deployment{Model: mustModel(t, "llama-3.1-8b"), GPU: mustGPU(t, "H100"), TP: 1}
	wide := &Deployment{Model: windowed(t, 16, 1<<20), GPU: mustGPU(t, "H100"), TP: 1}
	rapid.Check(t, func(t *rapid.T) {
		var requests []request
		for range rapid.IntRange(1, 20).Draw(t, "requests") {
			requests = append(requests, request{rapid.Int64Range(0, 30000).Draw(t, "done"), rapid.Int64Range(1, 400).Draw(t, "chunk"), rapid.Bool().Draw(t, "decodes")})
		}
		b := batchOf(requests)
		var steps [2]float64
		var vectors [2]BetaVector
		for i, d := range []*Deployment{plain, wide} {
			r, err := NewRoofline(d, DefaultRoofline(nil))
			if err != nil {
				t.Fatal(err)
			}
			f, err := NewFeatures(d, typicalLimits)
			if err != nil {
				t.Fatal(err)
			}
			steps[i], vectors[i] = r.Step(b), f.Beta(b)
		}
		if steps[0] != steps[1] || vectors[0] != vectors[1] {
			t.Fatalf("%+v: %v and %v µs, %v and %v", b, steps[0], steps[1], vectors[0], vectors[1])
		}
	})
}

// Half of the layers see 128 keys: a decode at 10,000 tokens reads 5,064 on average.
func TestWindowInRooflineAndFeatures(t *testing.T) {
	full := &Deployment{Model: mustModel(t, "llama-3.1-8b"), GPU: mustGPU(t, "H100"), TP: 1}
	half := &Deployment{Model: windowed(t, 16, 128), GPU: mustGPU(t, "H100"), TP: 1}
	b := &Batch{DecodeTokens: 3, DecodeRequests: 3, DecodeContext: 30000, SampledRows: 3}
	short := &Batch{DecodeTokens: 3, DecodeRequests: 3, DecodeContext: 3 * 5064, SampledRows: 3}
	got, want := features(t, half, typicalLimits).Beta(b), features(t, full, typicalLimits).Beta(short)
	if got[betaKVRead] != want[betaKVRead] || got[betaDecodeAttention] != want[betaDecodeAttention] {
		t.Errorf("features %v, want %v", got, want)
	}
	r, err := NewRoofline(half, DefaultRoofline(nil))
	if err != nil {
		t.Fatal(err)
	}
	same, err := NewRoofline(full, DefaultRoofline(nil))
	if err != nil {
		t.Fatal(err)
	}
	if r.Step(b) != same.Step(short) {
		t.Errorf("a step takes %v µs, want %v", r.Step(b), same.Step(short))
	}
}

// Layers with a window keep a window and a block of a request: of 4,096 tokens here
// 144, and all of it if the window is longer.
func TestKVBlocksWithAWindow(t *testing.T) {
	m := DefaultMemory()
	full := &Deployment{Model: mustModel(t, "llama-3.1-8b"), GPU: mustGPU(t, "H100"), TP: 1}
	for _, c := range []struct{ layers, window, bytes int64 }{
		{0, 0, 131072}, {16, 128, 65536 + 65536*144/4096}, {16, 4080, 131072}, {16, 8192, 131072}, {32, 128, 131072 * 144 / 4096},
	} {
		s := *full.Model
		s.WindowLayers, s.Window = c.layers, c.window
		d := &Deployment{Model: &s, GPU: full.GPU, TP: 1}
		if got := d.CachedBytesPerToken(m.BlockSize); got != c.bytes {
			t.Errorf("%d layers with a window of %d: %d bytes per token, want %d", c.layers, c.window, got, c.bytes)
		}
		blocks, err := d.KVBlocks(m)
		if err != nil {
			t.Fatal(err)
		}
		free := int64(float64(d.GPU.Memory)*m.Utilization) - s.Counts().ResidentWeightBytes() - m.Activations
		if want := free / (c.bytes * 16); blocks != want {
			t.Errorf("%d layers with a window of %d: %d blocks, want %d", c.layers, c.window, blocks, want)
		}
	}
}

func TestImpossibleWindows(t *testing.T) {
	for want, s := range map[string]ModelSpec{
		"model x: layers with a sliding window is 33, want 0 to 32":   {WindowLayers: 33, Window: 128},
		"model x: sliding_window is 0, want 1 to 2147483647":          {WindowLayers: 3},
		"model x: sliding_window is 128, but no layer has a window":   {Window: 128},
		"model x: sliding_window is 2147483648, want 1 to 2147483647": {WindowLayers: 3, Window: 1 << 31},
		"model x: layers with a sliding window is -1, want 0 to 32":   {WindowLayers: -1},
	} {
		bad := *mustModel(t, "llama-3.1-8b")
		bad.Name, bad.WindowLayers, bad.Window = "x", s.WindowLayers, s.Window
		if err := bad.Validate(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
