package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"blis/workload/draw"
)

// What is said of a field at several clients is one line; other fields and
// other words are lines of their own.
func TestNotesThatSayTheSameAreOne(t *testing.T) {
	ignored := "network: {rtt_ms: 2}, " + lengths
	_, notes := build(t, "clients:\n  - {rate: 1, "+ignored+"}\n  - {rate: 1, adapter: sql, "+ignored+"}\n  - {rate: 1, "+ignored+"}")
	want := Notes{
		"w.yaml:2: clients[0].network (and 2 more): the network between client and server is not modelled, latencies are those of the server",
		`w.yaml:3: clients[1].adapter: "sql": adapters are not modelled, requests are served by the model alone`,
	}
	if !slices.Equal(notes, want) {
		t.Errorf("%q, want %q", notes, want)
	}
}

func TestNotesOfOtherFieldsAreOthers(t *testing.T) {
	var l noteList
	for _, field := range []string{"a.x", "b.x", "a.y", "y", "x"} {
		l.add("w.yaml", place{Line: 3, Field: field}, "has no effect")
	}
	if got, want := l.lines(), (Notes{"w.yaml:3: a.x (and 2 more): has no effect", "w.yaml:3: a.y (and 1 more): has no effect"}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	more := l.copy()
	more.add("w.yaml", place{Line: 4, Field: "x"}, "has no effect")
	if l.lines()[0] != "w.yaml:3: a.x (and 2 more): has no effect" {
		t.Errorf("a note added to a copy changed %q", l.lines())
	}
}

// Traffic may be made of one specification twice, with the same notes.
func TestNotesOfTwoPasses(t *testing.T) {
	s, err := Parse("w.yaml", []byte("clients: [{rate: 1, think_time_us: 5, network: {rtt_ms: 2}, "+lengths+"}]"))
	if err != nil {
		t.Fatal(err)
	}
	_, first := trafficOf(t, s)
	if _, again := trafficOf(t, s); len(first) != 2 || !slices.Equal(first, again) {
		t.Errorf("%q, then %q", first, again)
	}
}

func TestNotesAreNotLeftOutInSilence(t *testing.T) {
	var text strings.Builder
	text.WriteString("clients:\n")
	for i := range maxNotes + 3 {
		fmt.Fprintf(&text, "  - {rate: 1, adapter: a%d, %s}\n", i, lengths)
	}
	_, notes := build(t, text.String())
	if len(notes) != maxNotes+1 || notes[maxNotes] != "3 more notes like these" {
		t.Errorf("%d notes, the last %q", len(notes), notes[len(notes)-1])
	}
}

// Fits of the public simulator give gaps their shape and scale beside the CV
// that was measured; the shape is what is drawn.
func TestPublicShapeComesBeforeCV(t *testing.T) {
	c, notes := build(t, "aggregate_rate: 0\ncohorts:\n"+
		"  - {id: a, population: 2, rate_fraction: 1, arrival: {process: gamma, cv: 2.9, shape: 0.7, scale: 8e6}, spike: {start_time_us: 0, duration_us: 600000000, trace_rate: 89}, "+lengths+"}\n"+
		"  - {id: b, population: 2, rate_fraction: 1, arrival: {process: weibull, cv: 7, shape: 0.8, scale: 3e6}, spike: {start_time_us: 0, duration_us: 600000000, trace_rate: 9}, "+lengths+"}\n")
	if process := clientOf(t, &c, "a-0001").Process; process != (draw.ArrivalProcess{Kind: draw.Gamma, Shape: 0.7}) {
		t.Errorf("gamma: %+v", process)
	}
	if process := clientOf(t, &c, "b-0002").Process; process != (draw.ArrivalProcess{Kind: draw.Weibull, Shape: 0.8}) {
		t.Errorf("weibull: %+v", process)
	}
	near(t, "rate", clientOf(t, &c, "a-0001").Rate.At(0), 44.5, 1e-12)
	want := Notes{
		"w.yaml:3: cohorts[0].arrival.scale (and 1 more): has no effect, as the rate says how long gaps are",
		"w.yaml:3: cohorts[0].arrival.cv (and 1 more): has no effect beside shape and scale: shape says how gaps vary",
	}
	if !slices.Equal(notes, want) {
		t.Errorf("%q, want %q", notes, want)
	}
}

// Traffic that ends by itself is sent whole, all else up to the caller's number
// of requests.
func TestTrafficThatEndsIsSentWhole(t *testing.T) {
	perf := "inference_perf: {stages: [{rate: 8, duration: 600}, {rate: 20, duration: 600}], shared_prefix: {num_unique_system_prompts: 9, num_users_per_system_prompt: 5, question_len: 447, output_len: 248%s}}"
	windows := "lifecycle: {windows: [{start_us: 0, end_us: 600000000}]}, "
	for text, want := range map[string]int64{
		fmt.Sprintf(perf, ""):                                                                 0,
		fmt.Sprintf(perf, ", enable_multi_turn_chat: true"):                                   0,
		"clients: [{rate: 10, " + windows + lengths + "}]":                                    0,
		"clients: [{rate: 10, " + windows + lengths + "}, {rate: 1, " + lengths + "}]":        1000,
		"clients: [{rate: 10, num_requests: 5000, " + lengths + "}]":                          0,
		"clients: [{arrival: {process: trace, times_us: [1, 2]}, " + lengths + "}]":           0,
		"clients: [{concurrency: 4, " + lengths + "}]":                                        1000,
		"num_requests: 7\nclients: [{rate: 10, " + windows + lengths + "}]":                   7,
		"cohorts: [{population: 2, rate: 3, drain: {ramp_duration_us: 1s}, " + lengths + "}]": 0,
	} {
		c, _ := build(t, text)
		if c.Requests != want {
			t.Errorf("%s: limit %d, want %d", text, c.Requests, want)
		}
	}
}

func TestVersionsAsNumbers(t *testing.T) {
	for _, version := range []string{`"1"`, "1", `"1.0"`, "1.0", `"2.0"`, "2.0", `"2"`} {
		c, notes := build(t, "version: "+version+"\nclients: [{rate: 1, slo_class: interactive, "+lengths+"}]")
		if c.Clients[0].Class != "standard" || len(notes) != 1 || !strings.Contains(notes[0], "interactive is called standard since version 2") {
			t.Errorf("version %s: interactive is %s, notes %q", version, c.Clients[0].Class, notes)
		}
	}
	if _, err := Parse("w.yaml", []byte("version: 3\nclients: [{rate: 1, "+lengths+"}]")); err == nil || !strings.Contains(err.Error(), `want "1" or "2"`) {
		t.Errorf("version 3: %v", err)
	}
}

// A rate for all is shared, by weight; where nobody has one, a note says so, and
// the caller's rate replaces nothing.
func TestRateThatNobodyShares(t *testing.T) {
	spiked := "spike: {start_time_us: 0, duration_us: 1s, trace_rate: 2}, "
	for text, shared := range map[string]bool{
		"aggregate_rate: 5\nclients: [{rate: 3, " + lengths + "}]":                                     false,
		"utilization: 0.5\nclients: [{rate: 3, " + lengths + "}]":                                      false,
		"aggregate_rate: 5\nclients: [{concurrency: 3, " + lengths + "}]":                              false,
		"aggregate_rate: 5\nclients: [{rate_fraction: 3, " + lengths + "}]":                            true,
		"aggregate_rate: 5\ncohorts: [{population: 2, " + spiked + lengths + "}]":                      true,
		"utilization: 0.5\nclients: [{rate: 3, " + lengths + "}, {rate_fraction: 1, " + lengths + "}]": true,
	} {
		s, err := Parse("w.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, notes := trafficOf(t, s)
		silent := !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "has no effect: no client has a rate_fraction") })
		if s.SharesRate() != shared || silent != shared {
			t.Errorf("%s: shared %v, notes %q", text, s.SharesRate(), notes)
		}
	}
}
