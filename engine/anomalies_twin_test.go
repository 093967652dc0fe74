package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"blis/kv"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

func newPool(blocks int) kv.Cache { return kv.NewPool(blocks, 16, true) }

// recount counts anomalies from what it sees of every formation and of every
// request that ends, by going through all that wait each time.
type recount struct {
	log
	e        *Engine
	priority map[int64]float64
	told     map[int64]bool
	evicted  []vtime.Time
	storm    vtime.Time // Never: none yet
	counted  raised
}

// waits calls f for every request in the wait queue.
func (r *recount) waits(f func(i int32, s *slot)) {
	for i := range int32(len(r.e.requests.slots)) {
		if s := r.e.requests.at(i); s.phase == waiting {
			f(i, s)
		}
	}
}

func (r *recount) Done(o *metrics.Outcome, _ vtime.Time) {
	if o.State != metrics.Completed {
		return
	}
	r.waits(func(_ int32, s *slot) {
		if s.Priority > r.priority[o.ID] && s.Queued < o.Queued && !r.told[s.ID] {
			r.told[s.ID] = true
			r.counted.overtaken++
		}
	})
}

func (r *recount) Formed(now vtime.Time, f *Formation) {
	for _, id := range f.New {
		passed := false
		r.waits(func(_ int32, s *slot) { passed = passed || s.Priority > r.priority[id] })
		if passed {
			r.counted.inversions++
		}
	}
	if len(f.Scheduled()) > 0 && len(f.Preempted) == 0 && r.headIsBlocked(f) {
		r.counted.blocked++
	}
	recent := int32(0)
	for range f.Preempted {
		r.evicted = append(r.evicted, now)
	}
	for _, at := range r.evicted {
		if now-at < 1_000_000 {
			recent++
		}
	}
	if len(f.Preempted) > 0 && recent > f.Running {
		if r.storm == vtime.Never || now-r.storm >= 1_000_000 {
			r.counted.storms++
		}
		r.storm = now
	}
}

func (*recount) Preempted(vtime.Time, Preemption) {}
func (*recount) Transferred(vtime.Time, Transfer) {}

func (*recount) Expired(vtime.Time, int64, int32) {}
func (*recount) Anomaly(vtime.Time, Anomaly)      {}

// headIsBlocked reports whether the scan of the queue ended at a head that
// does not fit while others wait behind it.
func (r *recount) headIsBlocked(f *Formation) bool {
	e := r.e
	left := e.cfg.MaxNumBatchedTokens
	for _, share := range f.Scheduled() {
		left -= share.Tokens
	}
	if e.requests.running() >= e.cfg.MaxNumSeqs || left <= 0 {
		return false
	}
	waiting := 0
	r.waits(func(int32, *slot) { waiting++ })
	return waiting > 1 && !r.wouldFit(e.requests.at(e.batcher.queue.head()), left)
}

func (r *recount) wouldFit(s *slot, left int32) bool {
	c := &r.e.cfg
	known := s.Input + s.generated
	hit := c.Cache.Lookup(&s.seq, known)
	cached := int32(hit.Blocks) * c.BlockSize
	n := known - cached
	if t := c.LongPrefillTokenThreshold; t > 0 && n > t {
		n = t
	}
	if !c.EnableChunkedPrefill && n > left {
		return false
	}
	upto := cached + min(n, left)
	if c.SchedulerReserveFullISL {
		upto = min(known, r.e.requests.maxLen)
	}
	fresh := int((upto+c.BlockSize-1)/c.BlockSize) - hit.Blocks
	return fresh+hit.OnFree <= c.Cache.Free()
}

// crowded is a random small instance with too little of something.
type crowded struct {
	config    Config
	blocks    int
	scheduler string
	requests  []Delivery
	sink      Sink // nil: a log
	extents   bool // the step-by-step twin has them too
}

func drawCrowded(seed uint64) *crowded {
	r := rand.New(rand.NewPCG(seed, 0x616e6f6d))
	pick := func(choices ...int32) int32 { return choices[r.IntN(len(choices))] }
	flip := func() bool { return r.IntN(2) == 0 }
	x := &crowded{blocks: 6 + r.IntN(30), scheduler: [...]string{"fcfs", "fcfs", "priority-fcfs", "sjf", "backwards"}[r.IntN(5)]}
	x.config = Config{
		BlockSize: pick(4, 16), Args: Args{
			MaxNumBatchedTokens: pick(32, 64, 256), MaxNumSeqs: pick(2, 5, 16), LongPrefillTokenThreshold: pick(0, 0, 10),
			EnablePrefixCaching: r.IntN(4) > 0, EnableChunkedPrefill: r.IntN(4) > 0, SchedulerReserveFullISL: flip(),
		}, Async: flip(),
		Model: linear{[...]float64{700, 30_000, 200_000}[r.IntN(3)], 10, float64(r.IntN(2))},
	}
	levels, at := 1+r.IntN(5), vtime.Time(0)
	for id := range 10 + r.IntN(60) {
		if r.IntN(3) > 0 {
			at += vtime.Time(r.Int64N(2 * int64(x.config.Model.(linear)[0])))
		}
		d := Delivery{Request: workload.NewRequest(at, 1+r.Int32N(60), 1+r.Int32N(40)), Admitted: at, Priority: float64(r.IntN(levels))}
		d.ID = int64(id)
		if levels == 5 {
			d.Priority = r.NormFloat64()
		}
		if flip() {
			d.MaxOutput = d.Output
		}
		if r.IntN(8) == 0 {
			d.Deadline = at + vtime.Time(r.Int64N(1_000_000))
		}
		switch shared := d.Input / 4 * 3; {
		case r.IntN(3) == 0 && shared > 0:
			d.Spans = []workload.Span{{Content: workload.ContentID(1 + r.IntN(2)), Length: shared}}
		case r.IntN(4) == 0:
			d.Spans = []workload.Span{{Content: workload.ContentID(1 + r.IntN(3)), Length: d.Input}}
			d.OutputContent = workload.ContentID(100 + id)
		}
		x.requests = append(x.requests, d)
	}
	return x
}

// play serves the requests. With a recount the instance has a ledger and takes
// no decode runs.
func (x *crowded) play(stepwise bool, pause vtime.Time, r *recount) (e *Engine, err error) {
	defer func() {
		if p, ok := recover().(*Livelock); ok {
			err = p
		}
	}()
	c := x.config
	name := x.scheduler
	if name == "backwards" {
		name = "priority-fcfs"
	}
	if c.Scheduler, err = policy.NewScheduler(name, nil, policy.Env{BlockSize: c.BlockSize}); err != nil {
		return nil, err
	}
	if x.scheduler == "backwards" {
		c.Scheduler = backwards{c.Scheduler}
	}
	if c.StepByStep, c.Sink = stepwise, x.sink; x.sink == nil {
		c.Sink = &log{}
	}
	c.Cache = kv.NewPool(x.blocks, c.BlockSize, c.EnablePrefixCaching)
	if stepwise && !x.extents {
		c.Cache = kv.NewNaivePool(x.blocks, c.BlockSize, c.EnablePrefixCaching)
	}
	if r != nil {
		c.Sink, c.Observer = r, r
	}
	e = New(0, c)
	if r != nil {
		*r = recount{e: e, priority: map[int64]float64{}, told: map[int64]bool{}, storm: vtime.Never}
	}
	for i := range x.requests {
		d := &x.requests[i]
		if r != nil {
			r.priority[d.ID] = d.Priority
		}
		for now := e.now; pause > 0 && now < d.Arrival; now += pause {
			e.Advance(now, vtime.ClassStep)
		}
		e.Advance(d.Arrival, 3)
		e.Deliver(d, d.Arrival)
	}
	e.Advance(vtime.Never, 255)
	return e, e.Check()
}

// Every way of serving counts what the naive recount does.
func TestAnomaliesEqualANaiveRecount(t *testing.T) {
	first := rand.Uint64N(1 << 32)
	var total raised
	deep, inRuns := 0, 0
	for seed := first; seed < first+400; seed++ {
		x := drawCrowded(seed)
		var want metrics.Counters
		for i, m := range []struct {
			name     string
			stepwise bool
			pause    vtime.Time
			recount  *recount
		}{{"block twin", true, 0, &recount{}}, {"cohort", false, 0, &recount{}}, {"decode runs", false, 0, nil}, {"decode runs, paused", false, 900, nil}} {
			e, err := x.play(m.stepwise, m.pause, m.recount)
			if _, ok := err.(*Livelock); ok {
				break
			}
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, m.name, err)
			}
			if m.recount != nil && anomaliesOf(&e.Counters) != m.recount.counted {
				t.Fatalf("seed %d, %s: counted %+v, recounted %+v", seed, m.name, anomaliesOf(&e.Counters), m.recount.counted)
			}
			if i == 0 {
				want = e.Counters
			} else if e.Counters != want {
				t.Fatalf("seed %d, %s: %s", seed, m.name, fmt.Sprintf("%+v\nwant %+v", e.Counters, want))
			}
			if i == 0 {
				got := anomaliesOf(&want)
				total = raised{total.inversions + got.inversions, total.overtaken + got.overtaken, total.blocked + got.blocked, total.storms + got.storms}
				if p := e.requests.priorities; p != nil && len(p.arrivals) > 16 {
					deep++
				}
			}
			if m.recount == nil && e.Counters.BlockedHeads > 0 {
				inRuns++
			}
		}
	}
	t.Logf("seeds from %d: %+v; places taken in %d runs, blocked heads with decode runs in %d", first, total, deep, inRuns)
	if total.inversions < 100 || total.overtaken < 100 || total.blocked < 100 || total.storms < 20 || deep < 20 || inRuns < 50 {
		t.Errorf("seeds from %d: the trials meet too little: %+v", first, total)
	}
}

// The tree against going through its entries.
func TestMaxTreeEqualsSlice(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 3))
	var b maxTree
	var list []highest
	for range 3000 {
		if len(list) == 0 || r.IntN(200) == 0 {
			list = append(list, noRequest)
			b.reset(len(list))
			for i, v := range list {
				b.set(i, v)
			}
		}
		i := r.IntN(len(list))
		list[i] = highest{float64(r.IntN(9)), float64(r.IntN(9))}
		if r.IntN(3) == 0 {
			list[i] = noRequest
		}
		b.set(i, list[i])
		from, least := r.IntN(len(list)+1), float64(r.IntN(9))
		want := -1
		for k := from; k < len(list) && want < 0; k++ {
			if list[k].waiting >= least {
				want = k
			}
		}
		if got := b.next(from, func(x highest) bool { return x.waiting >= least }); got != want {
			t.Fatalf("seed %d: next from %d at least %v is %d, want %d of %v", seed, from, least, got, want, list)
		}
	}
}
