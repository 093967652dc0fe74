package policy

// watch is the range of the values that a signal had.
type watch struct {
	known        bool
	lowest, most float64
}

// note takes note of a value of the signal or of one of its parts.
func (w *watch) note(value float64) {
	if !w.known {
		w.known, w.lowest, w.most = true, value, value
	}
	w.lowest, w.most = min(w.lowest, value), max(w.most, value)
}

// report is how near the signal came to a limit that it passes upwards, or
// downwards.
func (w *watch) report(signal scaleSignal, limit float64, up bool) Watch {
	r := Watch{Signal: scaleSignals[signal].name, Limit: limit, Known: w.known}
	if up {
		r.Nearest, r.Passed = w.most, w.known && w.most > limit
		return r
	}
	r.Nearest, r.Passed = w.lowest, w.known && w.lowest < limit
	return r
}
