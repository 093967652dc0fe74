package latency

// slidingWindow limits the keys of layers with a sliding window. Its methods return
// sums of a Batch as a mean over the layers, so that the cost per key of all layers
// times such a sum is the cost of the batch. Without a window they return the sum
// itself.
//
// A Batch has sums, not the contexts of its requests. So a layer with a window is
// given the window's share of the mean context. As min is concave, that is an upper
// bound, and exact where the contexts of all requests are on the same side of the
// window.
type slidingWindow struct {
	share float64 // of the layers that have a window; 0: none
	keys  float64 // that a token of such a layer attends to at most
}

// newSlidingWindow returns the window of the model.
func newSlidingWindow(s *ModelSpec) slidingWindow {
	if s.WindowLayers == 0 {
		return slidingWindow{}
	}
	return slidingWindow{share: float64(s.WindowLayers) / float64(s.Layers), keys: float64(s.Window)}
}

// prefillPairs returns the pairs of query and key in prefill.
func (w *slidingWindow) prefillPairs(b *Batch) float64 {
	if w.share == 0 {
		return float64(b.PrefillPairs)
	}
	return w.mean(b.PrefillPairs, b.PrefillTokens)
}

// decodeContext returns the pairs of query and key in decode, which are as many as
// the keys that decode reads.
func (w *slidingWindow) decodeContext(b *Batch) float64 {
	if w.share == 0 {
		return float64(b.DecodeContext)
	}
	return w.mean(b.DecodeContext, b.DecodeTokens)
}

// context returns the keys that decode and prefill read from the KV cache. A chunk of
// a prompt reads what its first token sees, at most a window.
func (w *slidingWindow) context(b *Batch) float64 {
	if w.share == 0 {
		return float64(b.DecodeContext + b.PrefillContext)
	}
	return w.mean(b.DecodeContext, b.DecodeTokens) + w.mean(b.PrefillContext, max(b.PrefillRequests, 1))
}

// mean returns the mean over the layers of a sum of keys over n queries, each of
// which sees at most w.keys in the layers with a window.
func (w *slidingWindow) mean(keys, n int64) float64 {
	full := float64(keys)
	limited := min(full, float64(float64(n)*w.keys))
	return full - float64(w.share*(full-limited))
}
