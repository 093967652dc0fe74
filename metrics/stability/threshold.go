package stability

// threshold compares the mean E2E latency so far with a limit.
type threshold struct {
	limit float64 // ms
	mean  float64 // ms; 0: none yet
}

func (d *threshold) says(t *tally) (Level, float64) {
	if n := t.latencies(); n > 0 {
		d.mean = t.mean(0, n)
	}
	if d.mean < d.limit {
		return Stable, 0.5 * d.mean / d.limit
	}
	return Overloaded, 0.75 + min(0.25, (d.mean-d.limit)/d.limit/4)
}

func (d *threshold) signals() map[string]float64 {
	return map[string]float64{"mean_e2e": d.mean, "threshold": d.limit}
}
