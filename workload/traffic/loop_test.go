package traffic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// users is a client of so many users who think 20 µs and send n requests
// together.
func users(count int32, n int64) Client {
	return Client{ID: "users", Users: count, Requests: n, Think: draw.Always(20), Input: draw.Exactly(10), Output: draw.Exactly(5)}
}

func TestUsersWaitThinkAndAskAgain(t *testing.T) {
	all := play(t, source(t, Config{Clients: []Client{users(2, 5)}}), after(50))
	want := "[20: 10+5 of 0, 0 spans 20: 10+5 of 0, 0 spans 90: 10+5 of 0, 0 spans 90: 10+5 of 0, 0 spans 160: 10+5 of 0, 0 spans]"
	if got := fmt.Sprint(describe(all)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// refuse refuses everything after so long.
func refuse(d vtime.Duration) func(*workload.Request) (vtime.Duration, bool) {
	return func(*workload.Request) (vtime.Duration, bool) { return d, false }
}

// A user who gets no answer pauses, and then sends its next request: what it
// would have sent after an answer too, and not the lost one again. The pause is a
// second where none is given, and never shorter than the user thinks.
func TestUsersPauseAfterARefusal(t *testing.T) {
	c := users(2, 5)
	c.Input = draw.Length{Dist: draw.Gaussian(500, 200), Min: 1, Max: 1000}
	answered := play(t, source(t, Config{Clients: []Client{c}}), after(50))
	for _, x := range []struct {
		name         string
		pause, think draw.Delay
		want         vtime.Duration // between a refusal and the next request
	}{
		{"not given", draw.Delay{}, draw.Always(20), vtime.Second},
		{"given", draw.Always(3 * vtime.Millisecond), draw.Always(20), 3 * vtime.Millisecond},
		{"the least", draw.Always(LeastPause), draw.Delay{}, LeastPause},
		{"longer thought", draw.Always(3 * vtime.Millisecond), draw.Always(7000), 7000},
	} {
		c.Pause, c.Think = x.pause, x.think
		s := source(t, Config{Clients: []Client{c}})
		all := play(t, s, refuse(50))
		if len(all) != 5 {
			t.Fatalf("%s: %d requests, want 5", x.name, len(all))
		}
		for i, r := range all {
			if r.Input != answered[i].Input || r.Index != answered[i].Index {
				t.Errorf("%s: request %d is %d with %d tokens, after answers %d with %d", x.name, i, r.Index, r.Input, answered[i].Index, answered[i].Input)
			}
			if i >= 2 && r.Arrival != all[i-2].Arrival.Add(50+x.want) {
				t.Errorf("%s: request %d at %v, the one before at %v, want %v after its end", x.name, i, r.Arrival, all[i-2].Arrival, x.want)
			}
		}
		if n := s.Sessions(); n.UserRequests != 5 || n.UserRefused != 5 {
			t.Errorf("%s: %+v, want 5 requests of users, all refused", x.name, n)
		}
		if got := s.MinThink(false); got != x.want {
			t.Errorf("%s: reaction to a refusal %v, want %v", x.name, got, x.want)
		}
	}
}

// A user whose session goes on after a refusal pauses too, if the session ends with one: it is no answer.
func TestUserPausesAfterARefusalThatEndsItsSession(t *testing.T) {
	c := users(1, 6)
	c.Think, c.Pause = draw.Delay{}, draw.Always(4000)
	c.Kinds = []Kind{{Share: 1, Session: &Session{Rounds: draw.Exactly(2), Think: draw.Always(2500), Context: Accumulate, Persists: true}}}
	for _, x := range []struct {
		refused int32 // round
		want    []vtime.Time
	}{{0, []vtime.Time{0, 2550, 2601, 5151, 5202, 7752}}, {1, []vtime.Time{0, 2550, 6600, 9150, 13_200, 15_750}}} {
		s := source(t, Config{Clients: []Client{c}})
		all := play(t, s, func(r *workload.Request) (vtime.Duration, bool) { return 50, r.Round != x.refused })
		var got []vtime.Time
		for _, r := range all {
			got = append(got, r.Arrival-all[0].Arrival)
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("round %d refused: arrivals %v, want %v", x.refused, got, x.want)
		}
		if least := s.MinThink(false); least != 2500 {
			t.Errorf("%v after a refusal at the earliest, want 2500", least)
		}
	}
}

// Pauses can vary, so that those who were refused together do not all come back
// together. They take nothing from other draws.
func TestPausesVary(t *testing.T) {
	c := users(1, 200)
	c.Think = draw.Delay{Dist: draw.Gaussian(500, 400), Max: 900}
	c.Pause = draw.Delay{Dist: draw.Must(draw.NewUniform(2000, 9000)), Min: LeastPause, Max: 20_000}
	s := source(t, Config{Clients: []Client{c}})
	if got := s.MinThink(false); got != 2000 {
		t.Errorf("reaction to a refusal %v, want the least pause", got)
	}
	all, mean := play(t, s, refuse(0)), 0.0
	for i := 1; i < len(all); i++ {
		pause := all[i].Arrival.Sub(all[i-1].Arrival)
		if pause < 2000 || pause > 9000 {
			t.Fatalf("a pause of %v", pause)
		}
		mean += float64(pause) / 199
	}
	if mean < 5000 || mean > 6000 {
		t.Errorf("mean pause %v µs, want about 5,500", mean)
	}
	first := play(t, source(t, Config{Clients: []Client{c}}), after(1))
	if first[0].Arrival != all[0].Arrival || first[100].Input != all[100].Input {
		t.Error("pauses change other draws")
	}
}

// A user's session ends with its lost round; the user begins another after the
// pause.
func TestUserBeginsAnotherSessionAfterTheLostOne(t *testing.T) {
	c := users(1, 6)
	c.Pause = draw.Always(4000)
	c.Kinds = []Kind{{Share: 1, Session: &Session{Rounds: draw.Exactly(3), Think: draw.Always(100), Context: Accumulate}}}
	s := source(t, Config{Clients: []Client{c}})
	all := play(t, s, func(r *workload.Request) (vtime.Duration, bool) { return 50, r.Round != 1 })
	want := "[20: 10+5 of 0, 1 spans 170: 25+5 of 1, 3 spans 4220: 10+5 of 0, 1 spans 4370: 25+5 of 1, 3 spans]"
	if got := fmt.Sprint(describe(all)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := s.Sessions(), (workload.Sessions{EndedEarly: 2, NotSent: 2, UserRequests: 4, UserRefused: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A pause below that of a way to the server and back is refused.
func TestPausesBelowTheLeastAreRefused(t *testing.T) {
	for _, pause := range []draw.Delay{draw.Always(999), {Dist: draw.Gaussian(5000, 5000), Min: 0, Max: 10_000}} {
		c := users(1, 1)
		c.Pause = pause
		if _, err := New(Config{Clients: []Client{c}}); err == nil || !strings.Contains(err.Error(), "pause: ") || !strings.Contains(err.Error(), "want at least 1ms") {
			t.Errorf("%+v: %v", pause, err)
		}
	}
}

// However long answers take, no more requests are out than there are users, and
// all that may be sent are sent.
func TestClosedLoopNeverExceedsItsConcurrency(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 6))
		c := users(1+r.Int32N(8), 1+r.Int64N(60))
		c.Think = draw.Delay{Dist: draw.Gaussian(20, 30), Max: 100}
		if r.IntN(2) == 0 { // some of what users do are conversations
			c.Kinds = []Kind{{Share: 0.5}, {Share: 0.5, Session: &Session{Rounds: draw.Length{Dist: draw.Gaussian(3, 2), Min: 1, Max: 9}}}}
		}
		var ends []vtime.Time
		all := play(t, source(t, Config{Seed: seed, Clients: []Client{c}}), func(q *workload.Request) (vtime.Duration, bool) {
			d := vtime.Duration(r.IntN(500))
			out := 1
			for _, e := range ends {
				if e > q.Arrival {
					out++
				}
			}
			if out > int(c.Users) {
				t.Fatalf("seed %d: %d requests out, %d users", seed, out, c.Users)
			}
			ends = append(ends, q.Arrival.Add(d))
			return d, r.IntN(10) > 0 || c.Kinds != nil
		})
		if int64(len(all)) != c.Requests {
			t.Fatalf("seed %d: %d requests, want %d", seed, len(all), c.Requests)
		}
	}
}

func TestHorizonEndsWhatFollows(t *testing.T) {
	c := users(3, 0)
	all := play(t, source(t, Config{Horizon: 1000, Clients: []Client{c, chat(9, Accumulate)}}), after(50))
	if n := len(all); n < 30 || all[n-1].Arrival >= 1000 {
		t.Errorf("%d requests, the last at %v", n, all[n-1].Arrival)
	}
}

// What a session sends depends on nothing but which it is: other answers and
// other clients change when its requests come, and not what they are.
func TestSessionsAreTheSameWhateverHappens(t *testing.T) {
	config := func(more ...Client) Config {
		c := chat(1, Accumulate)
		c.Times = nil
		c.Process, c.Rate, c.Requests = draw.ArrivalProcess{Kind: draw.Poisson}, draw.Flat(1000), 200
		c.Input.Dist = draw.Gaussian(40, 30)
		c.Kinds[0].Session.Rounds = draw.Length{Dist: draw.Gaussian(4, 3), Min: 1, Max: 20}
		c.Kinds[0].Session.Think = draw.Delay{Dist: draw.Gaussian(500, 400), Max: 10000}
		return Config{Seed: 3, Clients: append([]Client{c}, more...)}
	}
	type one struct {
		input, output int32
		spans         string
	}
	index := func(all []workload.Request) map[string]one {
		m := map[string]one{}
		for _, r := range all {
			if r.Source == workload.FirstSource {
				m[fmt.Sprint(r.Session, r.Round)] = one{r.Input, r.Output, fmt.Sprint(r.Spans, r.OutputContent)}
			}
		}
		return m
	}
	quick := index(play(t, source(t, config()), after(1)))
	slow := index(play(t, source(t, config(users(3, 50))), after(70000)))
	if len(quick) != 200 || len(slow) != 200 {
		t.Fatalf("%d and %d requests, want 200", len(quick), len(slow))
	}
	for k, q := range quick {
		if s := slow[k]; s != q {
			t.Errorf("session and round %s: %+v with quick answers, %+v with slow ones beside users", k, q, s)
		}
	}
}

// A user who asks at once is answered at once: at time 0 too, what follows comes
// later.
func TestAnswersAtTimeZeroCauseLaterArrivals(t *testing.T) {
	c := users(1, 3)
	c.Think = draw.Delay{}
	all := play(t, source(t, Config{Clients: []Client{c}}), after(0))
	if got := fmt.Sprint(describe(all)); got != "[0: 10+5 of 0, 0 spans 1: 10+5 of 0, 0 spans 2: 10+5 of 0, 0 spans]" {
		t.Error(got)
	}
}

// An arrival beyond the end of virtual time is an error, but not where a horizon
// comes before.
func TestArrivalsPastTheEndOfTime(t *testing.T) {
	c := users(0, 5)
	c.Process, c.Rate = draw.ArrivalProcess{Kind: draw.Poisson}, draw.Flat(1e-12)
	_, err := New(Config{Clients: []Client{c}})
	for seed := uint64(1); err == nil && seed < 50; seed++ { // the first gap of some may be short
		var all []workload.Request
		all, err = workload.Collect(source(t, Config{Seed: seed, Clients: []Client{c}}))
		if err == nil {
			t.Fatalf("seed %d: %d requests in 2⁶² µs", seed, len(all))
		}
	}
	if want := `client "users": rate: 1e-12: `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s…", err, want)
	}
	if all, err := workload.Collect(source(t, Config{Horizon: 1000, Clients: []Client{c}})); err != nil || len(all) != 0 {
		t.Errorf("under a horizon: %d requests, %v", len(all), err)
	}
}

// Clients whose rate ends need no other end; sessions go on after it.
func TestRatesThatEndEndTheTraffic(t *testing.T) {
	c := chat(3, Accumulate)
	c.Times, c.Process = nil, draw.ArrivalProcess{Kind: draw.Constant}
	c.Rate = draw.Flat(10)
	c.Rate.Windows = []draw.Window{{Start: 0, End: 1_000_001, Factor: 1}}
	all := play(t, source(t, Config{Clients: []Client{c}}), after(500_000))
	if n := len(all); n != 30 || all[n-1].Arrival <= 1_000_001 {
		t.Errorf("%d requests, the last at %v; want 10 sessions of 3 rounds", n, all[n-1].Arrival)
	}
	c.Rate.Windows[0].End = vtime.Never
	if _, err := New(Config{Clients: []Client{c}}); err == nil {
		t.Error("a client without an end was accepted")
	}
}
