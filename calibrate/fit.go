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

// Sample is a part of the requests of a measured run: a fit learns from it or is
// tested on it. The whole run is replayed all the same, since requests slow each
// other down.
type Sample struct {
	Run      *measured.Run
	Server   *Server
	From, To int            // the part: requests [From, To)
	Timeout  vtime.Duration // of requests in a replay; 0: none, as in runs that are not overloaded

	family         *Family
	features       featureSource
	assumedTimeout vtime.Duration // of the clients that measured; overloaded compares latencies with it
}

// NewSample returns all requests of a run as a sample, for fits of the physics
// model. Requests of a replay end after the timeout; 0: no timeout.
func NewSample(r *measured.Run, s *Server, timeout vtime.Duration) (*Sample, error) {
	sample := &Sample{Run: r, Server: s, To: len(r.Requests), Timeout: timeout, assumedTimeout: cmp.Or(timeout, DefaultClientTimeout)}
	return sample.withFamily(Physics)
}

// withFamily returns a copy of the sample for fits of another kind of latency model.
func (s *Sample) withFamily(f *Family) (*Sample, error) {
	t, err := f.features(s.Server)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", s.Run.ID, err)
	}
	other := *s
	other.family, other.features = f, t
	return &other, nil
}

// slice returns a copy of the sample with requests [from, to) of the run.
func (s *Sample) slice(from, to int) *Sample {
	part := *s
	part.From, part.To = from, to
	return &part
}

// Model returns the latency model with these coefficients on the sample's server.
func (s *Sample) Model(c *Coefficients) (latency.Model, error) { return s.family.model(s.features, c) }

// point is a measured time of known work: the prefill of a request that ran alone,
// or its decodes.
type point struct {
	features latency.BetaVector
	seconds  float64
	model    string // name of the measured model; a fit that is tested on this model leaves the point out
}

// FitOptions say how coefficients are fitted to whole runs.
type FitOptions struct {
	Workers    int           // replays side by side; results do not depend on it
	Iterations int           // replays of each sample at most
	Lambda     float64       // weight of the ridge: of the squared distances from usual values
	Own        float64       // weight of the ridge of a model's own fit toward that of all models; 0: there is none
	Toward     *Coefficients // in place of the usual values; nil: the family's

	// Weights of the parts of a sample; the weight of decoding is 1.
	TTFT, ColdTTFT float64 // first tokens of mostly cached prompts, and of the others
	PointWeight    float64 // of all points together

	Polish int // replays of all samples by refine, after the fit; 0: none
}

// DefaultFit returns the options with which the shipped coefficients were fitted.
func DefaultFit() FitOptions {
	return FitOptions{Workers: 2, Iterations: 40, Lambda: 1e-6, TTFT: 0.3, ColdTTFT: 0.1, PointWeight: 0.1}
}

// Fit holds fitted coefficients and the history of the fit.
type Fit struct {
	Coefficients
	Replays   int     // of each sample
	Change    float64 // of predicted times in the last replay, relative, root mean square
	Converged bool    // the last change was below convergedBelow
	Requests  int     // observations: TTFT and decoding of a request are two, points one each
	Spread    regress.Spread

	general *Fit // that this fit is drawn to; nil: none
}

// convergedBelow is the change of predicted times, in seconds, below which a fit
// ends. The change is a root mean square; each time has the square of its inverse
// as weight, so that short times dominate. It is some tenths of a percent of TTFT.
const convergedBelow = 1e-4

// FitClosedLoops fits coefficients of the physics model to benchmarks of a fixed number
// of users, with the simulation in the loop. It fits TPOT alone, to which coefficients of
// the way to the queue contribute nothing: these have their usual values.
func FitClosedLoops(ctx context.Context, loops []*ClosedLoopSample, o FitOptions) (*Fit, error) {
	return fitRuns(ctx, nil, nil, o, loops...)
}

// replayed is what a fit replays: the requests of a Sample, or a closed loop. observe
// replays it with coefficients and returns what was measured of it as sums over steps.
type replayed interface {
	observe(c *Coefficients, o FitOptions) (*regress.System, error)
}

// fitRuns fits coefficients to measured requests and closed loops with the simulation in
// the loop. A round replays the samples, writes each measured time as a sum over the steps
// that it spans in the replay (featureRecorder), and solves for the coefficients
// with the smallest relative errors. The next round replays with these, until
// predicted times no longer change. Then the simulated schedule and the coefficients
// agree, so queueing, batching and caching are neither fitted twice nor ignored.
//
// Relative errors up to 0.2 count with their square, larger ones in proportion
// (Huber), so that stalls at the start of a server do not bend the model.
func fitRuns(ctx context.Context, samples []*Sample, points []point, o FitOptions, loops ...*ClosedLoopSample) (*Fit, error) {
	family := Physics
	if len(samples) > 0 {
		family = samples[0].family
	}
	list := replays(samples, loops)
	_, current, _ := boundSlices(&family.bounds)
	fit := &Fit{}
	last := math.Inf(1)
	step := 1.0
	var system *regress.System
	for fit.Replays = 1; ; fit.Replays++ {
		var err error
		if system, err = observe(ctx, list, points, coefficientsOf(current), o); err != nil {
			return nil, err
		}
		next, err := solveBox(system, family, o)
		if err != nil {
			return nil, err
		}
		change := system.Distance(current, next)
		if change > last*0.7 { // coefficients swing: take smaller steps
			step = max(0.3, step*0.8)
		}
		last, fit.Change = change, system.Relative(change)
		if fit.Converged = change < convergedBelow; fit.Converged || fit.Replays >= o.Iterations || len(list) == 0 {
			current = next
			break
		}
		for i := range current {
			current[i] += float64(step * (next[i] - current[i]))
		}
	}
	if o.Polish > 0 && len(list) > 0 {
		polished, err := refine(ctx, family, samples, loops, coefficientsOf(current), system, o)
		if err != nil {
			return nil, err
		}
		current = polished.list()
	}
	fit.Coefficients, fit.Requests, fit.Spread = *coefficientsOf(current), system.Rows(), system.Spread(boxOptions(system, family, o), current)
	return fit, nil
}

// solveBox returns the coefficients with the smallest relative errors of observations,
// within the bounds of the family.
func solveBox(system *regress.System, family *Family, o FitOptions) ([]float64, error) {
	if system.Rows() == 0 {
		return nil, errors.New("nothing to fit: want requests that completed, measured and in the replay")
	}
	return system.Solve(boxOptions(system, family, o))
}

func boxOptions(system *regress.System, family *Family, o FitOptions) regress.Options {
	lower, usual, upper := boundSlices(&family.bounds)
	if o.Toward != nil {
		usual = o.Toward.list()
	}
	return regress.Options{Penalty: family.penalties(o.Lambda, system.Power), Toward: usual, Lower: lower, Upper: upper}
}

// replays returns samples and closed loops in one list.
func replays(samples []*Sample, loops []*ClosedLoopSample) []replayed {
	var list []replayed
	for _, s := range samples {
		list = append(list, s)
	}
	for _, l := range loops {
		list = append(list, l)
	}
	return list
}

// observeEach replays a list with these coefficients and returns the observations of
// each.
func observeEach(ctx context.Context, list []replayed, c *Coefficients, o FitOptions) ([]*regress.System, error) {
	systems := make([]*regress.System, len(list))
	err := forEach(ctx, o.Workers, len(list), func(i int) (err error) {
		systems[i], err = list[i].observe(c, o)
		return err
	})
	return systems, err
}

// observe replays a list with these coefficients and returns the sum of the
// observations, added in its order.
func observe(ctx context.Context, list []replayed, points []point, c *Coefficients, o FitOptions) (*regress.System, error) {
	systems, err := observeEach(ctx, list, c, o)
	if err != nil {
		return nil, err
	}
	all := regress.New(columns)
	for _, s := range systems {
		all.Merge(s)
	}
	for _, p := range points {
		x := make([]float64, columns)
		copy(x, p.features[:])
		estimate := dot(x, c.list())
		all.Add(x, p.seconds, o.PointWeight/float64(len(points))*huber(estimate/p.seconds-1)/(p.seconds*p.seconds))
	}
	return all, nil
}

// forEach calls f for 0 … n−1 in parallel, at most workers at a time, and returns
// the error with the lowest index.
func forEach(ctx context.Context, workers, n int, f func(i int) error) error {
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

// observe replays the sample and writes measured times as sums over steps. The total
// weight of decoding is 1, of first tokens of mostly cached prompts o.TTFT, and of
// cold prompts o.ColdTTFT, for any number of requests.
func (s *Sample) observe(c *Coefficients, o FitOptions) (*regress.System, error) {
	model, err := s.Model(c)
	if err != nil {
		return nil, err
	}
	t := newFeatureRecorder(model, s.features, len(s.Run.Requests))
	predicted, err := s.Server.replay(s.Run, t, s.Timeout, t)
	if err != nil {
		return nil, err
	}
	t.sumSteps()
	var counts [3]float64 // usable requests, by cacheClass
	for i := s.From; i < s.To; i++ {
		if m := &s.Run.Requests[i]; s.usable(&predicted[i], m) {
			counts[cacheClass(&predicted[i], m)]++
		}
	}
	share := [3]float64{0, o.TTFT / max(1, counts[1]), o.ColdTTFT / max(1, counts[2])}
	system := regress.New(columns)
	x := make([]float64, columns)
	for i := s.From; i < s.To; i++ {
		p, m := &predicted[i], &s.Run.Requests[i]
		if !s.usable(p, m) {
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
		add(at.queued, at.first, t.alphas[i], float64(m.TTFT)/1e6, p.TTFT/1e6, share[cacheClass(p, m)])
		if m.Output > 1 {
			add(at.first, at.last, latency.AlphaVector{}, float64(m.E2E-m.TTFT)/1e6, (p.E2E-p.TTFT)/1e6, 1/(counts[1]+counts[2]))
		}
	}
	return system, nil
}

// usable reports whether a request completed both when measured and when replayed.
func (s *Sample) usable(p *Predicted, m *measured.Request) bool {
	return p.Completed && p.TTFT > 0 && !m.Failed && m.TTFT > 0
}

// cacheClass returns 1 for a prompt that was mostly cached, 2 for a cold one.
func cacheClass(p *Predicted, m *measured.Request) int {
	if cold(p, m) {
		return 2
	}
	return 1
}

// huber returns the weight of an observation with relative error e.
func huber(e float64) float64 {
	const square = 0.2
	if e = math.Abs(e); e > square {
		return square / e
	}
	return 1
}

// dot returns Σ aᵢbᵢ, added in order. Dot of gonum adds in another order.
func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum
}
