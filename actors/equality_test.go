package actors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"blis/engine"
	"blis/internal/testsize"
	"blis/metrics"
	"blis/vtime"
)

// How a run is carried out must not show in its result. These tests run one
// configuration on every executor and compare digest, rows and the bytes of
// the report:
//
//	equality_test.go           the executors, the comparison, random trials
//	equality_trial_test.go     a trial, and how one is drawn
//	equality_traffic_test.go   its requests
//	equality_talk_test.go      those that follow from answers
//	equality_reduce_test.go    a failing trial made small, and where it parts
//	equality_scenarios_test.go the benchmark, conformance and ledger scenarios
//	equality_bundle_test.go    random policies as a file, on random clusters
//	equality_bundle_draw_test.go
//	                           such a file, and how one is drawn
//	equality_large_test.go     hundreds of instances
//
// Environment: BLIS_EQUALITY_CASES is the number of random trials, by default
// what the size of the test asks for (see testsize). BLIS_EQUALITY_SEED is the
// first of their seeds (default 1, then 2 …). BLIS_EQUALITY_TRIAL=FILE runs the
// one trial in the file, as a failure prints it. BLIS_EQUALITY_BUNDLES is the
// number of random bundles. BLIS_EQUALITY_REDUCE (default 15) is how many seconds
// a failure may take to be made small.

// everyExecutor is {decode runs, step by step} × {one event at a time, 1, 2, 3,
// 8 workers}. salt varies when windows are run inline: always, by the default
// rule, never; and how far the router may be ahead of the instances.
func everyExecutor(salt uint64) []Executor {
	var list []Executor
	for _, steps := range []bool{true, false} {
		name := "decode runs"
		if steps {
			name = "step by step"
		}
		list = append(list, Executor{"one event at a time, " + name, Execution{Workers: 1, Sequential: true, StepByStep: steps}})
		for i, workers := range []int{1, 2, 3, 8} {
			inline := [...]int{-1, 0, -1, 1 << 30}[(salt+uint64(i))%4]
			ahead := [...]int{0, 1, 5, 40}[(salt/4+uint64(i))%4]
			list = append(list, Executor{fmt.Sprintf("%d workers, inline below %d, %d ahead, %s", workers, inline, ahead, name),
				Execution{Workers: workers, StepByStep: steps, Inline: inline, Ahead: ahead}})
		}
	}
	return list
}

// yield is everything that one executor shows of a run.
type yield struct {
	digest string
	report []byte
	series []uint64 // hashes of the time series
	rest   string   // effective configuration, end, scale checks, names
	rows   []metrics.Outcome
	scaled bool // instances came or went
	short  bool // no node had room for an instance that was wanted
	stuck  bool // the run ended as a livelock, on every executor or on none
	tier   metrics.KVTier
	pd     metrics.PDUse
}

// began is when the test began.
var began = time.Now()

// untilTheEnd ends a little before the time limit of the test: a trial that
// never ends is reported with its seed.
func untilTheEnd() (context.Context, context.CancelFunc) {
	limit, ok := flag.Lookup("test.timeout").Value.(flag.Getter).Get().(time.Duration)
	if !ok || limit == 0 {
		return context.WithCancel(context.Background())
	}
	return context.WithDeadline(context.Background(), began.Add(limit-10*time.Second))
}

// play runs x on one executor.
func (x *trial) play(e Executor) (*yield, error) {
	cfg, err := x.config()
	if err != nil {
		return nil, err
	}
	y := &yield{}
	cfg.Execution = e.Execution
	cfg.TimeSeries = x.timeSeries()
	cfg.Row = func(r *Row) { y.rows = append(y.rows, *r.Outcome) }
	ctx, cancel := untilTheEnd()
	defer cancel()
	r, err := Run(ctx, cfg)
	var livelock *engine.Livelock
	if closed := (*ClosedGate)(nil); errors.As(err, &livelock) || errors.As(err, &closed) {
		return &yield{stuck: true}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	if err := checkSeries(r); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	y.series = foldSeries(r)
	for i := range r.KVTiers {
		y.tier.Merge(&r.KVTiers[i])
	}
	if r.Report.PD != nil {
		y.pd = r.Report.PD.Overall
	}
	y.digest, y.scaled = r.Digest, slices.ContainsFunc(r.PoolScaling, func(s PoolScaling) bool { return len(s.Events) > 0 })
	y.short = slices.ContainsFunc(r.PoolScaling, func(s PoolScaling) bool { return s.NoCapacity > 0 })
	if y.report, err = json.Marshal(r.Report); err != nil {
		return nil, err
	}
	effective, err := json.Marshal(r.Config)
	y.rest = fmt.Sprintf("%s end %v %+v %v %s %q", effective, r.End, r.Scaling, r.Names, nodesText(r), r.Printed())
	return y, err
}

// difference says in what y differs from what the first executor showed, or
// "".
func (y *yield) difference(first *yield) string {
	if y.stuck != first.stuck {
		return fmt.Sprintf("livelock: %v, want %v", y.stuck, first.stuck)
	}
	for i := range max(len(y.rows), len(first.rows)) {
		if i >= len(y.rows) || i >= len(first.rows) {
			return fmt.Sprintf("%d rows, want %d", len(y.rows), len(first.rows))
		}
		if y.rows[i] != first.rows[i] {
			return fmt.Sprintf("row %d\n got %+v\nwant %+v", i, y.rows[i], first.rows[i])
		}
	}
	if !bytes.Equal(y.report, first.report) {
		return fmt.Sprintf("report\n got %s\nwant %s", excerpt(y.report, first.report), excerpt(first.report, y.report))
	}
	if !slices.Equal(y.series, first.series) {
		return fmt.Sprintf("time series, by instance those of trial.timeSeries, then of storage tiers: hashes\n got %x\nwant %x", y.series, first.series)
	}
	if y.rest != first.rest {
		a, b := []byte(y.rest), []byte(first.rest)
		return fmt.Sprintf("effective configuration or end\n got %s\nwant %s", excerpt(a, b), excerpt(b, a))
	}
	if y.digest != first.digest {
		return fmt.Sprintf("digest %s, want %s", y.digest, first.digest)
	}
	return ""
}

// excerpt is the part of a around the first byte in which it differs from b.
func excerpt(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return "…" + string(a[max(0, i-120):min(len(a), i+60)]) + "…"
}

// mismatch is a trial on which two executors differ, or that failed on one.
type mismatch struct {
	first, other Executor
	what         string
	refused      bool // its configuration was
}

// compare runs x on all executors. It returns what the first showed, and the
// first executor that differs from it.
func (x *trial) compare(executors []Executor) (*yield, *mismatch) {
	first, err := x.play(executors[0])
	if err != nil {
		var input *InputError
		return nil, &mismatch{executors[0], executors[0], err.Error(), errors.As(err, &input)}
	}
	for _, e := range executors[1:] {
		y, err := x.play(e)
		if err != nil {
			return nil, &mismatch{executors[0], e, err.Error(), false}
		}
		if what := y.difference(first); what != "" {
			return nil, &mismatch{executors[0], e, what, false}
		}
	}
	return first, nil
}

// mustAgree fails t unless all executors agree on x, and returns what they
// show.
func mustAgree(t *testing.T, x *trial, executors []Executor) *yield {
	t.Helper()
	y, m := x.compare(executors)
	if m != nil {
		t.Fatalf("%s\n%s\n%s\nfirst difference: %s", m.other.Name, m.what, x.describe(), x.where(m))
	}
	return y
}

// budget is how many random trials to run, the usual number unless
// BLIS_EQUALITY_CASES gives another, and the first seed.
func budget(t *testing.T, usual int) (cases int, seed uint64) {
	return fromEnvironment(t, "BLIS_EQUALITY_CASES", usual), uint64(fromEnvironment(t, "BLIS_EQUALITY_SEED", 1))
}

// fromEnvironment is the value of a variable, otherwise if it is not set.
func fromEnvironment(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s is %q: want a number", name, text)
	}
	return n
}

// reduction is how long a failing trial may take to be made small.
func reduction(t *testing.T) time.Duration {
	return time.Duration(fromEnvironment(t, "BLIS_EQUALITY_REDUCE", 15)) * time.Second
}

// compareDrawn draws trials and compares all executors on each, and returns what they met. A
// failing one is made small.
func compareDrawn(t *testing.T, usual int, draw func(seed uint64) *trial) (c coverage) {
	t.Helper()
	return compareDrawnOn(t, usual, draw, nil, func(*yield) {})
}

// compareDrawnOn is compareDrawn on further executors too, which looks at what each trial yields.
func compareDrawnOn(t *testing.T, usual int, draw func(seed uint64) *trial, further []Executor, look func(*yield)) (c coverage) {
	t.Helper()
	cases, first := budget(t, usual)
	for seed := first; c.cases < cases; seed++ {
		x := draw(seed)
		y, m := x.compare(append(everyExecutor(seed), further...))
		if m != nil {
			t.Errorf("seed %d: %s: %s", seed, m.other.Name, m.what)
			ctx, cancel := untilTheEnd()
			late := ctx.Err() != nil
			cancel()
			if late {
				t.Fatalf("it was too long, or never ends:\n%s", x.describe())
			}
			small, m := x.reduce(m, reduction(t))
			t.Fatalf("reduced: %s: %s\n%s\nfirst difference: %s", m.other.Name, m.what, small.describe(), small.where(m))
		}
		c.count(x, y)
		look(y)
	}
	t.Logf("seeds %d to %d: %s", first, first+uint64(c.cases)-1, &c)
	return c
}

// TestEqualityRandom draws configurations.
func TestEqualityRandom(t *testing.T) {
	c := compareDrawn(t, testsize.Of(100, 200, 300), func(seed uint64) *trial {
		x := drawTrial(seed)
		newDice(seed, 0x706f6c).drawPolicy(&x.Config)
		return x
	})
	if missing := c.missing(); missing != "" {
		t.Error("random trials cover too little: " + missing)
	}
}

// TestEqualityTrial runs the trial that BLIS_EQUALITY_TRIAL names.
func TestEqualityTrial(t *testing.T) {
	file := os.Getenv("BLIS_EQUALITY_TRIAL")
	if file == "" {
		t.Skip("BLIS_EQUALITY_TRIAL names no file")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var x trial
	if err := json.Unmarshal(text, &x); err != nil {
		t.Fatal(err)
	}
	for salt := range uint64(4) {
		mustAgree(t, &x, everyExecutor(salt))
	}
}

// coverage counts what random trials met. A suite that never preempts proves
// nothing about preemption.
type coverage struct {
	cases                                                               int
	preempted, hit, timedOut, cut, async, stale                         int
	immediate, capped, dropped, rejected, stuck, delayed, prefillOnly   int
	readsSignals, scaled, short, aborted, redirected                    int
	stored, loaded, flushed, brokeDeadlock, told                        int // in CPU tiers; told: the router hears of them
	promoted, vanished                                                  int // with storage tiers
	failed, retried, recovered                                          int // with failures
	pd                                                                  pdCoverage
	requests, completed, preemptions, cachedTokens, recomputed, outputs int64
}

func (c *coverage) count(x *trial, y *yield) {
	c.cases++
	c.pd.count(y)
	var preempted, hit, timedOut, cut, capped, dropped, rejected, prefillOnly, aborted, redirected, failed, retried, recovered bool
	for i := range y.rows {
		o := &y.rows[i]
		c.requests++
		c.preemptions += int64(o.Preemptions)
		c.cachedTokens += int64(o.Cached)
		c.recomputed += int64(o.Recomputed)
		c.outputs += int64(o.Generated)
		if o.State == metrics.Completed {
			c.completed++
		}
		preempted = preempted || o.Preemptions > 0
		hit = hit || o.Cached > 0
		timedOut = timedOut || o.State == metrics.TimedOut
		cut = cut || o.Finished == vtime.Never
		failed = failed || o.State == metrics.Failed
		retried = retried || o.Retries > 0
		recovered = recovered || o.Retries > 0 && o.State == metrics.Completed
		capped = capped || o.Reason == metrics.LengthCapped
		dropped = dropped || o.State == metrics.Dropped
		rejected = rejected || o.State == metrics.Rejected
		aborted = aborted || o.State == metrics.Aborted
		redirected = redirected || o.Redirects > 0
		prefillOnly = prefillOnly || o.State == metrics.Completed && o.Generated == 0
	}
	reads := x.Config.RoutingPolicy != "round-robin"
	for _, f := range []struct {
		n    *int
		seen bool
	}{{&c.preempted, preempted}, {&c.hit, hit}, {&c.timedOut, timedOut}, {&c.cut, cut}, {&c.async, *x.Config.AsyncScheduling},
		{&c.stale, reads && x.Config.NumInstances > 1 && x.Config.SnapshotRefreshInterval > 0},
		{&c.immediate, reads && x.Config.NumInstances > 1 && x.Config.SnapshotRefreshInterval == 0},
		{&c.capped, capped}, {&c.dropped, dropped}, {&c.rejected, rejected}, {&c.stuck, y.stuck}, {&c.delayed, x.Delay > 0}, {&c.prefillOnly, prefillOnly},
		{&c.readsSignals, x.ReadsSignals != 0}, {&c.scaled, y.scaled}, {&c.short, y.short}, {&c.aborted, aborted}, {&c.redirected, redirected},
		{&c.stored, y.tier.Stored > 0}, {&c.loaded, y.tier.Loaded > 0}, {&c.flushed, y.tier.FlushWaits > 0}, {&c.brokeDeadlock, y.tier.DeadlockBreak > 0},
		{&c.told, y.tier.Stored > 0 && x.hearsOfTiers()}, {&c.promoted, y.tier.Promoted > 0}, {&c.vanished, y.tier.Vanished > 0},
		{&c.failed, failed}, {&c.retried, retried}, {&c.recovered, recovered}} {
		if f.seen {
			*f.n++
		}
	}
}

func (c *coverage) String() string {
	return fmt.Sprintf("%d trials on 10 executors each; with preemption %s, prefix hit %s, fired time-out %s, end cut %s, async %s, stale snapshots %s, immediate signals %s; "+
		"length cap %d, drop %d, rejection %d, livelock %d, delayed admission %d, prefill only %d, admission that observes %d, scaling %d, abortion %d, redirection %d; stores %d, loads %d, flush waits %d, broken deadlocks %d, stores that the router hears of %d, reads of storage %d, vanished entries %d; lost with instances %d, tried again %d, recovered %d; "+
		"%d requests, %d completed, %d output tokens, %d preemptions, %d cached and %d recomputed tokens",
		c.cases, c.share(c.preempted), c.share(c.hit), c.share(c.timedOut), c.share(c.cut), c.share(c.async), c.share(c.stale), c.share(c.immediate),
		c.capped, c.dropped, c.rejected, c.stuck, c.delayed, c.prefillOnly, c.readsSignals, c.scaled, c.aborted, c.redirected, c.stored, c.loaded, c.flushed, c.brokeDeadlock, c.told, c.promoted, c.vanished, c.failed, c.retried, c.recovered, c.requests, c.completed, c.outputs, c.preemptions, c.cachedTokens, c.recomputed)
}

func (c *coverage) share(n int) string {
	return fmt.Sprintf("%d (%d %%)", n, 100*n/max(1, c.cases))
}

// missing names what fewer than 20 % of the trials met. Few trials (a slow
// machine, the race detector) say nothing about shares.
func (c *coverage) missing() string {
	if c.cases < 100 {
		return ""
	}
	text := ""
	for _, f := range []struct {
		name string
		n    int
	}{{"preemption", c.preempted}, {"prefix hit", c.hit}, {"fired time-out", c.timedOut}, {"end cut", c.cut}, {"async", c.async}, {"stale snapshots", c.stale},
		{"the router hears of tiers", 4 * c.told}} { // in 5 %
		if 5*f.n < c.cases {
			text += fmt.Sprintf(" %s in %s, want 20 %%;", f.name, c.share(f.n))
		}
	}
	return text
}
