package traffic

import (
	"fmt"
	"slices"
	"testing"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// chat is a client of one conversation of so many rounds of 10 tokens in and 5
// out, with a prefix of 5.
func chat(rounds int32, context Context) Client {
	return Client{
		ID: "chat", Class: "standard", Times: []vtime.Time{1000},
		Input: draw.Length{Dist: draw.Fixed(10), Min: 1, Max: 100}, Output: draw.Length{Dist: draw.Fixed(5), Max: 100},
		Prefix: Prefix{Group: "system", Length: 5, Share: 1},
		Kinds: []Kind{{Share: 1, Session: &Session{
			Rounds: draw.Exactly(rounds), Think: draw.Always(300), Context: context,
		}}},
	}
}

func length(n float64) draw.Length { return draw.Length{Dist: draw.Fixed(n), Max: 1 << 20} }

func source(t *testing.T, c Config) *Source {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play answers every request that is awaited a time after it arrived, if that
// says so, and returns all requests in the order of their arrival.
func play(t *testing.T, s *Source, answer func(*workload.Request) (vtime.Duration, bool)) []workload.Request {
	t.Helper()
	type end struct {
		workload.End
		arrival vtime.Time
	}
	var all []workload.Request
	var ends []end
	var pulled workload.Request
	more, err := s.Pull(&pulled)
	for err == nil {
		next := s.Peek()
		fromDue := true
		if more && (next.Arrival == vtime.Never || pulled.Position().Before(next)) {
			next, fromDue = pulled.Position(), false
		}
		if len(ends) > 0 && ends[0].At < next.Arrival { // answers in the order of their times
			s.Ended(&ends[0].End)
			ends = ends[1:]
			continue
		}
		if next.Arrival == vtime.Never {
			break
		}
		var r workload.Request
		if fromDue {
			err = s.Pop(&r)
		} else {
			r = pulled
		}
		if bad := r.Validate(); bad != nil {
			t.Fatal(bad)
		}
		r.Spans = slices.Clone(r.Spans)
		all = append(all, r)
		if !fromDue {
			more, err = s.Pull(&pulled)
		}
		if r.Awaited {
			after, completed := answer(&r)
			e := end{workload.End{Source: r.Source, Index: r.Index, At: r.Arrival.Add(after), Completed: completed, Generated: r.Output}, r.Arrival}
			i, _ := slices.BinarySearchFunc(ends, e, func(a, b end) int { return int(a.At - b.At) })
			for i < len(ends) && ends[i].At == e.At {
				i++
			}
			ends = slices.Insert(ends, i, e)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// after answers everything after so long.
func after(d vtime.Duration) func(*workload.Request) (vtime.Duration, bool) {
	return func(*workload.Request) (vtime.Duration, bool) { return d, true }
}

func describe(all []workload.Request) (text []string) {
	for _, r := range all {
		text = append(text, fmt.Sprintf("%d: %d+%d of %d, %d spans", int64(r.Arrival), r.Input, r.Output, r.Round, len(r.Spans)))
	}
	return text
}

func TestContextAccumulates(t *testing.T) {
	all := play(t, source(t, Config{Clients: []Client{chat(3, Accumulate)}}), after(50))
	want := []string{"1000: 15+5 of 0, 2 spans", "1350: 30+5 of 1, 4 spans", "1700: 45+5 of 2, 5 spans"}
	if got := describe(all); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	// Literally what was said before: a prompt begins with the last one and its answer.
	for i := 1; i < len(all); i++ {
		before := append(slices.Clone(all[i-1].Spans), workload.Span{Content: all[i-1].OutputContent, Length: 5})
		if !slices.Equal(all[i].Spans[:len(before)], before) {
			t.Errorf("round %d begins with %v, want %v", i, all[i].Spans, before)
		}
		if all[i].Session == 0 || all[i].Session != all[0].Session {
			t.Errorf("round %d is of session %d", i, all[i].Session)
		}
	}
	if last := all[2]; last.OutputContent != 0 {
		t.Error("an answer that nothing follows has a name")
	}

	without := chat(3, Accumulate)
	without.Prefix = Prefix{}
	want = []string{"1000: 10+5 of 0, 1 spans", "1350: 25+5 of 1, 3 spans", "1700: 40+5 of 2, 4 spans"}
	if got := describe(play(t, source(t, Config{Clients: []Client{without}}), after(50))); !slices.Equal(got, want) {
		t.Errorf("without prefix: %q\nwant %q", got, want)
	}
	want = []string{"1000: 15+5 of 0, 1 spans", "1350: 15+5 of 1, 1 spans", "1700: 15+5 of 2, 1 spans"}
	if got := describe(play(t, source(t, Config{Clients: []Client{chat(3, NoContext)}}), after(50))); !slices.Equal(got, want) {
		t.Errorf("without context: %q\nwant %q", got, want)
	}
}

func TestContextIsWhatWasGenerated(t *testing.T) {
	s := source(t, Config{Clients: []Client{chat(2, Accumulate)}})
	var r workload.Request
	if ok, err := s.Pull(&r); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.Ended(&workload.End{Source: r.Source, Index: r.Index, At: 2000, Completed: true, Generated: 2})
	if err := s.Pop(&r); err != nil {
		t.Fatal(err)
	}
	if r.Input != 5+10+2+10 || r.Spans[2].Length != 2 {
		t.Errorf("after an answer of 2 tokens: %d tokens, %v", r.Input, r.Spans)
	}
}

func TestFailedRoundEndsItsSession(t *testing.T) {
	s := source(t, Config{Clients: []Client{chat(5, Accumulate)}})
	all := play(t, s, func(r *workload.Request) (vtime.Duration, bool) { return 10, r.Round < 1 })
	if len(all) != 2 {
		t.Errorf("%d rounds were sent, want 2", len(all))
	}
	if got, want := s.Sessions(), (workload.Sessions{EndedEarly: 1, NotSent: 3}); got != want {
		t.Errorf("sessions %+v, want %+v", got, want)
	}
	if n := len(s.sessions.live); n != 0 {
		t.Errorf("%d sessions are still held", n)
	}
}

func TestOpenSessionWaitsForNobody(t *testing.T) {
	c := chat(3, Accumulate)
	c.Kinds[0].Session.Open = true
	s := source(t, Config{Clients: []Client{c}})
	all := play(t, s, func(*workload.Request) (vtime.Duration, bool) { panic("awaited") })
	want := []string{"1000: 15+5 of 0, 2 spans", "1300: 30+5 of 1, 4 spans", "1600: 45+5 of 2, 5 spans"}
	if got := describe(all); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if s.MinThink(true) != workload.NoFollowUp || s.MinThink(false) != workload.NoFollowUp {
		t.Error("it reacts")
	}
}

func TestGrowthOfContext(t *testing.T) {
	c := chat(4, Accumulate)
	c.Kinds[0].Session.Growth = Sublinear
	// 10 and 5 by 1, √2, √3, 2: 10+5, 7+3, 5+2, 5+2.
	want := []string{"1000: 15+5 of 0, 2 spans", "1350: 27+3 of 1, 4 spans", "1700: 35+2 of 2, 6 spans", "2050: 42+2 of 3, 7 spans"}
	if got := describe(play(t, source(t, Config{Clients: []Client{c}}), after(50))); !slices.Equal(got, want) {
		t.Errorf("sublinear: %q\nwant %q", got, want)
	}
	c.Kinds[0].Session.Growth, c.Kinds[0].Session.Limit = Bounded, 36
	// Context of 5+15, 5+30, then 5+45 is cut to the last two rounds.
	want = []string{"1000: 15+5 of 0, 2 spans", "1350: 30+5 of 1, 4 spans", "1700: 45+5 of 2, 6 spans", "2050: 45+5 of 3, 5 spans"}
	all := play(t, source(t, Config{Clients: []Client{c}}), after(50))
	if got := describe(all); !slices.Equal(got, want) {
		t.Errorf("bounded: %q\nwant %q", got, want)
	}
	if !slices.Equal(all[3].Spans[1:3], all[2].Spans[3:5]) {
		t.Errorf("the fourth round begins with %v after the prefix, want the second round of %v", all[3].Spans, all[2].Spans)
	}
}

func TestReasoningIsNoPartOfTheContext(t *testing.T) {
	c := chat(2, Accumulate)
	c.Kinds[0].Session.Reasoning = &Reasoning{Steps: length(3), Tokens: length(100)}
	all := play(t, source(t, Config{Clients: []Client{c}}), after(50))
	if all[0].Output != 305 || all[0].OutputContent != 0 || all[1].Input != 5+10+5+10 {
		t.Errorf("thoughts dropped: %q, output content %d", describe(all), all[0].OutputContent)
	}
	c.Kinds[0].Session.Reasoning.Kept = true
	all = play(t, source(t, Config{Clients: []Client{c}}), after(50))
	if all[0].Output != 305 || all[0].OutputContent == 0 || all[1].Input != 5+10+305+10 {
		t.Errorf("thoughts kept: %q, output content %d", describe(all), all[0].OutputContent)
	}
}

func TestToolsAnswerIntoTheConversation(t *testing.T) {
	c := chat(2, Accumulate)
	c.Kinds[0].Session.Tools = &Tools{Probability: 1, Calls: draw.Exactly(2), Latency: draw.Always(70), Result: draw.Exactly(40)}
	// Each round is followed by two calls, 70 µs after the answers that ask for them.
	want := []string{"1000: 15+5 of 0, 2 spans", "1120: 60+5 of 1, 4 spans", "1240: 105+5 of 2, 6 spans",
		"1590: 120+5 of 3, 8 spans", "1710: 165+5 of 4, 10 spans", "1830: 210+5 of 5, 11 spans"}
	s := source(t, Config{Clients: []Client{c}})
	if got := describe(play(t, s, after(50))); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if s.MinThink(true) != 70 || s.MinThink(false) != workload.NoFollowUp {
		t.Errorf("reactions %v and %v, want the tool's 70 µs, and none after a refusal", s.MinThink(true), s.MinThink(false))
	}
}
