package traffic

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// What happens at the ends of things: of sessions, of requests, of time.

// people are users who each play a graph, n requests together.
func people(count int32, n int64, nodes ...Node) Client {
	c := graph(NoContext, nodes...)
	c.Times, c.Prefix, c.Users, c.Requests, c.Think = nil, Prefix{}, count, n, draw.Always(20)
	return c
}

// A user goes on when the last answer is there, and not when it was the last to
// be finished: a long answer takes its client longer.
func TestUserHasAllAnswersBeforeTheNextSession(t *testing.T) {
	s := source(t, Config{Clients: []Client{people(1, 4, Node{}, Node{})}})
	var r workload.Request
	for range 2 {
		if ok, err := s.Pull(&r); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	s.Ended(&workload.End{Source: r.Source, Index: 0, At: 900, Completed: true, Generated: 5})
	s.Ended(&workload.End{Source: r.Source, Index: 1, At: 300, Completed: true, Generated: 5})
	if at := s.Peek().Arrival; at != 920 {
		t.Errorf("the next session begins at %v, want 20 µs after the answer at 900", at)
	}
}

// A failed session of a user ends as one of an open loop does: its late first
// requests are still sent, and then its user goes on.
func TestUserGoesOnAfterAFailedGraph(t *testing.T) {
	c := people(1, 9, Node{}, Node{Wait: draw.Always(500)}, Node{After: []int{0, 1}})
	c.Pause = draw.Always(2000)
	s := source(t, Config{Clients: []Client{c}})
	all := play(t, s, func(r *workload.Request) (vtime.Duration, bool) { return 10, r.Round != 0 })
	want := "[20: 10+5 of 0, 0 spans 520: 10+5 of 1, 0 spans 2530: 10+5 of 0, 0 spans 3030: 10+5 of 1, 0 spans 5040: 10+5 of 0, 0 spans 5540: 10+5 of 1, 0 spans]"
	if got := fmt.Sprint(describe(all)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := s.Sessions(), (workload.Sessions{EndedEarly: 3, NotSent: 3, UserRequests: 6, UserRefused: 3}); got != want || len(s.sessions.live) != 0 {
		t.Errorf("sessions %+v, %d held, want %+v", got, len(s.sessions.live), want)
	}
}

// What follows from answers is not sent once its session has failed; what the
// session begins with is, wherever it waits.
func TestFailedGraphForgetsWhatFollowsAlone(t *testing.T) {
	c := people(1, 8, Node{}, Node{}, Node{After: []int{0}, Wait: draw.Always(100)}, Node{Wait: draw.Always(500)})
	s := source(t, Config{Clients: []Client{c}})
	all := play(t, s, func(r *workload.Request) (vtime.Duration, bool) { return 10, r.Round != 1 })
	var rounds []int32
	for _, r := range all {
		rounds = append(rounds, r.Round)
	}
	if got, want := fmt.Sprint(rounds), "[0 1 3 0 1 3]"; got != want {
		t.Errorf("nodes %s, want %s", got, want)
	}
	if got, want := s.Sessions(), (workload.Sessions{EndedEarly: 2, NotSent: 2, UserRequests: 6, UserRefused: 2}); got != want || len(s.sessions.live) != 0 {
		t.Errorf("sessions %+v, %d held, want %+v", got, len(s.sessions.live), want)
	}
}

// A limit leaves the last nodes of a graph out, and nobody waits for them or has
// content for them.
func TestLimitCutsAGraph(t *testing.T) {
	c := graph(Accumulate, Node{}, Node{After: []int{0}}, Node{After: []int{0}}, Node{After: []int{1, 2}})
	s := source(t, Config{Requests: 2, Clients: []Client{c}})
	want := "[1000: 15+5 of 0, 2 spans 1051: 30+5 of 1, 3 spans]"
	if got := fmt.Sprint(describe(play(t, s, after(50)))); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := s.Sessions(), (workload.Sessions{Completed: 1}); got != want {
		t.Errorf("sessions %+v, want %+v", got, want)
	}
}

// A session begins with the first request that it sends, whichever that is.
func TestSessionBeginsWithItsFirstRequest(t *testing.T) {
	c := graph(NoContext, Node{Wait: draw.Always(500)}, Node{}, Node{After: []int{0}})
	for horizon, want := range map[vtime.Time]string{0: "[1 0 2]", 1400: "[1]"} {
		all := play(t, source(t, Config{Horizon: horizon, Clients: []Client{c}}), after(10))
		var rounds []int32
		for i, r := range all {
			rounds = append(rounds, r.Round)
			if r.Begins != (i == 0) {
				t.Errorf("horizon %v: request %d begins the session: %v", horizon, i, r.Begins)
			}
		}
		if got := fmt.Sprint(rounds); got != want {
			t.Errorf("horizon %v: nodes %s, want %s", horizon, got, want)
		}
	}
}

// A session that cannot be is an error of the request with which it would begin,
// whether or not anything else is to come, and however far ahead others are
// pulled.
func TestSessionThatCannotBeIsAnErrorInItsPlace(t *testing.T) {
	wide := draw.Length{Dist: draw.Must(draw.NewEmpirical([]float64{1, math.MaxInt32}, nil)), Min: 1, Max: math.MaxInt32}
	c := Client{ID: "users", Users: 1, Requests: 100, Input: wide, Output: draw.Exactly(1),
		Kinds: []Kind{{Share: 1, Session: &Session{Rounds: draw.Exactly(1)}}}}
	other := Client{ID: "other", Times: []vtime.Time{0, 10, 1 << 30}, Input: draw.Exactly(1), Output: draw.Exactly(1)}
	run := func(seed uint64, ahead bool, clients ...Client) (text string, n int) {
		s, err := New(Config{Seed: seed, Clients: clients})
		if err != nil {
			return err.Error(), 0
		}
		var next, r workload.Request
		more, err := s.Pull(&next)
		for err == nil {
			due := s.Peek()
			if !more && due.Arrival == vtime.Never {
				return "", n
			}
			n++
			if more && (due.Arrival == vtime.Never || next.Position().Before(due)) {
				r = next
				if ahead {
					more, err = s.Pull(&next)
				}
			} else if err = s.Pop(&r); err != nil {
				break
			}
			if r.Awaited {
				s.Ended(&workload.End{Source: r.Source, Index: r.Index, At: r.Arrival + 5, Completed: true, Generated: 1})
			}
			if !ahead && more && next.Index == r.Index && next.Source == r.Source {
				more, err = s.Pull(&next)
			}
		}
		return err.Error(), n
	}
	failed := 0
	for seed := range uint64(40) {
		alone, n := run(seed, true, c)
		if !strings.HasPrefix(alone, `client "users": session `) || !strings.HasSuffix(alone, fmt.Sprintf(" tokens: want at most %d", math.MaxInt32)) {
			t.Fatalf("seed %d: after %d requests: %q", seed, n, alone)
		}
		if n > 0 {
			failed++
		}
		early, a := run(seed, true, c, other)
		late, b := run(seed, false, c, other)
		if early != late || a != b || early != alone {
			t.Errorf("seed %d: pulled early: %q after %d; late: %q after %d; alone: %q", seed, early, a, late, b, alone)
		}
	}
	if failed == 0 {
		t.Error("no session failed on the way")
	}
}

// What would follow beyond the end of time is an error, but not where a horizon
// comes before.
func TestWhatFollowsPastTheEndOfTime(t *testing.T) {
	far := users(1, 3)
	far.Think = draw.Always(vtime.Duration(workload.Latest))
	talk := chat(2, NoContext)
	talk.Kinds[0].Session.Think = far.Think
	for name, c := range map[string]Client{"users": far, "chat": talk} {
		for _, horizon := range []vtime.Time{0, workload.Latest} {
			s := source(t, Config{Horizon: horizon, Clients: []Client{c}})
			var r workload.Request
			more, err := s.Pull(&r)
			if horizon > 0 && name == "users" {
				if more || err != nil {
					t.Errorf("%s: a request at %v beyond the horizon, %v", name, r.Arrival, err)
				}
				continue
			}
			if !more || err != nil {
				t.Fatal(name, more, err)
			}
			s.Ended(&workload.End{Source: r.Source, Index: r.Index, At: r.Arrival + 5, Completed: true, Generated: 5})
			if due := s.Peek().Arrival; (due == vtime.Never) != (horizon > 0) {
				t.Errorf("%s, horizon %v: next at %v", name, horizon, due)
			}
			if horizon > 0 {
				continue
			}
			want := fmt.Sprintf("client %q: session ", name)
			if err := s.Pop(&r); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "after the end of virtual time") {
				t.Errorf("%s: %v, want %s…", name, err, want)
			}
		}
	}
}

// A context that is bounded does not grow with the number of rounds.
func TestBoundedContextsMayTalkForLong(t *testing.T) {
	c := chat(4, Accumulate)
	c.Input, c.Output = draw.Exactly(1<<30), draw.Exactly(10)
	if _, err := New(Config{Clients: []Client{c}}); err != nil {
		t.Fatal(err)
	}
	fails := func(c Client) bool {
		_, err := workload.Collect(workload.Play(source(t, Config{Clients: []Client{c}}), func(*workload.Request) vtime.Duration { return 9 }))
		return err != nil && strings.Contains(err.Error(), " would grow to ")
	}
	if !fails(c) {
		t.Error("a prompt of more than 2³¹ tokens is no error")
	}
	c.Kinds[0].Session.Growth, c.Kinds[0].Session.Limit = Bounded, 1000
	if fails(c) {
		t.Error("the rounds of a bounded context are counted together")
	}
	c.Kinds[0].Session.Limit = math.MaxInt32
	if !fails(c) {
		t.Error("a bound of 2³¹ tokens is none, and a prompt beyond it no error")
	}
}

// Wherever the input of a single request comes from, a prefix must fit before it.
func TestPrefixFitsBeforeEveryInput(t *testing.T) {
	long := draw.Exactly(math.MaxInt32 - 50)
	base := Client{ID: "c", Process: draw.ArrivalProcess{Kind: draw.Poisson}, Rate: draw.Flat(1), Requests: 1, Input: draw.Exactly(1), Output: draw.Exactly(1), Prefix: Prefix{Group: "g", Length: 100, Share: 1}}
	kinds, changes := base, base
	kinds.Kinds = []Kind{{Share: 1, Input: &long}}
	changes.Rate.Windows = []draw.Window{{End: 100, Factor: 1}}
	changes.Changes = []Change{{Input: &long}}
	for name, c := range map[string]Client{"kinds[0].input": kinds, "changes[0].input": changes} {
		want := fmt.Sprintf(`client "c": prefix.length: 100: want at most 50 beside inputs of up to %d (%s)`, long.Max, name)
		if err := (&Config{Clients: []Client{c}}).Check(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// A window that nobody is ever in changes nothing.
	idle := base
	idle.Rate, idle.Times = draw.RateCurve{Windows: changes.Rate.Windows}, []vtime.Time{5}
	idle.Changes = []Change{{Output: &long}}
	if err := (&Config{Clients: []Client{idle}}).Check(); err == nil || !strings.Contains(err.Error(), "changes: 1: want none without a rate") {
		t.Errorf("changes of given times: %v", err)
	}
}

// A kind without a share is never chosen, however shares round.
func TestKindWithoutShareIsNeverChosen(t *testing.T) {
	c := client{config: &Client{Kinds: []Kind{{Share: 0.1}, {Share: 0.2}, {Share: 0.7 - 1e-9}, {Share: 0}}}}
	for _, u := range []float64{0, 0.1, 0.3, 1 - 1e-10, 1 - 0x1p-53} {
		if k := c.choose(u); k.Share == 0 {
			t.Errorf("%v chooses the kind without a share", u)
		}
	}
}

// A request costs no memory, and of sessions only what is kept for the next ones;
// with the state of the streams after each, too.
func TestRequestsCostNoMemory(t *testing.T) {
	rounds := draw.Length{Dist: draw.Gaussian(4, 2), Min: 1, Max: 9}
	base := Client{ID: "c", Process: draw.ArrivalProcess{Kind: draw.Gamma, CV: 2}, Rate: draw.Flat(1000), Input: draw.Length{Dist: draw.Gaussian(50, 20), Min: 1, Max: 99}, Output: draw.Exactly(5),
		Prefix: Prefix{Group: "g", Length: 10, Share: 0.5}}
	talk, open, agent, loop := base, base, base, base
	talk.Kinds = []Kind{{Share: 0.5}, {Share: 0.5, Session: &Session{Rounds: rounds, Think: draw.Always(300), Context: Accumulate}}}
	open.Kinds = []Kind{{Share: 1, Session: &Session{Rounds: rounds, Think: draw.Always(300), Context: Accumulate, Open: true}}}
	agent.Kinds = []Kind{{Share: 1, Session: &Session{Context: Accumulate, Graph: []Node{{}, {After: []int{0}}, {After: []int{0}}, {After: []int{1, 2}}}}}}
	loop.Process, loop.Rate, loop.Users, loop.Requests = draw.ArrivalProcess{}, draw.RateCurve{}, 50, 1<<40
	for name, c := range map[string]Client{"single": base, "talk": talk, "open": open, "agent": agent, "loop": loop} {
		config := Config{Clients: []Client{c}}
		if c.Users == 0 {
			config.Requests = 1 << 40
		}
		s := source(t, config)
		played := workload.Play(s, func(*workload.Request) vtime.Duration { return 700 })
		var r workload.Request
		some := func() {
			for range 100 {
				played.Pull(&r)
			}
		}
		for range 200 { // until there is room for all that goes on at once
			some()
		}
		if n := testing.AllocsPerRun(50, some); n > 0 { // the mean, truncated: a longer session than ever may need more
			t.Errorf("%s: %v allocations per 100 requests", name, n)
		}
	}
}
