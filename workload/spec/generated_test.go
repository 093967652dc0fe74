package spec

import (
	"math"
	"testing"

	"blis/vtime"
	"blis/workload"
	"blis/workload/traffic"
)

// What scenarios promise, counted in the requests that they generate. The
// cluster of these tests completes 10,000 tokens per second; every request that
// something waits for is answered after 2 s. Bounds are five standard
// deviations of the counts, whose seed is 42.

func generated(t *testing.T, name string, limit int64) ([]workload.Request, *workload.Labels) {
	t.Helper()
	s, err := OpenScenario(name)
	if err != nil {
		t.Fatal(err)
	}
	d := defaults()
	d.Limit = limit
	c, _, err := s.Traffic(d)
	if err != nil {
		t.Fatal(err)
	}
	source, err := traffic.New(c)
	if err != nil {
		t.Fatal(err)
	}
	all, err := workload.Collect(workload.Play(source, func(*workload.Request) vtime.Duration { return 2 * vtime.Second }))
	if err != nil {
		t.Fatal(err)
	}
	return all, source.Labels()
}

// partOf holds the part of n that count is to p.
func partOf(t *testing.T, what string, count, n int, p float64) {
	t.Helper()
	if bound := 5 * math.Sqrt(p*(1-p)/float64(n)); math.Abs(float64(count)/float64(n)-p) > bound {
		t.Errorf("%s: %d of %d, want a share of %.3f within %.3f", what, count, n, p, bound)
	}
}

// times counts the arrivals for which in says so.
func times(all []workload.Request, in func(at vtime.Duration) bool) (n int) {
	for i := range all {
		if in(vtime.Duration(all[i].Arrival)) {
			n++
		}
	}
	return n
}

func TestSpikesAreTenTimesTheRate(t *testing.T) {
	all, _ := generated(t, "bursty-traffic", 20_000)
	minutes := vtime.Duration(all[len(all)-1].Arrival) / vtime.Minute // whole ones
	inside := func(at vtime.Duration) bool { return at < minutes*vtime.Minute }
	spike := func(at vtime.Duration) bool {
		return inside(at) && at%vtime.Minute >= 30*vtime.Second && at%vtime.Minute < 35*vtime.Second
	}
	// In each minute 5 s of 10 times the rate: 50 of 105.
	partOf(t, "in spikes", times(all, spike), times(all, inside), 50.0/105)
	for m := range minutes { // in every single one
		n := times(all, func(at vtime.Duration) bool { return spike(at) && at/vtime.Minute == m })
		if want := 5 * 10 * 0.3 * 10_000 / 768; math.Abs(float64(n)-want) > 5*math.Sqrt(want) {
			t.Errorf("minute %d: %d requests in its spike, want about %.0f", m, n, want)
		}
	}
}

func TestTheDayIsTenTimesTheNight(t *testing.T) {
	all, _ := generated(t, "diurnal-cycle", 0)
	hour := func(h vtime.Duration) float64 {
		return float64(times(all, func(at vtime.Duration) bool { return at/vtime.Hour == h }))
	}
	// The mean over an hour around the peak is all but the peak.
	night, noon := (hour(0)+hour(23))/2, (hour(11)+hour(12))/2
	if ratio := noon / night; math.Abs(ratio/9.7-1) > 0.06 {
		t.Errorf("%v at noon, %v at night: %.2f times", noon, night, ratio)
	}
	if last := all[len(all)-1].Arrival; last >= vtime.Time(24*vtime.Hour) || last < vtime.Time(23*vtime.Hour) {
		t.Errorf("the last comes at %v", last)
	}
}

func TestNinetyToTen(t *testing.T) {
	all, labels := generated(t, "unfair-tenants", 20_000)
	bulk := 0
	for i := range all {
		if labels.Tenants.Name(all[i].Tenant) == "bulk" {
			bulk++
		}
	}
	partOf(t, "bulk", bulk, len(all), 0.9)
}

func TestFourFifthsShareAPrefix(t *testing.T) {
	all, _ := generated(t, "prefix-heavy", 20_000)
	shared, contents := 0, map[workload.ContentID]bool{}
	for i := range all {
		if s := all[i].Spans; len(s) > 0 && s[0].Length == 1024 {
			shared++
			contents[s[0].Content] = true
		}
	}
	partOf(t, "with a prefix", shared, len(all), 0.8)
	if len(contents) != 8 {
		t.Errorf("%d prefixes, want 8", len(contents))
	}
}

func TestEqualThirds(t *testing.T) {
	all, labels := generated(t, "mixed-slo", 20_000)
	counts := map[string]int{}
	for i := range all {
		counts[labels.Classes.Name(all[i].Class)]++
	}
	for _, class := range []string{"critical", "standard", "batch"} {
		partOf(t, class, counts[class], len(all), 1.0/3)
	}
}

// A fifth more than the capacity, and four fifths of it.
func TestRatesAreSharesOfTheCapacity(t *testing.T) {
	for name, part := range map[string]float64{"overload": 1.2, "sanity": 0.8} {
		all, _ := generated(t, name, 20_000)
		seconds := all[len(all)-1].Arrival.Seconds()
		if want := part * 10_000 / 768 * seconds; math.Abs(float64(len(all))-want) > 5*math.Sqrt(want) {
			t.Errorf("%s: %d requests in %.0f s, want about %.0f", name, len(all), seconds, want)
		}
	}
}

// Rounds are 2 to 8, each of a prompt that begins with the one before and its
// answer, and come at least a second after it.
func TestRoundsContinueEachOther(t *testing.T) {
	all, _ := generated(t, "multi-turn-chat", 10_000)
	last := map[uint64]workload.Request{}
	sessions := map[int32]int{}
	for _, r := range all {
		before, ok := last[r.Session]
		if r.Round == 0 == ok {
			t.Fatalf("round %d of session %d out of turn", r.Round, r.Session)
		}
		if ok {
			if r.Round != before.Round+1 || r.Arrival < before.Arrival.Add(3*vtime.Second) {
				t.Fatalf("round %d at %v after round %d at %v", r.Round, r.Arrival, before.Round, before.Arrival)
			}
			want := append(append([]workload.Span{}, before.Spans...), workload.Span{Content: before.OutputContent, Length: before.Output})
			for i := range want {
				if r.Spans[i] != want[i] {
					t.Fatalf("session %d, round %d: begins with %v, want %v", r.Session, r.Round, r.Spans, want)
				}
			}
			sessions[before.Round]--
		}
		last[r.Session] = r
		sessions[r.Round]++
	}
	for rounds := int32(1); rounds <= 9; rounds++ {
		if n := sessions[rounds-1]; (rounds >= 2 && rounds <= 8) != (n > len(last)/12) && !(rounds == 1 && n <= 1) {
			t.Errorf("%d sessions of %d rounds, of %d", n, rounds, len(last))
		}
	}
}
