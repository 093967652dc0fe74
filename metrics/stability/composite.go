package stability

// composite looks at who has not ended, and at whether latencies rise from quarter to quarter of the requests so far.
type composite struct {
	deficit, trend, raw float64
	rises               bool
	noise               float64
}

// leastForTrend is the number of latencies from which there is a trend.
const leastForTrend = 20

func (c *composite) says(t *tally) (Level, float64) {
	c.deficit = max(0, 1-float64(t.completions)/float64(t.arrivals))
	c.trend, c.raw, c.rises, c.noise = 0, 0, false, t.noise
	if n := t.latencies(); n >= leastForTrend {
		if early := t.mean(0, n/2); early > 0 {
			c.raw = min(1, max(0, (t.mean(n/2, n)-early)/early))
		}
		q := n / 4
		first, second, third, fourth := t.mean(0, q), t.mean(q, 2*q), t.mean(2*q, 3*q), t.mean(3*q, n)
		if c.rises = first < second && second < third && third < fourth; c.rises {
			c.trend = c.raw
		}
	}
	score := max(c.deficit, c.trend)
	switch {
	case score < t.noise:
		return Stable, score
	case c.trend > t.noise:
		return Overloaded, score
	}
	return Backlogged, score
}

func (c *composite) signals() map[string]float64 {
	rises := 0.0
	if c.rises {
		rises = 1
	}
	return map[string]float64{"rate_deficit": c.deficit, "latency_trend": c.trend, "latency_trend_raw": c.raw, "quartile_monotone": rises, "noise_floor": c.noise}
}
