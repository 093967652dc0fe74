package policy

// watch is the range of values of a signal in a run.
type watch struct {
	known        bool
	lowest, most float64
}

// note enters a value of the signal, or of one of its parts.
func (w *watch) note(value float64) {
	if !w.known {
		w.known, w.lowest, w.most = true, value, value
	}
	w.lowest, w.most = min(w.lowest, value), max(w.most, value)
}

// report says how near the signal came to a limit, from below (up) or from above.
func (w *watch) report(signal scaleSignal, limit float64, up bool) Watch {
	r := Watch{Signal: scaleSignals[signal].name, Limit: limit, Known: w.known}
	if up {
		r.Nearest, r.Passed = w.most, w.known && w.most > limit
		return r
	}
	r.Nearest, r.Passed = w.lowest, w.known && w.lowest < limit
	return r
}
