package metrics

import (
	"math"

	"blis/vtime"
)

// TimeSeriesOptions say how finely time series are kept.
type TimeSeriesOptions struct {
	// Step is the width of bins. 0: a power of two µs, at least 1,024, the smallest at
	// which no more than mostBins bins cover the run.
	Step vtime.Duration
	// Histograms keeps the tokens of steps and inter-token latencies of each bin. With a
	// Step only.
	Histograms bool
}

// mostBins is how many bins there are without a Step. What is kept of an instance then
// takes some 200 KB.
const mostBins = 1024

// TimeSeries is what one instance, or one data-parallel rank, did over time, in bins of equal
// width from 0. Bin k covers [k·width, (k+1)·width); the last one ends with the run. Each gauge
// has bins up to the run's end, as counts have.
//
// Between two changes a level stays as it is, so means, least and largest values are exact, however
// the run was executed. A level that held for no time does not count.
type TimeSeries struct {
	Gauges [gaugeKinds]Gauge
	Counts [countKinds]Count

	// With TimeSeriesOptions.Histograms, else nil.
	StepTokens, ITL *HistogramSeries

	step  vtime.Duration // 0: bins widen
	width vtime.Duration
	due   vtime.Time // the end of the bin that Counts are in
}

// GaugeKind is a level over time.
type GaugeKind uint8

// Levels.
const (
	RunningGauge   GaugeKind = iota // requests in the running list
	WaitingGauge                    // requests in the wait queue
	BlocksGauge                     // KV blocks of the GPU in use
	EntriesGauge                    // entries of the CPU tier in use
	HeldGauge                       // KV blocks held for transfers of requests that ended here
	ExecutingGauge                  // 1 while a step with requests executes
	gaugeKinds
)

// CountKind is something that is counted over time.
type CountKind uint8

// Counts. Steps and their tokens count when the step begins.
const (
	StepsCount CountKind = iota
	PrefillTokensCount
	DecodeTokensCount
	LookedUpTokensCount // prompt tokens looked up in the prefix cache at first admissions, …
	CachedTokensCount   // … and found there
	PreemptionsCount
	countKinds
)

// NewTimeSeries returns an empty time series.
func NewTimeSeries(o TimeSeriesOptions) *TimeSeries {
	s := &TimeSeries{step: o.Step, width: o.Step}
	if o.Step == 0 {
		s.width = 1 << leastShift
	}
	s.due = vtime.Time(s.width)
	for i := range s.Gauges {
		s.Gauges[i] = *NewGauge(o)
	}
	if o.Histograms {
		s.StepTokens, s.ITL = newHistogramSeries(StepTokenBounds[:]), newHistogramSeries(ITLBounds[:])
	}
	return s
}

// Width is the width of bins. It may grow until Finish.
func (s *TimeSeries) Width() vtime.Duration { return s.width }

// Due reports whether the bin that counts are in ends at or before now: then Pass must
// be called before anything more is counted.
func (s *TimeSeries) Due(now vtime.Time) bool { return now >= s.due }

// Pass closes the bins of counts that end at or before now; c is what was counted before now.
func (s *TimeSeries) Pass(now vtime.Time, c *Counters) {
	for now >= s.due {
		if s.step > 0 || s.closed() < mostBins {
			s.close(c)
		} else {
			s.widen()
		}
	}
}

// counted lists what is counted over time.
func counted(c *Counters) [countKinds]int64 {
	return [countKinds]int64{c.Steps, c.PrefillTokens, c.DecodeTokens, c.LookedUpTokens, c.CachedTokens, c.Preemptions}
}

// closed is how many bins of counts are closed.
func (s *TimeSeries) closed() int { return len(s.Counts[0].Bins) }

// close closes a bin of counts.
func (s *TimeSeries) close(c *Counters) {
	for i, n := range counted(c) {
		k := &s.Counts[i]
		k.Bins = append(k.Bins, n-k.sum)
		k.sum = n
	}
	for _, h := range s.histograms() {
		h.extend()
	}
	s.due = s.due.Add(s.width)
}

// widen joins closed bins by two.
func (s *TimeSeries) widen() {
	for i := range s.Counts {
		k := &s.Counts[i]
		for j := range mostBins / 2 {
			k.Bins[j] = k.Bins[2*j] + k.Bins[2*j+1]
		}
		k.Bins = k.Bins[:mostBins/2]
	}
	s.due = s.due.Add(s.width)
	s.width *= 2
}

// Finish ends the time series with the run. c is all that was counted; what was counted at its
// very end belongs to the last bin.
func (s *TimeSeries) Finish(end vtime.Time, c *Counters) {
	s.Pass(end, c)
	for s.due.Add(-s.width) < end { // part of the open bin is in the run
		s.Pass(s.due, c)
	}
	for i, n := range counted(c) {
		if k := &s.Counts[i]; len(k.Bins) > 0 {
			k.Bins[len(k.Bins)-1] += n - k.sum
			k.sum = n
		}
	}
	for i := range s.Gauges {
		s.Gauges[i].Finish(end)
	}
}

// Count is what was counted over time.
type Count struct {
	Bins []int64 // in each
	sum  int64   // of the bins
}

// Gauge is a level over time.
type Gauge struct {
	Bins []GaugeBin

	width  vtime.Duration
	widens bool
	level  int64 // since known
	known  vtime.Time
	upto   vtime.Time // level held at least until then
}

// GaugeBin is a level in one bin.
type GaugeBin struct {
	Micros   int64 // ∫ level dt
	Min, Max int32
	Last     int32 // just before the end of the bin
}

// NewGauge returns a level that is 0 so far.
func NewGauge(o TimeSeriesOptions) *Gauge {
	if o.Step == 0 {
		return &Gauge{width: 1 << leastShift, widens: true}
	}
	return &Gauge{width: o.Step}
}

// Width is the width of bins. It may grow until Finish.
func (g *Gauge) Width() vtime.Duration { return g.width }

// Finish ends the time series with the run: the level stays as it is until then.
func (g *Gauge) Finish(end vtime.Time) {
	g.Hold(max(end, g.upto), g.level)
	g.flush()
}

// Hold says that a level held from the time of the call before until now.
func (g *Gauge) Hold(now vtime.Time, level int64) {
	if level != g.level {
		g.flush()
		g.level = level
	}
	g.upto = now
}

// flush enters the present level into the bins.
func (g *Gauge) flush() {
	for g.known < g.upto {
		k := int(int64(g.known) / int64(g.width))
		if g.widens && k >= mostBins {
			g.widen()
			continue
		}
		to := min(g.upto, vtime.Time(k+1)*vtime.Time(g.width))
		level := int32(min(g.level, math.MaxInt32))
		if k == len(g.Bins) {
			g.Bins = append(g.Bins, GaugeBin{Min: level, Max: level})
		}
		b := &g.Bins[k]
		b.Micros += int64(to.Sub(g.known)) * g.level
		b.Min, b.Max, b.Last = min(b.Min, level), max(b.Max, level), level
		g.known = to
	}
}

// widen joins bins by two.
func (g *Gauge) widen() {
	n := (len(g.Bins) + 1) / 2
	for i := range n {
		b := g.Bins[2*i]
		if 2*i+1 < len(g.Bins) {
			next := g.Bins[2*i+1]
			b = GaugeBin{b.Micros + next.Micros, min(b.Min, next.Min), max(b.Max, next.Max), next.Last}
		}
		g.Bins[i] = b
	}
	g.Bins, g.width = g.Bins[:n], 2*g.width
}
