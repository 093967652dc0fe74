package engine

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/internal/testsize"
	"blis/kv"
	"blis/latency"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// shared is a latency model of ranks that share experts: a step also depends on the tokens of all.
type shared struct {
	linear
	group, delay float64
}

func (m shared) Step(b *latency.Batch) float64 {
	return m.linear.Step(b) + float64(m.group*float64(b.GroupTokens))
}
func (m shared) Queueing(in latency.QueueInput) float64 {
	return float64(m.delay * float64(in.Input+3*in.Running+in.Waiting))
}
func (m shared) MinStep() float64             { return m.linear[0] }
func (m shared) MinQueueing(in int64) float64 { return float64(m.delay * float64(in)) }

// rankCase is a random instance with its requests.
type rankCase struct {
	RanksConfig
	cfg      Config // without what a rank has for itself
	blocks   int
	tier     int // entries; 0: none
	requests []Delivery
	model    shared
	policy   string
	horizon  vtime.Time
	crash    vtime.Time // then the requests are cut off, and come again; Never: none

	pd    *Disaggregation // nil: none
	delay vtime.Duration  // of messages to the other side and back
}

func drawRanks(seed uint64) *rankCase {
	r := rand.New(rand.NewPCG(seed, 0xdb))
	d := 1 + r.IntN(4)
	x := &rankCase{policy: "fcfs", crash: vtime.Never}
	x.Ranks, x.LockStep, x.Local, x.FrontEnds = d, r.IntN(4) > 0, d, 1+r.IntN(d+1)
	if d == 4 && r.IntN(3) == 0 {
		x.Local = 2
	} else if r.IntN(4) == 0 {
		x.Local = 1
	}
	if r.IntN(4) == 0 {
		x.policy = "priority-fcfs"
	}
	x.blocks = 12 + r.IntN(40)
	x.cfg = Config{BlockSize: 4, Async: r.IntN(2) == 0, KeepBacklog: true, KeepStepState: true, Args: Args{
		MaxNumBatchedTokens: int32(8 + r.IntN(60)), MaxNumSeqs: int32(1 + r.IntN(6)), EnablePrefixCaching: r.IntN(5) > 0,
		EnableChunkedPrefill: true, SchedulerReserveFullISL: r.IntN(3) > 0,
	}}
	if x.policy != "fcfs" { // else equal priorities may preempt each other for ever
		x.cfg.SchedulerReserveFullISL = true
	}
	x.cfg.MaxNumBatchedTokens = max(x.cfg.MaxNumBatchedTokens, x.cfg.MaxNumSeqs)
	if r.IntN(4) == 0 {
		x.cfg.Warmup = Warmup{From: 0, Duration: vtime.Duration(r.IntN(200_000)), Penalty: 1 + r.Float64(), Curve: Linear}
	}
	x.model = shared{linear{float64(200 + r.IntN(3000)), float64(r.IntN(20)), float64(r.IntN(40))}, float64(r.IntN(30)), float64(r.IntN(3) * r.IntN(200))}
	if r.IntN(3) == 0 {
		x.tier = 4 + r.IntN(60)
		x.cfg.Passes.IdleRelease = r.IntN(2) == 0
	}
	gap := []int{500, 20_000, 150_000}[r.IntN(3)]
	at := vtime.Time(0)
	for k := range int64(10 + r.IntN(30)) {
		at = at.Add(vtime.Duration(r.IntN(gap)))
		var spans []workload.Span
		input := int32(0)
		for range r.IntN(3) {
			n := int32(1 + r.IntN(12))
			spans, input = append(spans, workload.Span{Content: workload.ContentID(1 + r.IntN(4)), Length: n}), input+n
		}
		own := int32(1 + r.IntN(9))
		dl := Delivery{Request: workload.NewRequest(at, input+own, int32(r.IntN(14))), Admitted: at}
		dl.Spans = spans
		if r.IntN(4) == 0 {
			dl.Output = int32(20 + r.IntN(60)) // decode runs
		}
		if dl.ID, dl.Deadline = k, vtime.Never; r.IntN(5) == 0 {
			dl.Deadline = at.Add(vtime.Duration(1 + r.IntN(60_000)))
		}
		if r.IntN(4) == 0 {
			dl.MaxOutput = dl.Output + int32(r.IntN(5))
		}
		dl.Priority = float64(r.IntN(3))
		x.requests = append(x.requests, dl)
	}
	x.horizon = at.Add(vtime.Duration(r.IntN(400_000)))
	if r.IntN(4) == 0 {
		x.crash = vtime.Time(r.IntN(int(at) + 1))
	}
	if r.IntN(3) == 0 {
		x.drawDisaggregation(r)
	}
	return x
}

// rankMode is one of the ways to run a case, all of which must agree.
type rankMode struct {
	name       string
	stepByStep bool
	eager      bool // steps of dummies are events
	naive      bool // the twins of cache and tier
	slice      vtime.Duration
	bounds     bool // look at what is said of the future
}

var rankModes = []rankMode{
	{name: "step by step, all steps events, naive caches", stepByStep: true, eager: true, naive: true},
	{name: "step by step", stepByStep: true, bounds: true},
	{name: "runs, all steps events", eager: true},
	{name: "runs"},
	{name: "runs, with bounds", bounds: true},
	{name: "runs, paused", slice: 1700},
}

// rankResult is what all modes must agree in.
type rankResult struct {
	Outcomes []string
	Gaps     map[vtime.Duration]int
	Counters []metrics.Counters
	Tiers    []metrics.KVTier
	Handed   []metrics.Disaggregation
	States   []policy.InstanceState
	Seen     []policy.InstanceState // step states as each request arrives
	Group    metrics.DataParallel
	Fold     uint64
}

// rankPlayer is the sink of a case.
type rankPlayer struct {
	rankResult
	promised vtime.Time
	err      error

	ranks    *Ranks
	mail     []mail
	foreseen [3]vtime.Time // notices of each kind come no earlier
}

func (p *rankPlayer) Group(workload.Label, workload.Label, vtime.Time) int { return 0 }
func (p *rankPlayer) ITL(_ int, gap vtime.Duration, n int)                 { p.Gaps[gap] += n }
func (p *rankPlayer) Done(o *metrics.Outcome, now vtime.Time) {
	if now < p.promised {
		p.err = fmt.Errorf("request %d ends at %v, and %v was promised", o.ID, now, p.promised)
	}
	p.Outcomes = append(p.Outcomes, fmt.Sprintf("%v %d %v %v %+v", now, o.ID, o.State, o.Reason, o.Progress))
}

// config is the configuration of one rank.
func (x *rankCase) config(m rankMode, sink *rankPlayer, rank int) Config {
	c := x.cfg
	if x.pd != nil {
		d := *x.pd
		d.Notices = &rankNotices{sink, x, rank}
		c.Disaggregation = &d
	}
	c.StepByStep, c.Sink, c.Model = m.stepByStep, sink, x.model
	s, err := policy.NewScheduler(x.policy, nil, policy.Env{BlockSize: c.BlockSize})
	if err != nil {
		panic(err)
	}
	c.Scheduler = s
	c.Cache = kv.NewPool(x.blocks, c.BlockSize, c.EnablePrefixCaching)
	if m.naive {
		c.Cache = kv.NewNaivePool(x.blocks, c.BlockSize, c.EnablePrefixCaching)
	}
	if x.tier > 0 {
		t := kv.TierConfig{Capacity: x.tier, Eviction: kv.LRU}
		c.Offload = &Offload{Tier: kv.NewTier(t), EntryTokens: c.BlockSize, Store: Link{100, 20}, Load: Link{150, 25}}
		if m.naive {
			c.Offload.Tier = kv.NewNaiveTier(t)
		}
	}
	return c
}

// play runs a case in one mode, up to its horizon.
func (x *rankCase) play(m rankMode) (_ *rankResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	p := &rankPlayer{rankResult: rankResult{Gaps: map[vtime.Duration]int{}}}
	r := NewRanks(x.RanksConfig, func(rank int) (int, Config) { return rank, x.config(m, p, rank) })
	p.ranks = r
	if r.group != nil {
		r.group.eager = m.eager
	}
	var again []Delivery
	advance := func(to vtime.Time, class uint8) {
		if x.crash <= to && again == nil {
			x.advance(r, p, m, x.crash, vtime.ClassDelivery)
			again = []Delivery{}
			r.CutOff(x.crash, func(_ int, d *Delivery, _ *Progress, _ int32) { again = append(again, *d) })
			r.Restart(func(rank int) Config { return x.config(m, p, rank) })
			p.mail = nil
			r.WarmUp(x.crash)
			for i := range again {
				if again[i].Deadline <= x.crash { // it would have timed out with the step in flight
					continue
				}
				r.Endpoints[int(again[i].ID)%len(r.Endpoints)].Deliver(&again[i], x.crash)
			}
		}
		x.advance(r, p, m, to, class)
	}
	for i := range x.requests {
		q := &x.requests[i]
		advance(q.Arrival, vtime.ClassDelivery)
		p.Seen = append(p.Seen, x.states(r)...)
		e := &r.Endpoints[int(q.ID)%len(r.Endpoints)]
		if x.pd != nil && q.ID%3 != 0 && q.Output > 0 {
			x.hand(e, q)
		} else if q.ID%7 == 3 {
			progress := Progress{Progress: metrics.NoProgress(), Evicted: vtime.Never}
			progress.Redirects = 1
			e.Resume(q, &progress, q.Arrival)
		} else {
			e.Deliver(q, q.Arrival)
		}
		if i == len(x.requests)/2 {
			r.Slow(1.5, q.Arrival)
		}
	}
	advance(x.horizon, 255)
	r.Finish(x.horizon, x.horizon)
	r.Unfinished(func(o *metrics.Outcome) {
		p.Outcomes = append(p.Outcomes, fmt.Sprintf("%d %v %+v", o.ID, o.State, o.Progress))
	})
	for _, e := range r.list {
		p.Counters, p.Tiers = append(p.Counters, e.Counters), append(p.Tiers, e.Tier)
		p.Handed = append(p.Handed, e.Disaggregated)
	}
	for i := range r.Endpoints {
		p.States = append(p.States, r.Endpoints[i].State(), r.Endpoints[i].StepState())
	}
	p.rankResult.Group, p.Fold = r.DataParallel(), r.Fold()
	if p.err == nil {
		p.err = r.Check()
	}
	return &p.rankResult, p.err
}

// advance goes on to (to, class).
func (x *rankCase) advance(r *Ranks, p *rankPlayer, m rankMode, to vtime.Time, class uint8) {
	if x.pd != nil {
		x.advanceByMail(r, p, m, to, class)
		return
	}
	if m.slice > 0 {
		for at := vtime.Time(0); at < to; at = at.Add(m.slice) {
			r.Advance(at, vtime.ClassStep)
		}
	}
	if !m.bounds {
		r.Advance(to, class)
		return
	}
	var change, state vtime.Time
	changeClass := uint8(0)
	p.promised = 0
	for {
		at, next := r.Next()
		p.promised = max(p.promised, r.FirstEnd())
		if t, c := r.FirstChange(); t > change || t == change && c > changeClass {
			change, changeClass = t, c
		}
		state = max(state, r.FirstStepState(false))
		if at > to || at == to && next >= class || at == vtime.Never {
			p.promised = 0
			return
		}
		before, published := x.lengths(r), x.states(r)
		r.Act(to, class)
		now := r.Now()
		if (now < change || now == change && next < changeClass) && !reflect.DeepEqual(x.lengths(r), before) {
			p.err = fmt.Errorf("at %v: lengths change, and %v was promised", now, change)
		}
		if now < state && !reflect.DeepEqual(x.states(r), published) {
			p.err = fmt.Errorf("at %v: a step state changes, and %v was promised:\n%s", now, state, cmp.Diff(published, x.states(r)))
		}
	}
}

func (x *rankCase) lengths(r *Ranks) (list []int32) {
	for i := range r.Endpoints {
		list = append(list, r.Endpoints[i].Waiting(), r.Endpoints[i].Running())
	}
	return list
}

func (x *rankCase) states(r *Ranks) (list []policy.InstanceState) {
	for i := range r.Endpoints {
		list = append(list, r.Endpoints[i].StepState())
	}
	return list
}

// Ranks in decode runs, and with steps of dummies that are no events, do what they do step by step.
func TestModesOfRanksAgree(t *testing.T) {
	seed, seen := lazySeed(), map[string]int64{}
	for n := range testsize.Cases(t, 100, 400, 4000) {
		x := drawRanks(seed + uint64(n))
		var want *rankResult
		for i, m := range rankModes {
			got, err := x.play(m)
			if err != nil {
				t.Fatalf("seed %d, case %d (%+v): %s: %v", seed, n, x.RanksConfig, m.name, err)
			}
			if i == 0 {
				want = got
				k := &want.Group
				seen["group steps"] += k.GroupSteps
				seen["dummies"] += k.DummySteps
				for r := range want.Counters {
					seen["preemptions"] += want.Counters[r].Preemptions
					seen["loads"] += want.Tiers[r].Loads
					h := &want.Handed[r]
					seen["hand-overs"] += h.HandOvers
					seen["noticed ends"] += h.NoticedEnds
					seen["expired"] += h.Expired
					seen["pulls"] += h.NoticedPulls
					seen["failed pulls"] += h.FailedPulls
					seen["left"] += h.Left
				}
				continue
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, case %d (%+v, async %v, tier %d): %s differs from %s:\n%s", seed, n, x.RanksConfig, x.cfg.Async, x.tier, m.name, rankModes[0].name,
					cmp.Diff(want, got))
			}
		}
	}
	for _, what := range []string{"group steps", "dummies", "preemptions", "loads", "hand-overs", "noticed ends", "expired", "pulls", "failed pulls", "left"} {
		if t.Logf("seed %d: %d × %s", seed, seen[what], what); seen[what] == 0 {
			t.Errorf("seed %d: no %s", seed, what)
		}
	}
}
