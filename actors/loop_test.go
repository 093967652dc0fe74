package actors

import (
	"context"
	"testing"

	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// talk is a client of one conversation that begins at 0: a prefix of 5, rounds
// of 10 tokens in and 5 out, 300 µs between an answer and the next round.
func talk(rounds int32) traffic.Client {
	return traffic.Client{
		ID: "talk", Class: "standard", Times: []vtime.Time{0}, Input: draw.Exactly(10), Output: draw.Exactly(5),
		Prefix: traffic.Prefix{Group: "system", Length: 5, Share: 1},
		Kinds: []traffic.Kind{{Share: 1, Session: &traffic.Session{
			Rounds: draw.Exactly(rounds), Think: draw.Always(300), Context: traffic.Accumulate,
		}}},
	}
}

// serveTraffic runs a configuration under generated traffic, on every executor,
// and returns what all of them show.
func serveTraffic(t *testing.T, c Config, clients ...traffic.Client) *served {
	t.Helper()
	var first *served
	for _, e := range everyExecutor(0) {
		source, err := traffic.New(traffic.Config{Seed: 1, Clients: clients})
		if err != nil {
			t.Fatal(err)
		}
		c.Custom.Source, c.Execution = source, e.Execution
		s := &served{}
		c.Row = func(r *Row) { s.rows = append(s.rows, *r.Outcome) }
		if s.Result, err = Run(context.Background(), c); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		if first == nil {
			first = s
		}
		if s.Digest != first.Digest || (s.Sessions == nil) != (first.Sessions == nil) || s.Sessions != nil && *s.Sessions != *first.Sessions {
			t.Fatalf("%s: digest %s and %+v, want %s and %+v", e.Name, s.Digest, s.Sessions, first.Digest, first.Sessions)
		}
	}
	return first
}

// The next round comes when its client has the answer and has thought: a step is
// 1,000 µs, and with α₂ = 20 the client sees each of 5 tokens 20 µs later.
func TestNextRoundFollowsTheAnswer(t *testing.T) {
	c := plain()
	c.AlphaCoeffs = []float64{0, 0, 20}
	s := serveTraffic(t, c, talk(3))
	for i, want := range []struct {
		arrival vtime.Time
		input   int32
	}{{0, 15}, {5000 + 5*20 + 300, 30}, {2 * (5000 + 5*20 + 300), 45}} {
		if o := s.rows[i]; o.Arrival != want.arrival || o.Input != want.input || o.Round != int32(i) || o.Session != s.rows[0].Session {
			t.Errorf("round %d: %+v, want arrival %v and %d tokens", i, o, want.arrival, want.input)
		}
	}
	if got, want := *s.Sessions, (Sessions{Begun: 1, Completed: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The second round finds in the cache exactly the whole blocks that the first
// computed: 15 tokens of prompt and 4 of its 5 answers, as the last one was
// never fed back.
func TestNextRoundHitsWhatWasComputed(t *testing.T) {
	for _, block := range []int32{1, 2, 4, 5, 7, 16, 32} {
		c := plain()
		c.BlockSizeInTokens = block
		s := serveTraffic(t, c, talk(3))
		for i, computed := range []int32{0, 15 + 4, 30 + 4} {
			if got, want := s.rows[i].Cached, computed/block*block; got != want {
				t.Errorf("blocks of %d, round %d: %d tokens cached, want %d", block, i, got, want)
			}
		}
	}
}

// On another instance nothing is found but what that has computed itself.
func TestRoundsOnOtherInstancesComputeAgain(t *testing.T) {
	c := plain()
	c.NumInstances, c.BlockSizeInTokens = 2, 5 // round robin: rounds alternate
	s := serveTraffic(t, c, talk(4))
	for i, want := range []int32{0, 0, 15, 30} { // of round 2's 45 tokens those of round 0, of round 3's those of round 1
		if got := s.rows[i].Cached; got != want {
			t.Errorf("round %d: %d tokens cached, want %d", i, got, want)
		}
	}
}

// A round that times out ends its session; so does one that can never be served.
func TestRoundWithoutAnswerEndsItsSession(t *testing.T) {
	slow := talk(5)
	slow.Timeout = 4000
	s := serveTraffic(t, plain(), slow)
	if len(s.rows) != 1 || s.rows[0].State != metrics.TimedOut {
		t.Errorf("%d rows, the first %v", len(s.rows), s.rows[0].State)
	}
	if got, want := *s.Sessions, (Sessions{Begun: 1, EndedEarly: 1, NotSent: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := s.NotSent(); len(got) != 1 || got[0] != (NotSent{Class: "standard", Requests: 4}) {
		t.Errorf("not sent: %+v, want 4 of class standard", got)
	}
	c := plain()
	c.MaxModelLen = 40
	s = serveTraffic(t, c, talk(5)) // the third prompt has 45 tokens
	if got, want := *s.Sessions, (Sessions{Begun: 1, EndedEarly: 1, NotSent: 2}); got != want || s.rows[2].State != metrics.Dropped {
		t.Errorf("%+v, want %+v; the third is %v", got, want, s.rows[2].State)
	}
	c.Horizon = 7000
	c.MaxModelLen = 0
	s = serveTraffic(t, c, talk(5))
	if got, want := *s.Sessions, (Sessions{Begun: 1, Unfinished: 1}); got != want || len(s.rows) != 2 {
		t.Errorf("cut off: %+v, want %+v, %d rows", got, want, len(s.rows))
	}
}

// Users of a closed loop: as many requests in the system as there are users,
// never more, until all were sent.
func TestUsersKeepTheSystemBusy(t *testing.T) {
	c := plain()
	c.NumInstances = 2
	s := serveTraffic(t, c, traffic.Client{ID: "users", Class: "standard", Users: 3, Requests: 30, Input: draw.Exactly(10), Output: draw.Exactly(5)})
	if len(s.rows) != 30 {
		t.Fatalf("%d requests, want 30", len(s.rows))
	}
	for i := range s.rows {
		at, out := s.rows[i].Arrival, 0
		for j := range s.rows {
			if o := &s.rows[j]; o.Arrival <= at && o.Finished > at {
				out++
			}
		}
		if i < 27 && out != 3 {
			t.Errorf("request %d: %d in the system, want 3", i, out)
		}
	}
	// An answer of 5 steps, and the next request a microsecond later.
	if end := s.rows[29].Finished; end != 10*5000+9 {
		t.Errorf("the last ends at %v, want 50009", end)
	}
}

// deferring puts requests of session 0 off beyond their deadline the first
// time.
type deferring struct{ policy.Admission }

func (deferring) Observes() policy.Signals { return policy.NoSignals }

func (deferring) Decide(r *policy.Request, _ *policy.RouterState, _ vtime.Time) policy.AdmissionDecision {
	if r.ID == 1 {
		return policy.AdmissionDecision{Verdict: policy.Delay, Wait: 1_000_000}
	}
	return policy.AdmissionDecision{Verdict: policy.Admit}
}

// A request that gives up while the router holds it is an end too: what follows
// from it comes earlier than anything else that the router knows of, and
// instances must not be past it.
func TestWhatFollowsWhenARequestGivesUpAtTheRouter(t *testing.T) {
	c := plain()
	c.Custom.Admission = func(policy.Env) policy.Admission { return deferring{} }
	long := traffic.Client{ID: "long", Class: "standard", Times: []vtime.Time{0}, Input: draw.Exactly(10), Output: draw.Exactly(200)}
	impatient := traffic.Client{ID: "impatient", Class: "standard", Users: 1, Requests: 2, Timeout: 2500, Pause: draw.Always(traffic.LeastPause), Input: draw.Exactly(10), Output: draw.Exactly(1)}
	s := serveTraffic(t, c, long, impatient)
	if o := s.rows[1]; o.State != metrics.TimedOut || o.Finished != 2500 {
		t.Errorf("the one that is put off: %v at %v", o.State, o.Finished)
	}
	if o := s.rows[2]; o.Arrival != 3500 || o.State != metrics.Completed || o.Finished != 5000 {
		t.Errorf("what follows arrives at %v, is %v at %v", o.Arrival, o.State, o.Finished)
	}
}
