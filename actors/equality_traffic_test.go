package actors

import (
	"slices"

	"blis/vtime"
	"blis/workload"
)

// drawTraffic chooses the requests of a trial and returns about how long
// their arrivals take.
func (d dice) drawTraffic(x *trial) vtime.Duration {
	if d.chance(0.3) {
		return d.drawTalk(x)
	}
	if d.chance(0.35) {
		return d.drawGenerated(&x.Config)
	}
	x.Tenants = []string{"red", "blue"}
	x.Classes = []string{"standard", "critical", "sheddable", "of our own"}
	return d.drawRequests(x, d.between(20, 90))
}

// drawGenerated is traffic from the workload flags.
func (d dice) drawGenerated(c *Config) vtime.Duration {
	c.NumRequests = int64(d.between(20, 100))
	c.Arrival = pick(d, "poisson", "constant", "gamma", "weibull")
	if c.Arrival == "gamma" || c.Arrival == "weibull" {
		c.CV = pick(d, 0.5, 2, 4)
	}
	c.PromptTokens, c.PromptTokensStdev = float64(d.between(8, 60)), float64(d.between(0, 20))
	c.OutputTokens, c.OutputTokensStdev = float64(d.between(4, 40)), float64(d.between(0, 20))
	c.PromptTokensMin, c.PromptTokensMax = 1, 150
	c.OutputTokensMin, c.OutputTokensMax = 0, 120
	c.PrefixTokens = pick[int32](d, 0, 0, 7, 32, 48)
	gap := pick(d, 20, 300, 1500)
	c.Rate = 1e6 / float64(gap) * float64(c.NumInstances)
	if d.chance(0.45) {
		c.Timeout = vtime.Duration(pick(d, 1, 500, 5_000, 20_000, 60_000))
	}
	return vtime.Duration(c.NumRequests * int64(gap) / int64(c.NumInstances))
}

// drawRequests is an explicit list of n: sessions that continue their own output,
// prefixes that many share, bursts, limits and deadlines.
func (d dice) drawRequests(x *trial, n int) vtime.Duration {
	tick := pick(d, 1, 50, 100, 700)
	gap := pick(d, 20, 300, 1500)
	timeouts := d.chance(0.45)
	longest := pick(d, 30, 80, 200)
	now := 0
	var sessions [][]workload.Span
	for i := range n {
		if !d.chance(0.3) { // else in one burst with the one before
			now += d.IntN(2*gap/x.Config.NumInstances+1) / tick * tick
		}
		r := workload.NewRequest(vtime.Time(now), 0, d.output(longest))
		r.Source = workload.FirstSource + uint32(d.IntN(3))
		r.Index = uint64(i)
		if sessions = d.drawPrompt(&r, sessions, i, longest); d.chance(0.4) {
			r.MaxOutput = r.Output + pick[int32](d, 0, 0, 1, 20)
		}
		if timeouts && d.chance(0.5) {
			r.Deadline = max(1, r.Arrival.Add(vtime.Duration(d.IntN(pick(d, 2, 40, 400))*max(tick, 50))))
		}
		r.Tenant = workload.Label(d.IntN(len(x.Tenants)))
		r.Class = workload.Label(d.IntN(len(x.Classes)))
		x.Requests = append(x.Requests, r)
	}
	slices.SortStableFunc(x.Requests, func(a, b workload.Request) int {
		if a.Arrival != b.Arrival {
			return int(a.Arrival - b.Arrival)
		}
		return int(a.Source) - int(b.Source)
	})
	return vtime.Duration(max(now, gap))
}

// output is a number of output tokens: few, none, one, or many.
func (d dice) output(longest int) int32 {
	switch {
	case d.chance(0.06):
		return 0
	case d.chance(0.08):
		return 1
	case d.chance(0.08):
		return d.tokens(60, 250)
	}
	return d.tokens(1, longest/2)
}

// drawPrompt gives request r its content: a new session, often behind a
// shared prefix, or the next turn of an earlier one. It returns the sessions
// with what the next turn would begin with.
func (d dice) drawPrompt(r *workload.Request, sessions [][]workload.Span, number, longest int) [][]workload.Span {
	const turns, outputs = 1 << 20, 1 << 30
	if len(sessions) > 0 && d.chance(0.3) {
		s := d.IntN(len(sessions))
		r.Session, r.Round = uint64(s+1), 1
		r.Spans = slices.Clone(sessions[s])
	} else if d.chance(0.6) {
		prefix := d.IntN(3)
		r.Spans = append(r.Spans, workload.Span{Content: workload.ContentID(1 + prefix), Length: int32(8 + 13*prefix)})
		if d.chance(0.3) { // not all of it
			r.Spans[0].Length = d.tokens(1, int(r.Spans[0].Length))
		}
	}
	if d.chance(0.3) {
		r.Spans = append(r.Spans, workload.Span{Content: workload.ContentID(turns + number), Length: d.tokens(1, longest/2)})
	}
	r.Input = r.Shared()
	if r.Input == 0 || d.chance(0.7) {
		r.Input += d.tokens(1, longest)
	}
	if r.Input > 0 && r.Shared() == r.Input && d.chance(0.8) { // all named: a later turn can follow
		r.OutputContent = workload.ContentID(outputs + number)
		next := slices.Clone(r.Spans)
		if r.Output > 0 {
			next = append(next, workload.Span{Content: r.OutputContent, Length: r.Output})
		}
		sessions = append(sessions, next)
	}
	return sessions
}
