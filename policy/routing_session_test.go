package policy

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/cespare/xxhash/v2"

	"blis/workload"
)

// naiveSessionHash is session-hash.
type naiveSessionHash struct{ draws *twinDraws }

func (p *naiveSessionHash) decide(req *Request, view *View) RoutingDecision {
	scores := make([]float64, len(view.slots))
	target, largest := -1, uint64(0)
	for i, s := range view.slots {
		scores[i] = -1
		if !s.Routable {
			continue
		}
		scores[i] = 1e12 - float64(s.InFlight)
		var b bytes.Buffer
		_ = binary.Write(&b, binary.LittleEndian, [2]uint64{req.Session, uint64(i)}) // to memory: cannot fail
		if h := xxhash.Sum64(b.Bytes()); h > largest {
			target, largest = i, h
		}
	}
	if req.Session == 0 {
		target = naiveBest(scores, req, p.draws)
	}
	switch {
	case target < 0:
		return noTarget
	case req.Session == 0:
		return RoutingDecision{Target: target, Reason: LeastLoad}
	}
	return RoutingDecision{Target: target, Reason: BySession}
}

func TestSessionHashEqualsItsTwin(t *testing.T) {
	reasons, drawn := map[Reason]int{}, 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 21))
		env := Env{BlockSize: 4, Draws: NewDraws(seed)}
		draws, settings := &twinDraws{draws: env.Draws}, []Setting(nil)
		if seed%3 == 0 {
			draws, settings = nil, []Setting{{"tie", "lowest"}}
		}
		fast, slow := mustRoute(t, "session-hash", env, settings...), &naiveSessionHash{draws}
		view := randomView(rng, 1+rng.IntN(30))
		for step := range 100 {
			disturbView(rng, view, 40)
			turnOver(rng, view, 40)
			req := Request{Identity: workload.Identity{ID: rng.Int64N(1e6), Session: rng.Uint64N(20)}}
			got, want := route(fast, &req, view), slow.decide(&req, view)
			if got.Target != want.Target || got.Reason != want.Reason {
				t.Fatalf("seed %d, step %d: %+v, want %+v", seed, step, got, want)
			}
			reasons[got.Reason]++
		}
		if draws != nil {
			drawn += draws.made
		}
	}
	if drawn < 50 || reasons[LeastLoad] < 50 || reasons[BySession] < 5000 || reasons[NoInstance] < 10 {
		t.Errorf("too little is tested: %d draws, %v", drawn, reasons)
	}
}

// TestSessionsStayWhenInstancesComeAndGo: those that move come from all others to one that
// is new, and go from one that is gone to all others.
func TestSessionsStayWhenInstancesComeAndGo(t *testing.T) {
	const sessions, instances = 6000, 5
	p := mustRoute(t, "session-hash", Env{BlockSize: 16})
	where := func(view *View) (on []int) {
		for s := range uint64(sessions) {
			on = append(on, route(p, &Request{Identity: workload.Identity{Session: 1 + s}}, view).Target)
		}
		return on
	}
	few, all := where(loads(make([]int32, instances)...)), where(loads(make([]int32, instances+1)...))
	var from [instances]int
	for s := range all {
		switch {
		case few[s] == all[s]:
		case all[s] == instances:
			from[few[s]]++
		default:
			t.Fatalf("session %d went from %d to %d when instance %d came", s, few[s], all[s], instances)
		}
	}
	for i, n := range from {
		if want := sessions / (instances + 1) / instances; n < want*3/4 || n > want*5/4 {
			t.Errorf("%d sessions left instance %d for the new one, want about %d", n, i, want)
		}
	}
}

func TestSessionHash(t *testing.T) {
	p := mustRoute(t, "session-hash", Env{BlockSize: 16}, Setting{"tie", "lowest"})
	if p.Observes() != InFlight {
		t.Errorf("observes %v", p.Observes())
	}
	for _, c := range []struct {
		name    string
		session uint64
		view    *View
		want    int
	}{
		{"without a session the fewest in flight", 0, inFlight(3, 1, 2), 1},
		{"of equals as tie says", 0, inFlight(3, 2, 2), 1},
		{"not one that is not routable", 0, inFlight(3, 1, 2).close(1), 2},
		{"a session looks at no load", 7, inFlight(0, 9, 9, 9), foremost(7, loads(0, 0, 0, 0))},
		{"nowhere to go", 7, inFlight(0).close(0), -1},
		{"nowhere to go without a session", 0, inFlight(0).close(0), -1},
	} {
		if d := route(p, &Request{Identity: workload.Identity{Session: c.session}}, c.view); d.Target != c.want {
			t.Errorf("%s: %+v, want %d", c.name, d, c.want)
		}
	}
	if got := rendezvous(1, 2); got != 0x4b180fec3ef3d4ac {
		t.Errorf("the hash of session 1 and instance 2 is %#x: it may not change", got)
	}
}
