package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"blis/calibrate/measured"
	"blis/calibrate/regress"
	"blis/latency"
	"blis/vtime"
)

// Sample is the requests of a measured run that a fit learns from or is judged
// by. Whatever part that is, the whole run is replayed, since requests slow each
// other down.
type Sample struct {
	Run      *measured.Run
	Server   *Server
	From, To int            // requests that count: [From, To)
	Timeout  vtime.Duration // after which clients gave up; 0: they did not

	family   *Family
	terms    terms
	patience vtime.Duration // of clients, where it shows that they have any
}

// NewSample is all requests of a run, for fits of the physics model.
func NewSample(r *measured.Run, s *Server, timeout vtime.Duration) (*Sample, error) {
	sample := &Sample{Run: r, Server: s, To: len(r.Requests), Timeout: timeout, patience: cmp.Or(timeout, DefaultClientTimeout)}
	return sample.For(Physics)
}

// For is the sample for fits of another kind of latency model.
func (s *Sample) For(f *Family) (*Sample, error) {
	t, err := f.terms(s.Server)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", s.Run.ID, err)
	}
	other := *s
	other.family, other.terms = f, t
	return &other, nil
}

// Part is the sample with requests [from, to) of the run alone.
func (s *Sample) Part(from, to int) *Sample {
	part := *s
	part.From, part.To = from, to
	return &part
}

// Model is the latency model with these coefficients on the sample's server.
func (s *Sample) Model(c *Coefficients) (latency.Model, error) { return s.family.model(s.terms, c) }

// Point is a measured time that is a sum over known work: the prefill of a
// request that ran alone, or one step.
type Point struct {
	X       latency.BetaVector
	Seconds float64
	Model   string // whose time it is; a fit that is judged by the model leaves it out
}

// FitOptions say how coefficients are fitted to whole runs.
type FitOptions struct {
	Workers    int     // replays side by side; results do not depend on it
	Iterations int     // replays of each sample at most
	Lambda     float64 // ridge toward the usual values, relative to each column's power

	// How much the parts of a sample count, decoding counting 1.
	TTFT, ColdTTFT float64
	PointWeight    float64 // of all points together

	Polish int // evaluations of Nelder and Mead's simplex after the fit; 0: none
}

// DefaultFit is what the shipped coefficients were fitted with.
func DefaultFit() FitOptions {
	return FitOptions{Workers: 2, Iterations: 40, Lambda: 1e-6, TTFT: 0.3, ColdTTFT: 0.1, PointWeight: 0.1}
}

// Fit is fitted coefficients and how they came about.
type Fit struct {
	Coefficients
	Replays   int     // of each sample
	Change    float64 // of predicted times in the last one, relative, root mean square
	Converged bool    // they stood still (settled)
	Requests  int     // observations: TTFT and decoding of a request are two, points one each
	Spread    regress.Spread
}

// settled is the change of predicted times, in seconds, below which a fit is
// done: root mean square, each time weighing by the square of its inverse, so
// that short times dominate, some tenths of a percent of TTFT.
const settled = 1e-4

// FitRuns fits coefficients to measured requests with the simulation in the
// loop: it replays the samples, writes every measured time as a sum over the
// steps that the replay says it spanned (featureRecorder), solves for the coefficients that
// make the relative errors smallest, and replays with them, until predicted
// times stand still. There the simulated schedule and the coefficients agree,
// so that queueing, batching and caching are neither fitted twice nor ignored.
//
// Errors count up to a fifth in square, beyond it in proportion (Huber), so
// that stalls at the start of a server do not bend the model.
func FitRuns(ctx context.Context, samples []*Sample, points []Point, o FitOptions) (*Fit, error) {
	family := Physics
	if len(samples) > 0 {
		family = samples[0].family
	}
	lower, usual, upper := edges(&family.bounds)
	current := append([]float64{}, usual...)
	fit := &Fit{}
	last := math.Inf(1)
	step := 1.0
	var system *regress.System
	var options regress.Options
	for fit.Replays = 1; ; fit.Replays++ {
		var err error
		if system, err = observe(ctx, samples, points, coefficientsOf(current), o); err != nil {
			return nil, err
		}
		if system.Rows() == 0 {
			return nil, errors.New("nothing to fit: want requests that completed, measured and in the replay")
		}
		options = regress.Options{Penalty: make([]float64, columns), Toward: usual, Lower: lower, Upper: upper}
		for i := range columns {
			options.Penalty[i] = o.Lambda * system.Power(i)
		}
		next, err := system.Solve(options)
		if err != nil {
			return nil, err
		}
		change := system.Distance(current, next)
		if change > last*0.7 { // it swings: smaller steps
			step = max(0.3, step*0.8)
		}
		last, fit.Change = change, system.Relative(change)
		if fit.Converged = change < settled; fit.Converged || fit.Replays >= o.Iterations || len(samples) == 0 {
			current = next
			break
		}
		for i := range current {
			current[i] += float64(step * (next[i] - current[i]))
		}
	}
	if o.Polish > 0 && len(samples) > 0 {
		polished, err := polish(ctx, samples, coefficientsOf(current), system, o)
		if err != nil {
			return nil, err
		}
		current = polished.list()
	}
	fit.Coefficients, fit.Requests, fit.Spread = *coefficientsOf(current), system.Rows(), system.Spread(options, current)
	return fit, nil
}

// observe replays all samples with coefficients and adds their observations up,
// in the order of the samples.
func observe(ctx context.Context, samples []*Sample, points []Point, c *Coefficients, o FitOptions) (*regress.System, error) {
	systems := make([]*regress.System, len(samples))
	if err := each(ctx, o.Workers, len(samples), func(i int) (err error) {
		systems[i], err = samples[i].observe(c, o)
		return err
	}); err != nil {
		return nil, err
	}
	all := regress.New(columns)
	for _, s := range systems {
		all.Merge(s)
	}
	for _, p := range points {
		x := make([]float64, columns)
		copy(x, p.X[:])
		estimate := dot(x, c.list())
		all.Add(x, p.Seconds, o.PointWeight/float64(len(points))*huber(estimate/p.Seconds-1)/(p.Seconds*p.Seconds))
	}
	return all, nil
}

// each calls f for 0 … n−1, at most workers at a time, and returns the first error
// in that order.
func each(ctx context.Context, workers, n int, f func(i int) error) error {
	failed := make([]error, n)
	slots := make(chan struct{}, max(1, workers))
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if failed[i] = ctx.Err(); failed[i] == nil {
				failed[i] = f(i)
			}
		})
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// cold reports whether most of a prompt was not in the cache.
func cold(p *Predicted, m *measured.Request) bool { return 2*int64(p.Cached) < int64(m.Input) }

// observe replays the sample and writes what was measured as sums over steps.
// Decoding, first tokens of cached prompts and of cold prompts count as
// FitOptions say, however many requests there are of each.
func (s *Sample) observe(c *Coefficients, o FitOptions) (*regress.System, error) {
	model, err := s.Model(c)
	if err != nil {
		return nil, err
	}
	t := newFeatureRecorder(model, s.terms, len(s.Run.Requests))
	predicted, err := s.Server.replay(s.Run, t, s.Timeout, t)
	if err != nil {
		return nil, err
	}
	t.sumSteps()
	var counts [3]float64
	for i := s.From; i < s.To; i++ {
		if m := &s.Run.Requests[i]; s.counts(&predicted[i], m) {
			counts[part(&predicted[i], m)]++
		}
	}
	share := [3]float64{0, o.TTFT / max(1, counts[1]), o.ColdTTFT / max(1, counts[2])}
	system := regress.New(columns)
	x := make([]float64, columns)
	for i := s.From; i < s.To; i++ {
		p, m := &predicted[i], &s.Run.Requests[i]
		if !s.counts(p, m) {
			continue
		}
		add := func(from, to vtime.Time, alpha latency.AlphaVector, seconds, estimate, weight float64) {
			if seconds <= 0 {
				return
			}
			sum := t.sumBetween(from, to)
			copy(x, sum[:])
			copy(x[betas:], alpha[:])
			system.Add(x, seconds, weight*huber(estimate/seconds-1)/(seconds*seconds))
		}
		at := t.spans[i]
		add(at.queued, at.first, t.alphas[i], float64(m.TTFT)/1e6, p.TTFT/1e6, share[part(p, m)])
		if m.Output > 1 {
			add(at.first, at.last, latency.AlphaVector{}, float64(m.E2E-m.TTFT)/1e6, (p.E2E-p.TTFT)/1e6, 1/(counts[1]+counts[2]))
		}
	}
	return system, nil
}

// counts reports whether a request was measured and predicted.
func (s *Sample) counts(p *Predicted, m *measured.Request) bool {
	return p.Completed && p.TTFT > 0 && !m.Failed && m.TTFT > 0
}

// part is 1 for a request whose prompt was mostly cached, 2 for a cold one.
func part(p *Predicted, m *measured.Request) int {
	if cold(p, m) {
		return 2
	}
	return 1
}

// huber is the weight of an observation with a relative error.
func huber(e float64) float64 {
	const square = 0.2
	if e = math.Abs(e); e > square {
		return square / e
	}
	return 1
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum
}
