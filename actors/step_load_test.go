package actors

import (
	"context"
	"math"
	"testing"

	"blis/internal/testsize"
	"blis/vtime"
	"blis/workload"
	"blis/workload/traffic"
)

// A step in load: 20, 60 and again 20 requests per second, and what each
// autoscaler makes of it. step_load_table_test.go words what comes of it.

// stepSite is an instance bound by its seats: with the coefficients of the
// benchmark a step takes about as long whatever is in it, so that the share of
// seats in use grows in proportion to load, up to 1.
func stepSite() Config {
	c := DefaultConfig()
	c.AlphaCoeffs, c.BetaCoeffs = []float64{1601.35, 3.51, 1805.54}, []float64{6910.42, 17.67, 2.84}
	c.TotalKVBlocks, c.MaxNumSeqs, c.MaxNumBatchedTokens = 29_205, 64, 2048
	c.PromptTokens, c.PromptTokensStdev, c.PromptTokensMin, c.PromptTokensMax = 512, 128, 32, 2048
	c.OutputTokens, c.OutputTokensStdev, c.OutputTokensMin, c.OutputTokensMax = 800, 200, 64, 2048
	c.RoutingPolicy, c.SLOTargets = "least-loaded", "standard:ttft=500ms,tpot=15ms"
	return c
}

// phase is a time of constant load.
type phase struct {
	rate float64        // requests per second
	last vtime.Duration // how long
}

var stepPhases = []phase{{20, 10 * vtime.Minute}, {60, 20 * vtime.Minute}, {20, 20 * vtime.Minute}}

// stepTraffic is Poisson within each phase, with the lengths of c.
func stepTraffic(t *testing.T, c *Config, phases []phase) []workload.Request {
	t.Helper()
	var list []workload.Request
	began := vtime.Time(0)
	for i, p := range phases {
		source, err := traffic.NewSynthetic(traffic.SyntheticConfig{
			Seed: c.Seed + uint64(i), Rate: p.rate, Requests: math.MaxInt32, Arrival: "poisson",
			Input:  traffic.Normal{Mean: c.PromptTokens, Stdev: c.PromptTokensStdev, Min: c.PromptTokensMin, Max: c.PromptTokensMax},
			Output: traffic.Normal{Mean: c.OutputTokens, Stdev: c.OutputTokensStdev, Min: c.OutputTokensMin, Max: c.OutputTokensMax},
		})
		if err != nil {
			t.Fatal(err)
		}
		for {
			var r workload.Request
			if more, err := source.Pull(&r); err != nil || !more {
				t.Fatal("the source ended", err)
			}
			if r.Arrival >= vtime.Time(p.last) {
				break
			}
			r.Arrival, r.Index = began.Add(vtime.Duration(r.Arrival)), uint64(len(list))
			list = append(list, r)
		}
		began = began.Add(p.last)
	}
	return list
}

// runTraffic is a run of c under the given requests.
func runTraffic(t *testing.T, c Config, requests []workload.Request, labels workload.Labels) *Result {
	t.Helper()
	source, err := workload.NewSlice(requests, labels)
	if err != nil {
		t.Fatal(err)
	}
	c.Custom.Source = source
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// gauge is what is known of one instance of the site.
type gauge struct {
	capacity float64 // requests per second when there are always some waiting
	busy     float64 // share of seats in use at 80 % of that
}

// aim is the share of its capacity at which an instance is to work.
const aim = 0.8

func measureSite(t *testing.T) gauge {
	c := stepSite()
	c.NumInstances = 1
	full := runTraffic(t, c, stepTraffic(t, &c, []phase{{1000, 10 * vtime.Second}}), workload.Labels{}).Report.Overall
	g := gauge{capacity: *full.RequestsPerSecond}
	usual := runTraffic(t, c, stepTraffic(t, &c, []phase{{aim * g.capacity, 30 * vtime.Minute}}), workload.Labels{}).Report.Overall
	g.busy = *usual.Resources.MeanRunning / float64(c.MaxNumSeqs)
	return g
}

// wanted is how many instances serve rate at 80 % of their capacity.
func (g gauge) wanted(rate float64) int32 { return int32(math.Ceil(rate / (aim * g.capacity))) }

// reaction is what a replica takes from the load that calls for it: it is
// asked for at the next check, and then it has to come.
const (
	stepInterval     = 15 * vtime.Second
	stepProvisioning = 30 * vtime.Second
	stepLoading      = 40 * vtime.Second
	reaction         = stepProvisioning + stepLoading + stepInterval
)

// stepCase is an autoscaler with what it must do. Times count from a step; of a
// claim that is 0 there is none.
type stepCase struct {
	name, params string
	bounds       [2]int32 // min and max replicas

	ready   vtime.Duration                          // to wanted − 1 ready replicas or more, after the step up
	settled func(g gauge, r *Result) vtime.Duration // to wanted ± 1 replicas for the rest of the high load; nil: not claimed
	back    vtime.Duration                          // to wanted ± 1 replicas for the rest, after the step down
	most    func(g gauge, ready int32) int32        // replicas that it may ask for on the way up; nil: as many as it likes
	more    func(t *testing.T, g gauge, r *Result)  // what else
}

// stepTarget is the share of seats at 80 % of the capacity, in the thousandths
// that target-utilization counts in: what measureSite measures.
const (
	stepTarget     = 0.783
	stepWindow     = 300 * vtime.Second // down_window, as in Kubernetes
	stepCooldown   = vtime.Minute
	stepsFromThree = 5 // from 3 to 8
)

// oneMore is what no sane autoscaler that counts loading replicas exceeds.
func oneMore(g gauge, _ int32) int32 { return g.wanted(stepPhases[1].rate) + 1 }

var stepCases = []stepCase{{
	// In one step as many as the swing of load is, and a cooldown that lasts
	// until the backlog is served: 85 s of 29 requests per second too many, which
	// the new ones get through in 2 minutes. Below 0.4 are 8 replicas at 20 per
	// second (0.25), above it 3 (0.65).
	name: "threshold", params: "up: 0.9, down: 0.4, step: 5, cooldown: 5m", bounds: [2]int32{2, 16},
	ready: reaction, settled: func(gauge, *Result) vtime.Duration { return reaction }, back: stepInterval, most: oneMore,
}, {
	// One replica a minute: the fifth is asked for 4 minutes after the first.
	// The band holds 7 to 11 replicas at 60 per second.
	name: "threshold", params: "up: 0.9, down: 0.5, step: 1, cooldown: 60s", bounds: [2]int32{2, 16},
	ready: reaction + (stepsFromThree-2)*stepCooldown, back: stepInterval + (11-4)*stepCooldown, more: wantBand,
}, {
	// It sees at most seats that are all taken: each round asks for 1/0.783
	// times what is ready, 3, 4, 6, 8, and goes on until the backlog is served.
	name: "target-utilization", params: "signal: batch, target: 0.783", bounds: [2]int32{2, 16},
	ready: 3 * reaction, back: stepWindow + 2*stepInterval,
	settled: func(g gauge, r *Result) vtime.Duration { return drained(g, r) + stepWindow + 2*stepInterval },
	most:    func(_ gauge, ready int32) int32 { return int32(math.Ceil(float64(ready) / stepTarget)) },
}, {
	// The queue is one of the three metrics of load, and no share: a backlog asks
	// for all there may be at once, and for 300 s after it was served.
	name: "target-utilization", params: "target: 0.783", bounds: [2]int32{2, 16},
	ready: reaction, back: stepWindow + 2*stepInterval,
	settled: func(g gauge, r *Result) vtime.Duration { return drained(g, r) + stepWindow + 5*stepInterval },
}, {
	// The arrivals of the last 10 s over 80 % of what one serves: as many as are
	// wanted at the next check, whatever is waiting.
	name: "target-utilization", params: "signal: rate, target: 8.16", bounds: [2]int32{2, 16},
	ready: reaction, settled: func(gauge, *Result) vtime.Duration { return stepInterval }, back: stepWindow + 2*stepInterval, most: oneMore,
}, {
	// A backlog of any size asks for all there may be. They stay until seats and
	// KV blocks are little used too, and go a fifth at a time.
	name: "queue-depth", params: "target: 4", bounds: [2]int32{3, 12},
	ready: reaction, more: wantHeld,
}, {
	name: "oscillator", bounds: [2]int32{2, 16}, more: wantOscillation,
}}

// drained is how long after the step up its backlog is served, if an instance
// serves at its capacity from when it is ready on.
func drained(g gauge, r *Result) vtime.Duration {
	const tick = vtime.Second
	up, backlog := vtime.Time(stepPhases[0].last), 0.0
	for d := vtime.Duration(0); d < stepPhases[1].last; d += tick {
		backlog += (stepPhases[1].rate - float64(g.capacity*float64(readyAt(r, up.Add(d))))) * tick.Seconds()
		if backlog <= 0 {
			return d
		}
	}
	return stepPhases[1].last
}

// readyAt is the number of replicas that requests are sent to at t.
func readyAt(r *Result, t vtime.Time) int32 {
	n := int32(0)
	for i := range r.Scaling.Replicas {
		if l := &r.Scaling.Replicas[i]; l.Ready <= t && t < l.Draining {
			n++
		}
	}
	return n
}

// askedAt is the number of replicas that there are to be after t.
func askedAt(r *Result, t vtime.Time) int32 {
	n := r.Scaling.First
	for _, e := range r.Scaling.Events {
		if e.At <= t {
			n = e.To
		}
	}
	return n
}

// extremes are the fewest and the most replicas asked for from one time up to
// another.
func extremes(r *Result, from, to vtime.Time) (fewest, most int32) {
	fewest = askedAt(r, from)
	most = fewest
	for _, e := range r.Scaling.Events {
		if from < e.At && e.At < to {
			fewest, most = min(fewest, e.To), max(most, e.To)
		}
	}
	return fewest, most
}

// The times of the steps, and of the end.
var (
	stepUp   = vtime.Time(stepPhases[0].last)
	stepDown = stepUp.Add(stepPhases[1].last)
	stepEnd  = stepDown.Add(stepPhases[2].last)
)

func TestStepLoad(t *testing.T) {
	testsize.Long(t)
	g := measureSite(t)
	if low, high := g.wanted(stepPhases[0].rate), g.wanted(stepPhases[1].rate); low != 3 || high != low+stepsFromThree {
		t.Fatalf("%d and %d replicas wanted: the cases are for 3 and 8", low, high)
	}
	if math.Abs(g.busy-stepTarget) > 0.0005 {
		t.Errorf("at 80 %% of the capacity %.4f of the seats are in use, the cases have %v", g.busy, stepTarget)
	}
	site := stepSite()
	site.NumInstances = int(g.wanted(stepPhases[0].rate))
	requests := stepTraffic(t, &site, stepPhases)
	var curves, rows string
	played := 0
	for i := range stepCases {
		c := &stepCases[i]
		t.Run(c.title(), func(t *testing.T) {
			r, attained := c.run(t, site, requests)
			c.check(t, g, r)
			curves += c.curve(r, attained)
			rows += c.row(g, r, attained)
			played++
		})
	}
	t.Log("\n" + curves)
	if played < len(stepCases) {
		return // the others were left out by -run
	}
	wantFile(t, "../testdata/step_load.txt", curves)
	wantPart(t, "../docs/autoscaling.md", "step load", stepHead(g)+rows)
}

// check holds the autoscaler to what its case claims.
func (c *stepCase) check(t *testing.T, g gauge, r *Result) {
	before := r.Scaling.First
	for _, e := range r.Scaling.Events {
		if e.From != before || e.To < c.bounds[0] || e.To > c.bounds[1] {
			t.Errorf("at %v from %d to %d: want from %d, within %v", e.At, e.From, e.To, before, c.bounds)
		}
		if ready := readyAt(r, e.At); c.most != nil && e.To > e.From && e.At >= stepUp && e.To > c.most(g, ready) {
			t.Errorf("at %v, with %d ready, it asks for %d replicas: want at most %d", e.At, ready, e.To, c.most(g, ready))
		}
		before = e.To
	}
	low, high := g.wanted(stepPhases[0].rate), g.wanted(stepPhases[1].rate)
	if n := readyAt(r, stepUp.Add(c.ready)); c.ready > 0 && n < high-1 {
		t.Errorf("%v after the step up %d replicas are ready: want %d or more", c.ready, n, high-1)
	}
	within := func(from, to vtime.Time, want int32) {
		if fewest, most := extremes(r, from, to); fewest < want-1 || most > want+1 {
			t.Errorf("from %v to %v there are %d to %d replicas: want %d ± 1", from, to, fewest, most, want)
		}
	}
	if c.settled != nil {
		within(stepUp.Add(c.settled(g, r)), stepDown, high)
	}
	if c.back > 0 {
		within(stepDown.Add(c.back), stepEnd, low)
	}
	if c.more != nil {
		c.more(t, g, r)
	}
}

// wantBand wants the number that one replica a minute comes to rest at: any
// with which the share of seats in use is within the band.
func wantBand(t *testing.T, g gauge, r *Result) {
	load := stepPhases[1].rate / (aim * g.capacity) * g.busy // replicas' worth of seats
	if n := float64(askedAt(r, stepDown)); n < load/0.9 || n > load/0.5 {
		t.Errorf("%v replicas at the end of the high load: want between %.1f and %.1f", n, load/0.9, load/0.5)
	}
}

// wantHeld wants the high load to be served without a turn, and fewer replicas
// afterwards: as many as have less than 0.3 of their seats in use.
func wantHeld(t *testing.T, g gauge, r *Result) {
	if fewest, most := extremes(r, stepUp.Add(reaction), stepDown); fewest != most || fewest < g.wanted(stepPhases[1].rate) {
		t.Errorf("%d to %d replicas under the high load: want one number that serves it", fewest, most)
	}
	load := stepPhases[0].rate / (aim * g.capacity) * g.busy // replicas' worth of seats
	if n := float64(askedAt(r, stepEnd)); n < load/0.3 || n > load/0.3+1 {
		t.Errorf("%v replicas at the end: want between %.1f and %.1f", n, load/0.3, load/0.3+1)
	}
}

// wantOscillation wants a number that turns at every check and follows nothing.
func wantOscillation(t *testing.T, g gauge, r *Result) {
	if n := len(r.Scaling.Events); n < 190 || r.Scaling.Oscillations != n-1 {
		t.Errorf("%d changes, %d oscillations: want one at each of about 200 checks, all but the first an oscillation", n, r.Scaling.Oscillations)
	}
	if _, most := extremes(r, stepUp, stepDown); most >= g.wanted(stepPhases[1].rate)-1 {
		t.Errorf("up to %d replicas under high load: it should not follow it", most)
	}
}
