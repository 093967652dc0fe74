package engine

import (
	"slices"
	"testing"

	"blis/kv"
	"blis/vtime"
)

// recorder is an observer that keeps what it sees.
type recorder struct {
	steps       []Step
	preemptions []Preemption
	transfers   []Transfer
	expired     [][3]int64 // at, request, blocks
	anomalies   []Anomaly
	times       []vtime.Time // of the oddities
}

func (h *recorder) Formed(_ vtime.Time, f *Formation) {
	if !f.Empty() {
		h.steps = append(h.steps, f.Step)
	}
}
func (h *recorder) Preempted(_ vtime.Time, p Preemption) { h.preemptions = append(h.preemptions, p) }
func (h *recorder) Expired(now vtime.Time, request int64, blocks int32) {
	h.expired = append(h.expired, [3]int64{int64(now), request, int64(blocks)})
}

func (h *recorder) Transferred(_ vtime.Time, t Transfer) { h.transfers = append(h.transfers, t) }
func (h *recorder) Anomaly(now vtime.Time, o Anomaly) {
	o.Requests = slices.Clone(o.Requests)
	h.anomalies, h.times = append(h.anomalies, o), append(h.times, now)
}

// raised is what it saw as counts.
func (h *recorder) raised() (r raised) {
	for _, o := range h.anomalies {
		*[...]*int64{PriorityInversion: &r.inversions, HeadOfLineBlocking: &r.overtaken, BlockedHead: &r.blocked, PreemptionStorm: &r.storms}[o.Kind]++
	}
	return r
}

// observed serves requests with an observer.
func observed(t *testing.T, change func(*Config), requests ...testRequest) (*Engine, *recorder) {
	t.Helper()
	h := &recorder{}
	e, _ := instance(t, linear{1000, 0, 0}, func(c *Config) {
		change(c)
		c.Observer = h
	})
	for id, x := range requests {
		e.Advance(x.at, 3)
		d := x.delivery(int64(id))
		e.Deliver(&d, x.at)
	}
	e.Advance(vtime.Never, 255)
	return e, h
}

// Of three requests, one at a time, the urgent one is passed over twice: at 2,000
// by the one before it, which completes at 4,000.
func TestObserverSeesWhoSuffers(t *testing.T) {
	_, h := observed(t, scheduledBy(t, "fcfs"), testRequest{0, 10, 2, 0}, testRequest{100, 10, 2, 0.5}, testRequest{200, 10, 2, 3})
	if len(h.anomalies) != 1 {
		t.Fatalf("%+v", h.anomalies)
	}
	if o := h.anomalies[0]; o.Kind != PriorityInversion || !slices.Equal(o.Requests, []int64{2, 1}) || o.Severity != 2.5 || h.times[0] != 2000 {
		t.Errorf("%+v at %v", o, h.times)
	}
	_, h = observed(t, scheduledBy(t, "reverse-priority"), testRequest{0, 10, 2, 1}, testRequest{100, 10, 2, 3}, testRequest{200, 10, 2, 0})
	i := slices.IndexFunc(h.anomalies, func(o Anomaly) bool { return o.Kind == HeadOfLineBlocking })
	if i < 0 {
		t.Fatalf("%+v", h.anomalies)
	}
	if o := h.anomalies[i]; !slices.Equal(o.Requests, []int64{1, 2}) || o.Severity != 4000-100 || h.times[i] != 4000 {
		t.Errorf("%+v at %v", o, h.times)
	}
}

// Steps as they are formed: a prompt, then decodes; two requests in the second.
func TestObserverSeesSteps(t *testing.T) {
	e, h := observed(t, func(*Config) {}, testRequest{0, 20, 3, 0}, testRequest{500, 40, 1, 0})
	want := []Step{
		{Running: 1, Waiting: 0, PrefillTokens: 20, Used: 2, End: 1000},
		{Running: 2, Waiting: 0, PrefillTokens: 40, DecodeTokens: 1, Used: 5, Start: 1000, End: 2000},
		{Running: 1, Waiting: 0, DecodeTokens: 1, Used: 2, Start: 2000, End: 3000},
	}
	if !slices.Equal(h.steps, want) {
		t.Errorf("steps %+v\nwant %+v", h.steps, want)
	}
	if n := e.Counters.Steps; n != int64(len(want)) {
		t.Errorf("%d steps counted", n)
	}
}

// With async scheduling a step ends after the one that executes when it is
// formed.
func TestObserverSeesWhenAsyncStepsEnd(t *testing.T) {
	_, h := observed(t, func(c *Config) { c.Async = true }, testRequest{0, 20, 4, 0})
	for i, s := range h.steps {
		if s.End != vtime.Time(1000*(i+1)) {
			t.Errorf("step %d ends at %v: %+v", i, s.End, h.steps)
		}
	}
	if len(h.steps) < 4 {
		t.Errorf("%+v", h.steps)
	}
}

// Two requests outgrow a cache of three blocks: the second, for which none is
// left, gives way.
func TestObserverSeesPreemptions(t *testing.T) {
	e, h := observed(t, func(c *Config) { c.Cache = kv.NewPool(3, 16, true) }, testRequest{0, 16, 20, 0}, testRequest{0, 16, 20, 0})
	if int64(len(h.preemptions)) != e.Counters.Preemptions || len(h.preemptions) == 0 {
		t.Fatalf("%+v, %d counted", h.preemptions, e.Counters.Preemptions)
	}
	if p := h.preemptions[0]; p != (Preemption{Request: 1, For: 1, Computed: 16, Free: 0}) {
		t.Errorf("%+v", p)
	}
}
