package spec

import (
	"fmt"
	"testing"

	"blis/vtime"
	"blis/workload"
	"blis/workload/traffic"
)

// perfText is a specification of the benchmark.
func perfText(stages string, prompts, users int, chat bool) string {
	return fmt.Sprintf("inference_perf: {stages: %s, shared_prefix: {num_unique_system_prompts: %d, num_users_per_system_prompt: %d, system_prompt_len: 100, question_len: 40, output_len: 20, enable_multi_turn_chat: %v}}", stages, prompts, users, chat)
}

// sent are the requests of a specification under a seed, each answered after 50
// ms or, if so, refused then.
func sent(t *testing.T, text string, seed uint64, refused bool) []workload.Request {
	t.Helper()
	s, err := Parse("w.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := defaults()
	d.Seed = seed
	c, _, err := s.Traffic(d)
	if err != nil {
		t.Fatal(err)
	}
	source, err := traffic.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var loop workload.ClosedLoop = source
	if refused {
		loop = refusing{loop}
	}
	all, err := workload.Collect(workload.Play(loop, func(*workload.Request) vtime.Duration { return 50_000 }))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// refusing has all requests of a loop refused.
type refusing struct{ workload.ClosedLoop }

func (r refusing) Ended(e *workload.End) {
	e.Completed, e.Generated = false, 0
	r.ClosedLoop.Ended(e)
}

// The benchmark sends rate × duration requests in each stage, cut off to a whole
// number, whatever the seed, whether or not users chat, and whatever becomes of
// them.
func TestCaseInferencePerfMultiTurnLostRequests(t *testing.T) {
	for _, x := range []struct {
		stages         string
		prompts, users int
		want           []int // of each stage
		ends           []vtime.Time
	}{
		{"[{rate: 0.5, duration: 60}]", 9, 5, []int{30}, []vtime.Time{60_000_000}},
		{"[{rate: 1, duration: 60}, {rate: 2, duration: 60}]", 9, 5, []int{60, 120}, []vtime.Time{60_000_000, 120_000_000}},
		{"[{rate: 0.5, duration: 7}]", 3, 5, []int{3}, []vtime.Time{7_000_000}},
		{"[{rate: 5, duration: 60}, {rate: 10, duration: 60}]", 1, 7, []int{300, 600}, []vtime.Time{60_000_000, 120_000_000}},
		{"[{rate: 0.29, duration: 100}]", 2, 2, []int{28}, []vtime.Time{100_000_000}}, // 28.999999999999996
	} {
		for seed := range uint64(5) {
			for _, chat := range []bool{false, true} {
				got := make([]int, len(x.want))
				all := sent(t, perfText(x.stages, x.prompts, x.users, chat), seed, false)
				for _, r := range all {
					stage := 0
					for stage < len(x.ends)-1 && r.Arrival >= x.ends[stage] {
						stage++
					}
					got[stage]++
				}
				total := 0
				for _, n := range x.want {
					total += n
				}
				if len(all) != total || !chat && fmt.Sprint(got) != fmt.Sprint(x.want) {
					t.Errorf("%s, %d users, chat %v, seed %d: %v requests, want %v", x.stages, x.prompts*x.users, chat, seed, got, x.want)
				}
				if n := len(sent(t, perfText(x.stages, x.prompts, x.users, chat), seed, true)); n != total {
					t.Errorf("%s, %d users, chat %v, seed %d: %d requests when all are refused, want %d", x.stages, x.prompts*x.users, chat, seed, n, total)
				}
			}
		}
	}
}

// The rounds of a chat come in turn: without the time that answers take, the n-th
// request of a stage is in the n-th part of 1/rate.
func TestRoundsOfAStageHavePlacesOfTheirOwn(t *testing.T) {
	s, err := Parse("w.yaml", []byte(perfText("[{rate: 2, duration: 60}]", 3, 3, true)))
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := s.Traffic(defaults())
	if err != nil {
		t.Fatal(err)
	}
	source, err := traffic.New(c)
	if err != nil {
		t.Fatal(err)
	}
	all, err := workload.Collect(workload.Play(source, func(*workload.Request) vtime.Duration { return 1 }))
	if err != nil || len(all) != 120 {
		t.Fatalf("%d requests, %v", len(all), err)
	}
	for i, r := range all {
		if at := int(r.Arrival / 500_000); at != i && (i == 0 || int((r.Arrival-20)/500_000) != i) {
			t.Errorf("request %d at %v", i, r.Arrival)
		}
	}
}

// A place is never empty, and never outside the stage.
func TestPlacesOfAStage(t *testing.T) {
	s := stage{start: 50, end: 50 + 1_000_000, rate: 3e6, requests: 3_000_000}
	for _, n := range []int64{0, 1, 2, 3, 2_999_999, 3_000_000} {
		g := s.slot(n)
		if g.Start < s.start || g.End > s.end || g.End <= g.Start || g.Count != 1 || g.Start > 50+vtime.Time(n/3) {
			t.Errorf("place %d: %+v", n, g)
		}
	}
}

// What cannot be sent is refused.
func TestStagesThatCannotBeSentAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		perfText("[{rate: 1, duration: 9}, {rate: 0.1, duration: 9}]", 1, 1, true):             "w.yaml:1: inference_perf.stages[1]: rate 0.1 for 9 s is less than one request, want a higher rate or a longer duration",
		perfText("[{rate: 100, duration: 700}]", 1, 1, true):                                   "w.yaml:1: inference_perf.stages[0]: 70000 requests of 1 users are more than 65536 rounds of a chat each, want more users or shorter stages",
		perfText("[{rate: 1, duration: 9}]", 1, 1, false) + "\nload_profile: {type: constant}": "w.yaml:2: load_profile: given beside inference_perf, whose stages say how many requests come",
	} {
		if _, err := Parse("w.yaml", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	if n := len(sent(t, perfText("[{rate: 65536, duration: 1}]", 1, 1, true), 1, false)); n != 65536 {
		t.Errorf("%d requests of one chat, want 65536", n)
	}
}
