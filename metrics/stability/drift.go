package stability

import "blis/vtime"

// drift looks at how the number of requests in the system changes from window to window: at the slope of the
// least-squares line through what it is at the end of each, in the present window now. Windows without events have what
// the one before had.
type drift struct {
	window vtime.Duration

	began     bool
	bucket    int64   // the present window
	n         int64   // windows before it
	sum       float64 // Σ of what these had at their ends
	weighted  float64 // Σ of that by their numbers
	level     int64   // now
	arrivals  int64
	completed int64
	slope     float64
	noise     float64
}

func (d *drift) says(t *tally) (Level, float64) {
	if at := int64(t.now) / int64(d.window); !d.began {
		d.began, d.bucket = true, at
	} else if at > d.bucket {
		k := float64(at - d.bucket) // windows that are over, all with the same level
		d.sum += float64(k * float64(d.level))
		d.weighted += float64(float64(d.level) * (float64(k*float64(d.n)) + float64(k*(k-1))/2))
		d.n += at - d.bucket
		d.bucket = at
	}
	d.level, d.arrivals, d.completed, d.noise = t.arrivals-t.completions, t.arrivals, t.completions, t.noise
	d.slope = 0
	if d.n > 0 {
		n, y := float64(d.n+1), float64(d.level)
		sum, weighted := d.sum+y, d.weighted+float64(y*float64(d.n))
		d.slope = (weighted - float64((n-1)/2*sum)) / (float64(n*(float64(n*n)-1)) / 12)
	}
	score := min(1, max(0, d.slope)/(3*t.noise))
	switch {
	case d.slope <= t.noise:
		return Stable, score
	case d.slope <= 3*t.noise:
		return Backlogged, score
	}
	return Overloaded, score
}

func (d *drift) signals() map[string]float64 {
	return map[string]float64{"arrivals": float64(d.arrivals), "completions": float64(d.completed), "in_flight": float64(d.level), "running_slope": d.slope, "noise_floor": d.noise}
}
