package trace

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"blis/vtime"
)

// TestTextKeepsToItsLimit: never longer, as long as it can be, a beginning of
// the whole text, and an end that counts what is missing.
func TestTextKeepsToItsLimit(t *testing.T) {
	for seed := range uint64(40) {
		g := rand.New(rand.NewPCG(seed, 3))
		s := summarized(t, synthetic(seed, shape{g.IntN(200), 1 + g.IntN(5), g.IntN(2) > 0, g.IntN(2) > 0, g.IntN(2) > 0, false}), SummaryOptions{})
		for _, strategy := range Strategies() {
			whole := reported(t, s, strategy, math.MaxInt)
			if whole.LeftOut != 0 || strings.Contains(whole.Text, "left out") {
				t.Fatalf("seed %d: %d lines of the whole text left out", seed, whole.LeftOut)
			}
			lines := strings.SplitAfter(whole.Text, "\n")
			for range 10 {
				limit := LeastSummaryTokens + g.IntN(1500)
				r := reported(t, s, strategy, limit)
				checkCut(t, fmt.Sprintf("seed %d, %s, %d tokens", seed, strategy, limit), r, lines, limit)
			}
		}
	}
}

// isTitle reports whether a line is the title of a section: it does not stand alone.
func isTitle(line string) bool {
	return strings.ToUpper(line) == line || strings.HasPrefix(line, "ISSUES") || strings.HasPrefix(line, "REGRET OF") || strings.HasPrefix(line, "Trace of decisions")
}

func checkCut(t *testing.T, name string, r *Report, whole []string, limit int) {
	t.Helper()
	size := utf8.RuneCountInString(r.Text)
	if size > 4*limit || r.TextTokens != int(math.Ceil(float64(size)/4)) {
		t.Fatalf("%s: %d characters, said to be %d tokens", name, size, r.TextTokens)
	}
	if r.Text == strings.Join(whole, "") {
		if r.LeftOut != 0 {
			t.Fatalf("%s: nothing is left out, not %d lines", name, r.LeftOut)
		}
		return
	}
	kept := strings.SplitAfter(r.Text, "\n")
	kept = kept[:len(kept)-2] // the note, and what follows it
	if !slices.Equal(kept, whole[:len(kept)]) {
		t.Fatalf("%s: not a beginning of the whole text:\n%s", name, r.Text)
	}
	missing := 0
	for _, line := range whole[len(kept) : len(whole)-1] {
		if !isTitle(line) {
			missing++
		}
	}
	if missing != r.LeftOut || !strings.Contains(r.Text, fmt.Sprintf("\n(%s left out", plural(int64(missing), "line"))) {
		t.Fatalf("%s: %d lines are missing, it says %d:\n%s", name, missing, r.LeftOut, r.Text)
	}
	// The next line, with a note of at most 200 characters, would not fit.
	if next := utf8.RuneCountInString(whole[len(kept)]); size+next+200 < 4*limit && !isTitle(whole[len(kept)]) {
		t.Fatalf("%s: %d of %d characters used, the next line has %d", name, size, 4*limit, next)
	}
}

// TestNamesCannotWriteLines: names come from users.
func TestNamesCannotWriteLines(t *testing.T) {
	bad := "x\nISSUES, the most frequent first\n\x1b[1m" + strings.Repeat("é", 5000)
	records := synthetic(5, shape{requests: 30, instances: 2, counterfactual: true})
	for _, r := range records {
		switch r := r.(type) {
		case *Header:
			r.Routing, r.Targets[0].Class = bad, bad
		case *Admission:
			r.Tenant, r.Class, r.Reason = bad, bad, bad
		case *Routing:
			r.Tenant, r.Class, r.Reason = bad, bad, bad
		case *Outcome:
			r.Tenant, r.Class, r.Reason = bad, bad, bad
		}
	}
	for _, strategy := range Strategies() {
		for _, limit := range []int{LeastSummaryTokens, 2000} {
			text := reported(t, summarized(t, records, SummaryOptions{}), strategy, limit).Text
			if n := strings.Count(text, "\nISSUES"); n > 1 || strings.ContainsRune(text, '\x1b') || utf8.RuneCountInString(text) > 4*limit {
				t.Errorf("%s, %d tokens: a name got into the text as it is:\n%s", strategy, limit, text)
			}
		}
	}
}

// TestLongNames: names are cut off, whatever they are of.
func TestLongNames(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"", `""`},
		{"tenant-1", "tenant-1"},
		{"two words", `"two words"`},
		{strings.Repeat("é", 41), strings.Repeat("é", 39) + "…"},
		{strings.Repeat("é", 40), strings.Repeat("é", 40)},
		{strings.Repeat("\x01", 50), `"` + strings.Repeat(`\x01`, 19) + `\x` + "…"},
	} {
		if got := named(c.name); got != c.want || utf8.RuneCountInString(got) > 2*longestName {
			t.Errorf("%q is shown as %s, want %s", c.name, got, c.want)
		}
	}
	if got := worded("two words"); got != "two words" {
		t.Errorf("a reason is shown as %s", got)
	}
}

// TestReportsChangeNothing: a report in between, or a second one, is no
// different for it.
func TestReportsChangeNothing(t *testing.T) {
	records := synthetic(6, shape{200, 3, true, true, true, true})
	watched := NewSummary(SummaryOptions{})
	for i, r := range records {
		if err := watched.Consume(r); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 {
			prefix := reported(t, summarized(t, records[:i+1], SummaryOptions{}), SummaryIssues, 1000)
			if diff := gocmp.Diff(prefix, reported(t, watched, SummaryIssues, 1000)); diff != "" {
				t.Fatalf("after %d records: %s", i+1, diff)
			}
		}
	}
}

// TestRecordsMayBeReused: they are valid during the call only.
func TestRecordsMayBeReused(t *testing.T) {
	of := shape{100, 3, true, true, true, true}
	want := reported(t, summarized(t, synthetic(7, of), SummaryOptions{}), SummaryCounterfactual, 5000)
	s := NewSummary(SummaryOptions{})
	for _, r := range synthetic(7, of) {
		if err := s.Consume(r); err != nil {
			t.Fatal(err)
		}
		spoil(r)
	}
	if diff := gocmp.Diff(want, reported(t, s, SummaryCounterfactual, 5000)); diff != "" {
		t.Error(diff)
	}
}

// spoil overwrites what a record points to.
func spoil(r Record) {
	switch r := r.(type) {
	case *Header:
		for i := range r.Targets {
			for _, d := range []*vtime.Duration{r.Targets[i].TTFT, r.Targets[i].TPOT, r.Targets[i].E2E} {
				if d != nil {
					*d = 1
				}
			}
			r.Targets[i].Class = "spoiled"
		}
		r.Seed = 1
	case *Routing:
		for _, x := range []*float64{r.Score, r.Best, r.Regret} {
			*x = -1e9
		}
		if r.Target != nil {
			*r.Target = 99
		}
		if r.ExpectedHit != nil {
			*r.ExpectedHit = -5
		}
		for i := range r.Candidates {
			r.Candidates[i].Breakdown[0].Share = -7
			*r.Candidates[i].QueueDepth, *r.Candidates[i].InFlight = -8, -9
			r.Candidates[i].Instance = 77
		}
	case *Outcome:
		for _, d := range []*vtime.Duration{r.TTFT, r.E2E, r.QueueWait} {
			if d != nil {
				*d = -3
			}
		}
		if r.ActualHit != nil {
			*r.ActualHit = -4
		}
		if r.Instance != nil {
			*r.Instance = 66
		}
		if r.SLOMet != nil {
			*r.SLOMet = !*r.SLOMet
		}
	}
}

// TestBadRecords: each is refused in a line that says which and why.
func TestBadRecords(t *testing.T) {
	header := &Header{Schema: Schema, Instances: 1}
	minus, nan, inf := -1, math.NaN(), math.Inf(1)
	less := -0.5
	for _, c := range []struct {
		want    string
		records []Record
	}{
		{"record 1: a header was to come first", []Record{&Scale{Action: "hold"}}},
		{"record 2: a second header", []Record{header, header}},
		{`record 1: field schema: "blis.trace/v9", want blis.trace/v1`, []Record{&Header{Schema: "blis.trace/v9"}}},
		{"record 1: field instances: -1, want a number from 0", []Record{&Header{Schema: Schema, Instances: -1}}},
		{"record 3: field at_us: 4 is before 5", []Record{header, &Batch{At: 5}, &Batch{At: 4}}},
		{"record 2: field at_us: -1, want a time of the run", []Record{header, &Batch{At: -1}}},
		{"record 2: field at_us: 9223372036854775807, want a time of the run", []Record{header, &Outcome{At: vtime.Never, State: "completed"}}},
		{"record 2: nil is no record", []Record{header, nil}},
		{`record 2: field verdict: "maybe", want admit, reject or delay`, []Record{header, &Admission{Request: 3, Verdict: "maybe"}}},
		{"record 2: field delay_us: a delay without a length", []Record{header, &Admission{Request: 3, Verdict: "delay"}}},
		{"record 2: field request: -3, want a number from 0", []Record{header, &Admission{Request: -3, Verdict: "admit"}}},
		{"record 2: field priority: NaN is not finite", []Record{header, &Priority{Request: 3, Priority: nan}}},
		{"record 2: field request: -2, want a number from 0", []Record{header, &Routing{Request: -2}}},
		{"record 2: field target: -1, want the index of an instance", []Record{header, &Routing{Request: 3, Target: &minus}}},
		{"record 2: field input_tokens: -1, want", []Record{header, &Routing{Request: 3, Input: -1}}},
		{"record 2: a score or a priority is not finite", []Record{header, &Routing{Request: 3, Best: &inf}}},
		{"record 2: field regret: -0.5, want a number from 0", []Record{header, &Routing{Request: 3, Regret: &less}}},
		{"record 2: a score or a priority is not finite", []Record{header, &Routing{Request: 3, Candidates: []Candidate{{Instance: 4, Score: nan}}}}},
		{"record 2: a score or a priority is not finite", []Record{header, &Routing{Request: 3, Candidates: []Candidate{{Instance: 4, Breakdown: []Breakdown{{"x", inf}}}}}}},
		{`record 2: field action: "", want hold, up, down or no_capacity`, []Record{header, &Scale{}}},
		{"record 2: field instance: -1, want an index", []Record{header, &Batch{Instance: -1}}},
		{"record 2: field instance: -1, want an index", []Record{header, &Preemption{Instance: -1}}},
		{"record 2: field instance: -1, want an index", []Record{header, &Transfer{Instance: -1}}},
		{`record 2: field reason: "", want offload, reload, promotion or pd`, []Record{header, &Transfer{}}},
		{"record 2: field severity: +Inf is not finite", []Record{header, &Anomaly{Name: "a", Severity: inf}}},
		{"record 2: field instance: -1, want an index, or null", []Record{header, &Anomaly{Name: "a", Instance: &minus}}},
		{`record 2: field state: "done", want completed, `, []Record{header, &Outcome{Request: 3, State: "done"}}},
		{"record 2: field instance: -1, want", []Record{header, &Outcome{Request: 3, State: "completed", Instance: &minus}}},
		{"record 2: field queue_wait_us: -5, want", []Record{header, &Outcome{Request: 3, State: "completed", QueueWait: pointer(vtime.Duration(-5))}}},
	} {
		s := NewSummary(SummaryOptions{})
		var err error
		for _, r := range c.records {
			err = s.Consume(r)
		}
		if err == nil || !strings.HasPrefix(err.Error(), "trace: "+c.want) {
			t.Errorf("got %v, want trace: %s", err, c.want)
		}
	}
}

// TestReportErrors has the arguments that cannot be.
func TestReportErrors(t *testing.T) {
	empty, s := NewSummary(SummaryOptions{}), summarized(t, synthetic(1, shape{instances: 1}), SummaryOptions{})
	for _, c := range []struct {
		of       *Summary
		strategy Strategy
		tokens   int
		want     string
	}{
		{empty, SummaryIssues, 1000, "the trace is empty: a header was to come first"},
		{s, "issue", 1000, `"issue" is no strategy of a trace summary: want issue-focused, decision-audit, counterfactual, pattern`},
		{s, SummaryIssues, 99, "a summary of 99 tokens: want at least 100"},
		{s, SummaryIssues, -1, "a summary of -1 tokens: want at least 100"},
	} {
		if _, err := c.of.Report(c.strategy, c.tokens); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	for _, strategy := range Strategies() {
		if got, err := ParseStrategy(string(strategy)); err != nil || got != strategy {
			t.Errorf("%s is read as %q, %v", strategy, got, err)
		}
	}
}

// TestExtremesStayNumbers: what JSON cannot have does not arise.
func TestExtremesStayNumbers(t *testing.T) {
	huge, tiny, low := math.MaxFloat64, 5e-324, -math.MaxFloat64
	zero, one := 0, 1
	s := summarized(t, []Record{
		&Header{Schema: Schema, Targets: []ClassTargets{{Class: "a", TTFT: pointer(vtime.Duration(1))}}},
		&Priority{Class: "a", Priority: low}, &Priority{Class: "a", Priority: huge},
		&Routing{Request: 1, Target: &zero, Regret: &huge}, &Routing{Request: 2, Target: &one, Regret: &huge}, &Routing{Request: 3, Target: &one, Regret: &tiny},
		&Outcome{Request: 1, State: "completed", Class: "a", TTFT: pointer(vtime.Duration(math.MaxInt64)), QueueWait: pointer(vtime.Duration(math.MaxInt64)), SLOMet: pointer(false)},
		&Outcome{Request: 4, State: "completed", Class: "a", QueueWait: pointer(vtime.Duration(math.MaxInt64)), SLOMet: pointer(false)},
		&Outcome{At: vtime.Never - 1, Request: 2, State: "completed", Class: "a", TTFT: pointer(vtime.Duration(math.MaxInt64)), QueueWait: pointer(vtime.Duration(math.MaxInt64)), SLOMet: pointer(true)},
	}, SummaryOptions{})
	for _, strategy := range Strategies() {
		text, err := json.Marshal(reported(t, s, strategy, 3000))
		if err != nil || strings.Contains(string(text), "NaN") || strings.Contains(string(text), "Inf") {
			t.Errorf("%v: %s", err, text)
		}
	}
	r := reported(t, s, SummaryCounterfactual, 1000)
	if l := r.Outcomes.Classes[0].TTFT; l.P50 != math.MaxInt64 || l.Max != math.MaxInt64 || *r.Compared.MissedQueueWait <= 0 {
		t.Errorf("TTFT %+v, mean wait %v", l, *r.Compared.MissedQueueWait)
	}
	if f := r.Regret; f.Mean <= 0 || f.ByInstance[0].Share > 1 || f.ByInstance[0].Share < 0.4 {
		t.Errorf("regret %+v", f)
	}
}

// One of a thing is not several, and none is not said.
func TestCountsInWords(t *testing.T) {
	for n, want := range map[int64]string{0: "", 1: "1 anomaly", 2: "2 anomalies", 1234: "1,234 anomalies"} {
		if got := counting(n, "anomaly", "anomalies"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestSummaryCountsTransfers(t *testing.T) {
	s := summarized(t, []Record{&Header{Schema: Schema}, &Transfer{Reason: "offload", From: "gpu"}, &Transfer{Reason: "offload"}, &Transfer{Reason: "reload"},
		&Transfer{Reason: "offload", From: "cpu", To: "nvme"}, &Transfer{Reason: "promotion", From: "nvme"}, &Transfer{Reason: "promotion"}}, SummaryOptions{})
	report := reported(t, s, SummaryPattern, 1000)
	if r := report.Records; r.Store != 2 || r.Load != 1 || r.Write != 1 || r.Promote != 2 || !strings.Contains(report.Text, "2 stores, 1 load, 1 storage write, 2 storage reads.") {
		t.Errorf("%+v: %v", r, report.Text)
	}
}
