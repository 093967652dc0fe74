package trace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
)

// TestMemoryDoesNotGrowWithTheTrace: of ten times as many requests no more is
// kept, though every one has a tenant, a class and reasons of its own.
func TestMemoryDoesNotGrowWithTheTrace(t *testing.T) {
	options := SummaryOptions{Worst: 5, Examples: 2}
	sizes := func(requests int) string {
		s := NewSummary(options)
		most := 0
		records := synthetic(8, shape{requests, 4, true, true, false, false})
		for _, r := range records {
			rename(r)
			if err := s.Consume(r); err != nil {
				t.Fatal(err)
			}
			most = max(most, len(s.flights))
		}
		if len(s.flights) != 0 || most > 1000 {
			t.Errorf("%d requests in flight at the end, %d at most", len(s.flights), most)
		}
		r := reported(t, s, SummaryIssues, 1500)
		return fmt.Sprintf("%d tenants, %d classes, %d ends, %d admissions, %d routings, %d anomalies, %d priorities; %d worst, %d examples, %d of hits; text below 8 KB: %v; %d tenants of %d listed",
			len(s.tenants.keys), len(s.classes.keys), len(s.ended.ends.keys), len(s.decided.admissions.keys), len(s.decided.routings.keys), len(s.ended.anomalies.keys), len(s.decided.priorities.keys),
			len(s.regrets.worst), len(s.ended.ends.others.examples), len(s.ended.shortest), len(r.Text) < 8000, len(r.Patterns.Tenants), r.Patterns.TenantsLeftOut)
	}
	small, large := sizes(4_000), sizes(40_000)
	want := "1024 tenants, 64 classes, 256 ends, 256 admissions, 256 routings, 256 anomalies, 64 priorities; 5 worst, 2 examples, 2 of hits; text below 8 KB: true; 20 tenants of 1005 listed"
	if small != large || large != want {
		t.Errorf("of 4,000 requests:\n%s\nof 40,000:\n%s\nwant\n%s", small, large, want)
	}
}

// rename gives a record names that no other request has.
func rename(r Record) {
	switch r := r.(type) {
	case *Admission:
		r.Tenant, r.Class, r.Reason = own("t", r.Request), own("c", r.Request), own("r", r.Request)
	case *Priority:
		r.Class = own("c", r.Request)
	case *Routing:
		r.Tenant, r.Class, r.Reason = own("t", r.Request), own("c", r.Request), own("r", r.Request)
	case *Anomaly:
		r.Name = own("a", int64(r.At))
	case *Outcome:
		r.Tenant, r.Class, r.Reason = own("t", r.Request), own("c", r.Request), own("r", r.Request)
	}
}

func own(kind string, n int64) string { return fmt.Sprintf("%s%d", kind, n) }

// TestOthersAreCounted: what no table has room for is not lost.
func TestOthersAreCounted(t *testing.T) {
	records := synthetic(9, shape{4_000, 4, true, true, false, false})
	for _, r := range records {
		rename(r)
	}
	r := reported(t, summarized(t, records, SummaryOptions{}), SummaryIssues, 1500)
	ended, decided, regret := int64(0), int64(0), int64(0)
	for _, c := range r.Outcomes.Classes {
		ended += c.Ended
	}
	for _, c := range r.Decisions.Routing {
		decided += c.N
	}
	for _, c := range r.Regret.ByClass {
		regret += c.N
	}
	if last := r.Outcomes.Classes[64]; ended != 4_000 || !last.Others || last.Ended < 3_000 {
		t.Errorf("%d requests of all classes, %d of others", ended, last.Ended)
	}
	if last := r.Decisions.Routing[256]; decided != r.Records.Routing || last.What != "others" {
		t.Errorf("%d of %d routings have a reason; %+v", decided, r.Records.Routing, last)
	}
	if regret != r.Regret.Decisions {
		t.Errorf("%d of %d decisions with regret are of a class", regret, r.Regret.Decisions)
	}
}

// TestOptionsAreKept: as many worst decisions and examples as asked for.
func TestOptionsAreKept(t *testing.T) {
	records := synthetic(10, shape{400, 4, true, true, false, false})
	for _, o := range []SummaryOptions{{}, {Worst: 3}, {Worst: 30, Examples: 7}, {Worst: -1, Examples: -1}} {
		r := reported(t, summarized(t, records, o), SummaryIssues, 1000)
		worst, examples := o.Worst, o.Examples
		if worst < 1 {
			worst = 10
		}
		if examples < 1 {
			examples = 3
		}
		if len(r.Regret.Worst) != worst || len(r.Issues[0].Examples) != examples {
			t.Errorf("%+v: %d worst decisions, %d examples", o, len(r.Regret.Worst), len(r.Issues[0].Examples))
		}
		for _, d := range r.Regret.Worst {
			if len(d.Candidates) == 0 {
				t.Errorf("%+v: request %d has no candidates", o, d.Request)
			}
		}
	}
}

// TestHistogramPercentiles compares with the sorted numbers.
func TestHistogramPercentiles(t *testing.T) {
	for seed := range uint64(300) {
		g := rand.New(rand.NewPCG(seed, 4))
		var h histogram
		var list []float64
		for range 1 + g.IntN(200) {
			x := math.Ldexp(g.Float64(), g.IntN(1+g.IntN(60))-20)
			switch g.IntN(4) {
			case 0:
				x = 0
			case 1:
				x = float64(g.IntN(2049))
			}
			h.add(x)
			list = append(list, x)
		}
		for _, p := range []int{1, 50, 90, 99, 100} {
			exact, got := nearestRank(list, p), h.percentile(int64(p))
			if got != kept(exact) || got > exact || exact-got > exact/1024 || exact == math.Trunc(exact) && exact <= 2048 && got != exact {
				t.Fatalf("seed %d: p%d of %v is %v, not %v", seed, p, list, exact, got)
			}
		}
		if clone := h.clone(); h.n > 0 {
			clone.add(1)
			if h.n == clone.n || h.percentile(100) != kept(slices.Max(list)) {
				t.Fatalf("seed %d: a clone is not apart", seed)
			}
		}
	}
}

// TestAverages: in pieces or at once, and without passing the end of float64.
func TestAverages(t *testing.T) {
	for seed := range uint64(300) {
		g := rand.New(rand.NewPCG(seed, 5))
		var parts [3]average
		var list []float64
		for range 1 + g.IntN(50) {
			x := g.NormFloat64()
			list = append(list, x)
			parts[g.IntN(3)].add(x)
		}
		got := parts[0].plus(parts[1]).plus(parts[2])
		if got.n != int64(len(list)) || math.Abs(got.mean-meanOf(list)) > 1e-12 || got.least != slices.Min(list) || got.most != slices.Max(list) {
			t.Fatalf("seed %d: %+v of %v", seed, got, list)
		}
	}
	var a average
	for range 10 {
		a.add(math.MaxFloat64)
		a.add(-math.MaxFloat64)
	}
	if math.IsNaN(a.mean) || math.IsInf(a.mean, 0) {
		t.Errorf("mean %v", a.mean)
	}
}

// TestClockDoubles: bins cover all of time, and none is in two.
func TestClockDoubles(t *testing.T) {
	for _, c := range []struct {
		first, last vtime.Time
		width       vtime.Duration
		bins        int
	}{
		{0, 0, vtime.Millisecond, 1},
		{0, 23_999, vtime.Millisecond, 24},
		{0, 24_000, 2 * vtime.Millisecond, 13},
		{7_300_000, 7_300_000, 16 * vtime.Millisecond, 19},
		{7_300_000, 30_000_000, 1024 * vtime.Millisecond, 23},
		{5, vtime.Never - 1, vtime.Millisecond << 49, 17},
	} {
		s := summarized(t, []Record{&Header{Schema: Schema}, &Batch{At: c.first}, &Preemption{At: c.first}, &Preemption{At: c.last}}, SummaryOptions{})
		f := reported(t, s, SummaryPattern, 1000).Patterns
		if *f.BinWidth != int64(c.width) || len(f.Bins) != c.bins || f.Bins[c.bins-1].Preemptions == 0 {
			t.Errorf("%v to %v: %d bins of %d µs: %+v", c.first, c.last, len(f.Bins), *f.BinWidth, f.Bins)
		}
		for i, b := range f.Bins {
			if i > 0 && b.From != f.Bins[i-1].To || b.From >= b.To {
				t.Errorf("%v to %v: bin %d from %d to %d", c.first, c.last, i, b.From, b.To)
			}
		}
	}
}

// TestListsAreLimited: of instances, in the order of their indices where they
// are equal, and of changes of scale.
func TestListsAreLimited(t *testing.T) {
	records := []Record{&Header{Schema: Schema, Instances: 25}}
	regret := 0.5
	for i := range 30 {
		target := 29 - i
		records = append(records, &Routing{Request: int64(i), Target: &target, Regret: &regret}, &Scale{Action: []string{"up", "down"}[i/15], From: int32(i)})
	}
	r := reported(t, summarized(t, records, SummaryOptions{}), SummaryAudit, 5000)
	if f := r.Instances; f.N != 30 || len(f.List) != 20 || f.LeftOut != 10 || f.List[19].Instance != 19 {
		t.Errorf("%d of %d instances listed, %d left out", len(f.List), f.N, f.LeftOut)
	}
	if f := r.Regret; len(f.ByInstance) != 20 || f.LeftOut != 10 || f.ByInstance[2].Name != "2" || f.ByInstance[19].Name != "19" {
		t.Errorf("regret of %+v, %d left out", f.ByInstance, f.LeftOut)
	}
	if f := r.Decisions.Scale; f.Up != 15 || f.Down != 15 || f.Reversals != 1 || len(f.Changes) != 8 || f.Changes[7].From != 7 {
		t.Errorf("scale: %+v", f)
	}
}

// TestOnTimeIsNotLate: a latency equal to its target. An anomaly that says so
// is an issue where no latency beyond a target is.
func TestOnTimeIsNotLate(t *testing.T) {
	target := vtime.Duration(100)
	for _, c := range []struct {
		ttft vtime.Duration
		late int64
		kind string
	}{{99, 0, "anomaly"}, {100, 0, "anomaly"}, {101, 1, "slo"}} {
		r := reported(t, summarized(t, []Record{
			&Header{Schema: Schema, Targets: []ClassTargets{{Class: "a", TTFT: &target}}},
			&Outcome{State: "completed", Class: "a", TTFT: &c.ttft}, &Anomaly{Name: "slo_violation"},
		}, SummaryOptions{}), SummaryIssues, 1000)
		if got := r.Outcomes.Classes[0].TTFT.Beyond; got != c.late || len(r.Issues) != 1 || r.Issues[0].Kind != c.kind {
			t.Errorf("TTFT %v: %d late, issues %+v", c.ttft, got, r.Issues)
		}
	}
}
