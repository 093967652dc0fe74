package trace

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"blis/vtime"
)

// hold adds who had the prefix of a request to some traces.
func (g *generator) hold(r *Routing, input int32) {
	if g.requests%7 != 3 || g.chance(10) {
		return
	}
	full := int(input) / 16
	r.Held = &Held{Target: int32(16 * g.IntN(full+1))}
	if r.Held.Most = r.Held.Target; g.chance(60) {
		r.Held.Most = int32(16 * g.IntN(full+1))
	}
	if r.Held.Most > 0 {
		r.Held.Instance = pointer(g.IntN(g.instances))
	}
}

// avoidable counts misses record by record.
func (w *twin) avoidable() *AvoidableFact {
	f := &AvoidableFact{Reasons: []AvoidableReason{}, Worst: []AvoidableExample{}}
	var all []AvoidableExample
	for _, o := range w.outcomes {
		var last *Routing
		for _, r := range w.routingsOf[o.Request] {
			if r.Held != nil && r.Target != nil {
				last = r
			}
		}
		if last == nil || o.ActualHit == nil {
			continue
		}
		f.Requests++
		f.Missed += int64(last.Input - *o.ActualHit)
		if h := last.Held; h.Instance == nil || h.Most <= h.Target || h.Most <= *o.ActualHit {
			continue
		}
		e := AvoidableExample{int64(last.At), o.Request, *last.Target, *last.Held.Instance, last.Held.Most, *o.ActualHit}
		all = append(all, e)
		f.Away++
		f.Tokens += int64(e.Held - e.Found)
		at := slices.IndexFunc(f.Reasons, func(x AvoidableReason) bool { return x.Reason == last.Reason })
		if at < 0 {
			at, f.Reasons = len(f.Reasons), append(f.Reasons, AvoidableReason{Reason: last.Reason})
		}
		f.Reasons[at].Away++
		f.Reasons[at].Tokens += int64(e.Held - e.Found)
	}
	if f.Requests == 0 {
		return nil
	}
	slices.SortStableFunc(f.Reasons, func(a, b AvoidableReason) int { return cmp.Compare(b.Tokens, a.Tokens) })
	slices.SortStableFunc(all, func(a, b AvoidableExample) int { return cmp.Compare(b.Held-b.Found, a.Held-a.Found) })
	f.Worst = append(f.Worst, all[:min(3, len(all))]...)
	return f
}

// bursts counts request by request.
func (w *twin) bursts(bins int) []TenantBurst {
	list := []TenantBurst{}
	tenants := distinct(w.admissions, func(a *Admission) string { return a.Tenant })
	for _, tenant := range tenants {
		own := filter(w.firsts(), func(a *Admission) bool { return a.Tenant == tenant })
		mean := float64(len(own)) / float64(bins)
		burst := func(t vtime.Time) bool {
			n := float64(count(own, func(a *Admission) bool { return w.bin(a.At) == w.bin(t) }))
			return n > 2*mean && n >= mean+2
		}
		b := TenantBurst{Tenant: tenant, Requests: count(own, func(a *Admission) bool { return burst(a.At) }), Victims: []BurstVictim{}}
		b.Bins = len(distinct(filter(own, func(a *Admission) bool { return burst(a.At) }), func(a *Admission) int { return w.bin(a.At) }))
		for _, other := range tenants {
			v := BurstVictim{Tenant: other}
			for _, o := range filter(w.outcomes, func(o *Outcome) bool { return o.Tenant == other && other != tenant && o.SLOMet != nil }) {
				judged, missed := &b.OutsideJudged, &b.OutsideMissed
				if burst(o.Arrival) {
					judged, missed = &v.Judged, &v.Missed
				}
				*judged++
				if !*o.SLOMet {
					*missed++
				}
			}
			b.Judged += v.Judged
			b.Missed += v.Missed
			if v.Missed > 0 {
				b.Victims = append(b.Victims, v)
			}
		}
		slices.SortStableFunc(b.Victims, func(x, y BurstVictim) int { return cmp.Compare(y.Missed, x.Missed) })
		if b.Missed > 0 {
			list = append(list, b)
		}
	}
	slices.SortStableFunc(list, func(a, b TenantBurst) int { return cmp.Compare(b.Missed, a.Missed) })
	return list
}

// TestSummaryFocus has the sections of its areas and no others, however they are ordered.
func TestSummaryFocus(t *testing.T) {
	s := summarized(t, synthetic(4, shape{requests: 311, instances: 3, counterfactual: true, detailed: true, scaling: true}), SummaryOptions{})
	titles := map[Area]string{
		AdmissionArea: "DECISIONS", RoutingArea: "WORST ROUTING DECISIONS", PrefixArea: "PREFIX CACHE", TenantsArea: "BURSTS OF TENANTS", TailsArea: "REQUESTS THAT MISSED", TimeArea: "OVER TIME", ScaleArea: "SCALE",
	}
	for _, area := range Areas() {
		r, err := s.Report(SummaryIssues, 5000, area)
		if err != nil {
			t.Fatal(err)
		}
		for other, title := range titles { // any order
			if got := strings.Contains(r.Text, "\n"+title); got != (other == area) {
				t.Errorf("%s: has the section of %s: %v\n%s", area, other, got, r.Text)
			}
		}
	}
	r, err := s.Report(SummaryIssues, 9000, Areas()...)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(r.Text, "ISSUES, the most frequent first"); n != 1 {
		t.Errorf("issues stand %d times\n%s", n, r.Text)
	}
	if _, err := ParseAreas([]string{"tenant"}); err == nil || !strings.Contains(err.Error(), "tenants") {
		t.Error(err)
	}
	if _, err := ParseAreas([]string{"tails", "tails"}); err == nil {
		t.Error("an area twice")
	}
}

// TestMissesInWords: what the text says of four requests.
func TestMissesInWords(t *testing.T) {
	s := NewSummary(SummaryOptions{})
	give := func(r Record) {
		if err := s.Consume(r); err != nil {
			t.Fatal(err)
		}
	}
	give(&Header{Schema: Schema, Routing: "round-robin", Instances: 2})
	for i, c := range []struct{ here, most, found int32 }{{0, 512, 0}, {0, 512, 512}, {512, 512, 512}, {0, 0, 0}} {
		at, held := vtime.Time(1000*i), &Held{Target: c.here, Most: c.most}
		if c.most > 0 {
			held.Instance = pointer(1)
		}
		give(&Routing{At: at, Request: int64(i), Input: 600, Target: pointer(0), Reason: "in turn", Held: held})
		give(&Outcome{At: at, Request: int64(i), State: "completed", Instance: pointer(0), ActualHit: pointer(c.found)})
	}
	r, err := s.Report(SummaryIssues, 1000, PrefixArea)
	if err != nil {
		t.Fatal(err)
	}
	// The second went away too, but what it wanted came to its instance meanwhile.
	const want = `1 of 4 requests went away from an instance that had their prefix (512 tokens recomputed, 37.2 % of all prompt tokens that were not cached).
By reason of the decision: in turn 1 (512 tokens).
The most: request 0 to instance 0 at 0.000 s, where 0 of its tokens were found; instance 1 had 512.
`
	if !strings.Contains(r.Text, want) {
		t.Errorf("%s\nwant %s", r.Text, want)
	}
}
