package policy

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"blis/workload"
)

func mustShed(t *testing.T, env Env, settings ...Setting) Admission {
	t.Helper()
	p, err := NewAdmission("saturation-shed", settings, env)
	if err != nil {
		t.Fatal(err)
	}
	if p.Observes() != QueueDepth|KVUse {
		t.Errorf("observes %v", p.Observes())
	}
	return p
}

// admitAs asks p, which may read what it declares.
func admitAs(p Admission, req *Request, view *View) AdmissionDecision {
	view.Declared = p.Observes()
	return p.Decide(req, &RouterState{View: view, Declared: p.Observes()}, 0)
}

func TestSaturationShed(t *testing.T) {
	labels := named("standard", "sheddable")
	set := func(pairs ...string) (list []Setting) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, Setting{pairs[i], pairs[i+1]})
		}
		return list
	}
	kv := func(used ...int64) *View {
		view := &View{}
		for _, u := range used {
			view.Add(Slot{Routable: true, Used: u, Total: 100})
		}
		return view
	}
	for _, c := range []struct {
		name     string
		settings []Setting
		view     *View
		shed     bool
	}{
		{"idle", nil, loads(0, 0), false},
		{"queues below", nil, loads(4, 5), false},
		{"queues at the threshold", nil, loads(5, 5), true},
		{"the mean counts", nil, loads(0, 10), true},
		{"fifths that sum to the threshold", nil, loads(1, 2, 12), true},
		{"and to a fifth less", nil, loads(1, 2, 11), false},
		{"KV below", nil, kv(79, 80), false},
		{"KV at the threshold", nil, kv(80, 80), true},
		{"KV, the mean counts", nil, kv(100, 60), true},
		{"the larger of the two, not the sum", nil, viewOf(Slot{Queue: 4, Used: 79, Total: 100, Routable: true}), false},
		{"a queue here, KV there", nil, viewOf(Slot{Queue: 6, Total: 100, Routable: true}, Slot{Used: 64, Total: 100, Routable: true}), true},
		{"a full instance does not count when it takes no requests", nil, loads(1, 1000).close(1), false},
		{"nor does an idle one", nil, loads(5, 0, 5).close(1), true},
		{"no instance takes requests", nil, loads(1000, 1000).close(0, 1), false},
		{"no instance", nil, &View{}, false},
		{"an instance without blocks is full", nil, viewOf(Slot{Routable: true}), true},
		{"queue_depth", set("queue_depth", "2"), loads(2, 2), true},
		{"queue_depth, below", set("queue_depth", "2"), loads(1, 2), false},
		{"queue_depth with a fraction", set("queue_depth", "0.1"), viewOf(Slot{Queue: 1, Total: 9, Routable: true}, Slot{Total: 9, Routable: true}, Slot{Total: 9, Routable: true}), true},
		{"kv", set("kv", "0.5"), kv(50, 50), true},
		{"kv, below", set("kv", "0.5"), kv(49, 50), false},
		{"threshold", set("threshold", "1.2"), loads(6, 6), true},
		{"threshold, below", set("threshold", "1.2"), loads(6, 5), false},
		{"threshold 0 sheds always", set("threshold", "0"), loads(0), true},
		{"the largest of everything", set("queue_depth", "1e5", "threshold", "100"), loads(1e7, 1e7), true},
		{"the largest of everything, below", set("queue_depth", "1e5", "threshold", "100"), loads(1e7, 1e7-1), false},
		{"queues as long as they go", nil, loads(1<<31-1, 1<<31-1, 1<<31-1), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := AdmissionDecision{Verdict: Admit}
			if c.shed {
				want = AdmissionDecision{Verdict: Reject, Reason: Saturated}
			}
			if got := admitAs(mustShed(t, Env{Labels: labels}, c.settings...), &Request{Identity: workload.Identity{Tags: workload.Tags{Class: 1}}}, c.view); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			if got := admitAs(mustShed(t, Env{Labels: labels}, c.settings...), &Request{Identity: workload.Identity{Tags: workload.Tags{Class: 0}}}, c.view); got.Verdict != Admit {
				t.Errorf("of another class: %+v", got)
			}
			if got := admitAs(mustShed(t, Env{}, c.settings...), &Request{Identity: workload.Identity{Tags: workload.Tags{Class: 1}}}, c.view); got.Verdict != Admit {
				t.Errorf("without classes: %+v", got)
			}
		})
	}
}

// naiveShed looks at every instance, in fractions.
func naiveShed(view *View, depth, kv, threshold *big.Rat) bool {
	sum, n := new(big.Rat), int64(0)
	for _, s := range view.slots {
		if !s.Routable {
			continue
		}
		queue := new(big.Rat).Quo(big.NewRat(int64(s.Queue), 1), depth)
		use := new(big.Rat).Quo(big.NewRat(s.Used, s.Total), kv)
		if use.Cmp(queue) > 0 {
			queue = use
		}
		sum.Add(sum, queue)
		n++
	}
	return n > 0 && sum.Cmp(new(big.Rat).Mul(threshold, big.NewRat(n, 1))) >= 0
}

// TestShedEqualsNaiveShed has two policies follow a view, each at its own pace.
// The parameters and numbers of blocks are such that no weight is rounded, so
// that the mean may be at the threshold exactly.
func TestShedEqualsNaiveShed(t *testing.T) {
	env := Env{Labels: named("", "sheddable")}
	totals := []int64{4, 5, 8, 10, 100, 160}
	var shed, admitted, followed, anew, exact int
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 14))
		choose := func(from ...string) (string, *big.Rat) {
			text := from[rng.IntN(len(from))]
			x, _ := new(big.Rat).SetString(text)
			return text, x
		}
		depthText, depth := choose("5", "1", "2.5", "0.5")
		kvText, kv := choose("0.8", "0.5", "1")
		thresholdText, threshold := choose("1", "0.5", "0.25", "0.7")
		settings := []Setting{{"queue_depth", depthText}, {"kv", kvText}, {"threshold", thresholdText}}
		settle := func(view *View) *View { // blocks that divide without a rest
			for i := range view.Len() {
				s := view.Slot(i)
				s.Total = totals[(i+int(seed))%len(totals)]
				s.Used = min(s.Used, s.Total)
				view.Set(i, s)
			}
			return view
		}
		n := 1 + rng.IntN([]int{3, 10, 100}[rng.IntN(3)])
		view, other := settle(randomView(rng, n)), settle(randomView(rng, 1+rng.IntN(n)))
		policies := []*saturationShed{mustShed(t, env, settings...).(*saturationShed), mustShed(t, env, settings...).(*saturationShed)}
		for step := range 200 {
			disturbView(rng, view, n+3)
			settle(view)
			if rng.IntN(50) == 0 {
				view, other = other, view
			}
			want := naiveShed(view, depth, kv, threshold)
			for k, p := range policies {
				if rng.IntN(1+5*k) != 0 {
					continue
				}
				if behind := view.changes - p.rows.read; behind > uint64(len(view.log)) {
					anew++
				} else if behind > 0 {
					followed++
				}
				if got := admitAs(p, &Request{Identity: workload.Identity{Tags: workload.Tags{Class: 1}}}, view).Verdict == Reject; got != want {
					t.Fatalf("seed %d, %v, step %d: shed %v, want %v: %+v", seed, settings, step, got, want, view.slots)
				}
				if p.routable > 0 && p.sum == p.limit*p.routable {
					exact++
				}
			}
			if want {
				shed++
			} else {
				admitted++
			}
		}
	}
	if min(shed, admitted, followed, anew) < 5000 || exact < 500 {
		t.Errorf("too little is tested: %d shed, %d admitted, %d followed, %d anew, %d at the threshold", shed, admitted, followed, anew, exact)
	}
}

// TestShedDependsOnTheViewAlone: not on the order of changes, on how often it
// was asked, or on signals that it does not declare.
func TestShedDependsOnTheViewAlone(t *testing.T) {
	env := Env{Labels: named("", "sheddable")}
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 15))
		p := mustShed(t, env, Setting{"queue_depth", "3.3"}, Setting{"kv", "0.7"}, Setting{"threshold", fmt.Sprint(0.2 + rng.Float64())})
		view := randomView(rng, 1+rng.IntN(40))
		for step := range 100 {
			disturbView(rng, view, view.Len())
			got := admitAs(p, &Request{Identity: workload.Identity{Tags: workload.Tags{Class: 1}}}, view)
			other := &View{}
			for i := range view.Len() {
				s := view.Slot(i)
				s.Batch, s.InFlight = s.Batch+int32(rng.IntN(9)), s.InFlight+int32(rng.IntN(9))
				other.Add(s)
			}
			fresh := mustShed(t, env).(*saturationShed)
			fresh.full, fresh.limit = p.(*saturationShed).full, p.(*saturationShed).limit
			if want := admitAs(fresh, &Request{Identity: workload.Identity{Tags: workload.Tags{Class: 1}}}, other); got != want || fresh.sum != p.(*saturationShed).sum {
				t.Fatalf("seed %d, step %d: %+v with sum %d, asked for the first time %+v with %d", seed, step, got, p.(*saturationShed).sum, want, fresh.sum)
			}
		}
	}
}
