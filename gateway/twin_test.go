package gateway

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	"blis/internal/testsize"
	"blis/vtime"
)

// plain is a queue without heaps, places or links: a list in order of entry.
type plain struct {
	rules   Rules
	list    []held
	bands   map[int]bool
	served  map[int]string
	counter map[string]int64 // by band and flow
}

type held struct {
	Request
	slot  int32
	entry vtime.Time
}

func newPlain(r Rules) *plain {
	return &plain{rules: r, bands: map[int]bool{}, served: map[int]string{}, counter: map[string]int64{}}
}

func (p *plain) in(band int) (list []held) {
	for _, h := range p.list {
		if h.Band == band {
			list = append(list, h)
		}
	}
	return list
}

func (p *plain) priorities() (list []int) {
	for b := range p.bands { // any order: sorted
		list = append(list, b)
	}
	sort.Sort(sort.Reverse(sort.IntSlice(list)))
	return list
}

func (p *plain) remove(slot int32) {
	p.list = slices.DeleteFunc(p.list, func(h held) bool { return h.slot == slot })
}

func counterOf(h *held) string { return fmt.Sprint(h.Band, "/", h.Flow) }

func (p *plain) enter(slot int32, r *Request, now vtime.Time) Entry {
	p.bands[r.Band] = true
	if p.rules.PerBand > 0 && int64(len(p.in(r.Band))) >= p.rules.PerBand {
		return Entry{true, -1}
	}
	e := Entry{false, -1}
	if p.rules.Total > 0 && int64(len(p.list)) >= p.rules.Total {
		var victim *held
		for i := range p.list {
			h := &p.list[i]
			if p.rules.Shed && h.Band < 0 && h.Band < r.Band && (victim == nil || h.Band < victim.Band || h.Band == victim.Band && (h.entry > victim.entry || h.entry == victim.entry && h.Number > victim.Number)) {
				victim = h
			}
		}
		if victim == nil {
			return Entry{true, -1}
		}
		e.Victim = victim.slot
		p.remove(victim.slot)
	}
	h := held{*r, slot, now}
	if others := p.in(r.Band); !slices.ContainsFunc(others, func(o held) bool { return o.Flow == r.Flow }) {
		own := p.counter[counterOf(&h)]
		least := int64(-1)
		for i := range others {
			if c := p.counter[counterOf(&others[i])]; least < 0 || c < least {
				least = c
			}
		}
		if name, ok := p.served[r.Band]; ok && least < 0 {
			least = p.counter[fmt.Sprint(r.Band, "/", name)]
		}
		p.counter[counterOf(&h)] = max(own, least)
	}
	p.list = append(p.list, h)
	return e
}

// less is the order of requests.
func (p *plain) less(a, b held) int {
	key := func(h held) []int64 {
		switch p.rules.Order {
		case EDF:
			return []int64{int64(h.entry) + int64(p.rules.TTL), int64(h.entry), h.Number}
		case SLODeadline:
			if h.Target == 0 {
				return []int64{int64(vtime.Never), int64(h.Arrival), h.Number}
			}
			return []int64{int64(h.Arrival) + int64(h.Target), int64(h.Arrival), h.Number}
		}
		return []int64{int64(h.entry), h.Number}
	}
	return slices.Compare(key(a), key(b))
}

// ceiling is that of the i-th band.
func (p *plain) ceiling(i int, s float64, tick int64) float64 {
	bands := p.priorities()
	m := len(bands)
	switch x := p.rules.Ceilings; {
	case x.Kind == Holdback && m > 1:
		return x.Max - float64(float64(i)*(x.Max-x.Min))/float64(m-1)
	case x.Kind == HoldbackValue && m > 1:
		return x.Min + float64((x.Max-x.Min)*float64(bands[i]-bands[m-1]))/float64(bands[0]-bands[m-1])
	case x.Kind == SoftReflective && (i == 0 || s < 1-float64(float64(i)*s)/float64(m-1)):
		return 1
	case x.Kind == SoftReflective:
		if s < 1 && tick > 0 && tick%softPeriod(s) == 0 {
			return 1
		}
		return 0
	}
	return p.rules.Ceilings.Max
}

func (p *plain) cycle(s float64, tick int64) Turn {
	if len(p.list) == 0 {
		return Turn{Slot: -1}
	}
	for i, b := range p.priorities() {
		c := p.ceiling(i, s, tick)
		if s >= c {
			return Turn{-1, c, b, true}
		}
		here := p.in(b)
		if len(here) == 0 {
			continue
		}
		heads := map[string]held{}
		for _, h := range here {
			if first, ok := heads[h.Flow]; !ok || p.less(h, first) < 0 {
				heads[h.Flow] = h
			}
		}
		var names []string
		for name := range heads { // any order: sorted
			names = append(names, name)
		}
		slices.Sort(names)
		best := names[0]
		for _, name := range names[1:] {
			x, y := heads[name], heads[best]
			switch p.rules.Fairness {
			case GlobalStrict:
				if p.less(x, y) < 0 {
					best = name
				}
			case VTC:
				if p.counter[counterOf(&x)] < p.counter[counterOf(&y)] {
					best = name
				}
			}
		}
		if last, ok := p.served[b]; ok && p.rules.Fairness == RoundRobin {
			for _, name := range names {
				if name > last {
					best = name
					break
				}
			}
		}
		h := heads[best]
		p.served[b] = best
		weight := 1.0
		if p.rules.Weight != nil {
			weight = p.rules.Weight(best)
		}
		p.counter[counterOf(&h)] += int64(float64(65536/weight) * float64(h.Tokens))
		p.remove(h.slot)
		return Turn{h.slot, c, b, false}
	}
	panic("requests wait in no band")
}

// next is when the next request leaves, and whether it expires.
func (p *plain) next() (at vtime.Time, slot int32, expires bool) {
	at, number := vtime.Never, int64(0)
	for _, h := range p.list {
		when, ex := max(h.Deadline, h.entry), false
		if ttl := p.rules.TTL; ttl > 0 && h.entry.Add(ttl) < when {
			when, ex = h.entry.Add(ttl), true
		}
		if when < at || when == at && h.Number < number {
			at, number, slot, expires = when, h.Number, h.slot, ex
		}
	}
	return at, slot, expires
}

func drawRules(r *rand.Rand) Rules {
	x := Rules{Order: Order(r.IntN(3)), Fairness: Fairness(r.IntN(3)), Shed: r.IntN(2) == 0}
	if r.IntN(2) == 0 {
		x.Total = int64(1 + r.IntN(30))
	}
	if r.IntN(2) == 0 {
		x.PerBand = int64(1 + r.IntN(10))
	}
	if r.IntN(2) == 0 {
		x.TTL = vtime.Duration(1 + r.IntN(400))
	}
	x.Ceilings = Ceilings{Kind: CeilingKind(r.IntN(4)), Min: 0.3, Max: 1}
	if r.IntN(3) == 0 {
		x.Weight = func(name string) float64 { return float64(1+len(name)%3) * 0.7 }
	}
	return x
}

// TestTwin: a queue and the plain one do the same on random requests.
func TestTwin(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var shed, full, closed, expired, passed int
	var demands [3]int // by the number of requests
	for n := range testsize.Of(300, 600, 5000) {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		rules := drawRules(r)
		q, p := New(rules), newPlain(rules)
		now, number, free := vtime.Time(0), int64(0), []int32{}
		for slot := range int32(200) {
			free = append(free, slot)
		}
		r.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
		flows := []string{"", "a", "b", "ab", "z", "é"}[:1+r.IntN(6)]
		for range 1 + r.IntN(300) {
			switch r.IntN(5) {
			case 0:
				now = now.Add(vtime.Duration(r.IntN(50)))
				for {
					at, slot, expires := p.next()
					if got := q.NextLeave(); got != at {
						t.Fatalf("trial %d: the next one leaves at %v, want %v", n, got, at)
					}
					if at > now {
						break
					}
					p.remove(slot)
					if s, e := q.PopLeave(); s != slot || e != expires {
						t.Fatalf("trial %d: slot %d leaves (expires %v), want %d (%v)", n, s, e, slot, expires)
					}
					free = append(free, slot)
					expired++
				}
			case 1, 2, 3:
				if len(free) == 0 {
					continue
				}
				x := Request{Number: number, Band: []int{4, 3, -1, -2, -3}[r.IntN(5)], Flow: flows[r.IntN(len(flows))], Arrival: now.Add(-vtime.Duration(r.IntN(20))), Deadline: vtime.Never, Tokens: int32(1 + r.IntN(100))}
				if r.IntN(2) == 0 {
					x.Target = vtime.Duration(1 + r.IntN(100))
				}
				if r.IntN(4) == 0 {
					x.Deadline = now.Add(vtime.Duration(r.IntN(300)))
				}
				number++
				slot := free[len(free)-1]
				want, got := p.enter(slot, &x, now), q.Enter(slot, &x, now)
				if got != want {
					t.Fatalf("trial %d: entry of %+v: %+v, want %+v", n, x, got, want)
				}
				if want.Full {
					full++
					continue
				}
				free = free[:len(free)-1]
				if want.Victim >= 0 {
					free = append(free, want.Victim)
					shed++
				}
			default:
				s, tick := []float64{0, 0.2, 0.5, 0.65, 0.9, 1, 1.5}[r.IntN(7)], int64(r.IntN(5))
				want, got := p.cycle(s, tick), q.Cycle(s, tick)
				if got != want {
					t.Fatalf("trial %d: %+v: cycle at %v, tick %d: %+v, want %+v", n, rules, s, tick, got, want)
				}
				if want.Closed {
					closed++
					lowest, share := -1-r.IntN(3), []float64{0.0625, 0.25, 2, math.Inf(1)}[r.IntN(4)]
					got, want := q.Demand(s, tick, lowest, share), p.demand(s, tick, lowest, share)
					if got != want {
						t.Fatalf("trial %d: %+v: demand at %v, tick %d, above %d: %+v, want %+v", n, rules, s, tick, lowest, got, want)
					}
					demands[want.Requests]++
				} else if want.Slot >= 0 {
					free = append(free, want.Slot)
					passed++
				}
			}
			if q.Waiting() != int64(len(p.list)) {
				t.Fatalf("trial %d: %d wait, want %d", n, q.Waiting(), len(p.list))
			}
		}
		var got []int32
		q.All(func(slot int32) { got = append(got, slot) })
		var want []int32
		for _, b := range p.priorities() {
			for _, h := range p.in(b) {
				want = append(want, h.slot)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("trial %d: slots %v wait, want %v", n, got, want)
		}
	}
	if min(shed, full, closed, expired, passed, demands[0], demands[1], demands[2]) < 100 {
		t.Errorf("shed %d, refused %d, closed %d, left %d, dispatched %d, demands %v: want each in at least 100 places", shed, full, closed, expired, passed, demands)
	}
}

// Two tenants always have requests waiting; the prompts of one are ten times as long. In turn each is served as many
// requests, by VTC as many tokens, or in proportion to the weights.
func TestNoisyTenant(t *testing.T) {
	for _, c := range []struct {
		fairness      Fairness
		weight        func(string) float64
		least, most   float64 // tokens of the long ones / tokens of the short ones
		wantsRequests bool
	}{
		{RoundRobin, nil, 10, 10, true},
		{VTC, nil, 0.99, 1.01, false},
		{VTC, func(name string) float64 { return map[string]float64{"long": 3, "short": 1}[name] }, 2.97, 3.03, false},
	} {
		q := New(Rules{Fairness: c.fairness, Weight: c.weight, Ceilings: Ceilings{Max: 1}})
		slot := int32(0)
		enter := func(flow string) {
			q.Enter(slot, &Request{Number: int64(slot), Flow: flow, Deadline: vtime.Never, Tokens: map[string]int32{"long": 1000, "short": 100}[flow]}, vtime.Time(slot))
			slot++
		}
		tokens, requests := map[string]float64{}, map[string]int{}
		of := map[int32]string{}
		for range 3 {
			for _, flow := range []string{"long", "short"} {
				of[slot] = flow
				enter(flow)
			}
		}
		for range 11000 {
			flow := of[q.Cycle(0, 0).Slot]
			tokens[flow] += map[string]float64{"long": 1000, "short": 100}[flow]
			requests[flow]++
			of[slot] = flow
			enter(flow)
		}
		if ratio := tokens["long"] / tokens["short"]; ratio < c.least || ratio > c.most || c.wantsRequests != (requests["long"] == requests["short"]) {
			t.Errorf("fairness %d: %v tokens, %v requests: ratio %.3f, want %g to %g", c.fairness, tokens, requests, ratio, c.least, c.most)
		}
	}
}

// Many waiting requests cost no more each than few: heaps, no walks. The work is counted in comparisons of requests.
func TestManyWait(t *testing.T) {
	cost := func(n int32) float64 {
		q, compared := New(Rules{Fairness: GlobalStrict, Order: SLODeadline, Ceilings: Ceilings{Max: 1}}), 0
		for i := range n {
			q.Enter(i, &Request{Number: int64(i), Flow: fmt.Sprint(i % 100), Arrival: vtime.Time(i), Deadline: vtime.Never, Target: vtime.Duration(1 + (i*7919)%n)}, vtime.Time(i))
			if i == 0 {
				less := q.bands[0].turns.heap.before
				q.bands[0].turns.heap.before = func(a, b *flow) bool { compared++; return less(a, b) }
			}
		}
		for range n {
			q.Cycle(0, 0)
		}
		return float64(compared) / float64(n)
	}
	if few, many := cost(4000), cost(40000); many > 2*few {
		t.Errorf("%.1f comparisons of flows for each of 4,000 requests, %.1f of 40,000", few, many)
	}
}
