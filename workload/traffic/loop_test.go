package traffic

import (
	"fmt"
	"math/rand/v2"
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
	// A refusal is an answer too.
	all = play(t, source(t, Config{Clients: []Client{users(2, 5)}}), func(*workload.Request) (vtime.Duration, bool) { return 50, false })
	if len(all) != 5 {
		t.Errorf("after refusals %d requests, want 5", len(all))
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
		c.Law, c.Rate, c.Requests = draw.Law{Process: draw.Poisson}, draw.Flat(1000), 200
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

// A user who asks at once is refused at once: at time 0 too, what follows comes
// later.
func TestAnswersAtTimeZeroCauseLaterArrivals(t *testing.T) {
	c := users(1, 3)
	c.Think = draw.Delay{}
	all := play(t, source(t, Config{Clients: []Client{c}}), func(*workload.Request) (vtime.Duration, bool) { return 0, false })
	if got := fmt.Sprint(describe(all)); got != "[0: 10+5 of 0, 0 spans 1: 10+5 of 0, 0 spans 2: 10+5 of 0, 0 spans]" {
		t.Error(got)
	}
}

// An arrival beyond the end of virtual time is an error, but not where a horizon
// comes before.
func TestArrivalsPastTheEndOfTime(t *testing.T) {
	c := users(0, 5)
	c.Law, c.Rate = draw.Law{Process: draw.Poisson}, draw.Flat(1e-12)
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
	c.Times, c.Law = nil, draw.Law{Process: draw.Constant}
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
