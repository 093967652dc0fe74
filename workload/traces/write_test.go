package traces

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func TestWriteCSVRoundTrip(t *testing.T) {
	for _, name := range []string{
		"blis.csv", "mooncake.jsonl", "azure.csv", "burstgpt.csv", "burstgpt_v1.csv", "tokens.jsonl",
		"sim.csv", "sim_accumulate.csv", "sim_minimal.csv", "lengths.csv",
	} {
		source := traceFile(t, name, Options{Pace: &steps{gap: 1000}})
		want := pull(t, source)
		slice, err := workload.NewSlice(want, *source.Labels())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Write(&out, slice); err != nil {
			t.Fatal(err)
		}
		again := traceText(t, out.String(), Options{})
		got := pull(t, again)
		for i := range got {
			if len(got[i].Spans) == 0 && len(want[i].Spans) == 0 {
				got[i].Spans = want[i].Spans
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v\nwant %+v", name, got, want)
		}
		if !reflect.DeepEqual(again.Labels(), source.Labels()) {
			t.Errorf("%s: labels %+v, want %+v", name, again.Labels(), source.Labels())
		}
	}
	var labels workload.Labels
	labels.Tenants.Label("a\nb")
	slice, err := workload.NewSlice([]workload.Request{workload.NewRequest(0, 1, 1)}, labels)
	if err != nil {
		t.Fatal(err)
	}
	want := `request 0: "a\nb", "standard", "": want names of tenant, class and model without line ends, or blanks around them`
	if err := Write(&bytes.Buffer{}, slice); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	var blank workload.Labels
	blank.Models.Label(" m")
	slice, err = workload.NewSlice([]workload.Request{workload.NewRequest(0, 1, 1)}, blank)
	if err != nil {
		t.Fatal(err)
	}
	want = `request 0: "", "standard", " m": want names of tenant, class and model without line ends, or blanks around them`
	if err := Write(&bytes.Buffer{}, slice); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// anyRequests makes valid requests with everything that a request can have.
func anyRequests(r *rand.Rand) []workload.Request {
	var all []workload.Request
	at := vtime.Time(r.Int64N(2_000_000_000_000)) // beyond 11.6 days half of the time
	for range 1 + r.IntN(20) {
		at += vtime.Time(r.Int64N(3))
		q := workload.NewRequest(at, 1+r.Int32N(1000), r.Int32N(1000))
		q.Source = 0 // numbered by the slice
		if r.IntN(2) > 0 {
			q.Deadline = at.Add(vtime.Duration(r.Int64N(5000)))
		}
		if r.IntN(2) > 0 {
			q.MaxOutput = q.Output + r.Int32N(10)
		}
		for left := q.Input; left > 0 && r.IntN(3) > 0; {
			n := 1 + r.Int32N(left)
			q.Spans = append(q.Spans, workload.Span{Content: workload.ContentID(1 + r.Uint64N(math.MaxUint64)), Length: n})
			left -= n
		}
		if r.IntN(2) > 0 {
			q.OutputContent = workload.ContentID(1 + r.Uint64N(math.MaxUint64))
			q.Hint = r.NormFloat64() * 1e10
			q.Session, q.Round = r.Uint64(), r.Int32()
		}
		q.Tenant, q.Class, q.Model = workload.Label(r.IntN(3)), workload.Label(r.IntN(3)), workload.Label(r.IntN(3))
		all = append(all, q)
	}
	return all
}

// What is written and read again is the same in everything but its numbering.
func TestWrittenRequestsAreReadAgain(t *testing.T) {
	for seed := range uint64(300) {
		var labels workload.Labels
		for _, name := range []string{"", `a "b", c`, " ü"[1:]} {
			labels.Tenants.Label(name)
			labels.Models.Label(name)
		}
		for _, name := range []string{"standard", "batch", "critical"} {
			labels.Classes.Label(name)
		}
		want := anyRequests(rand.New(rand.NewPCG(seed, 9)))
		slice, err := workload.NewSlice(want, labels)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var out bytes.Buffer
		if err := Write(&out, slice); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again := traceText(t, out.String(), Options{})
		got := pull(t, again)
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d requests, want %d", seed, len(got), len(want))
		}
		l := again.Labels()
		for i := range got {
			g, w := got[i], want[i]
			if a, b := l.Tenants.Name(g.Tenant)+l.Classes.Name(g.Class)+l.Models.Name(g.Model), labels.Tenants.Name(w.Tenant)+labels.Classes.Name(w.Class)+labels.Models.Name(w.Model); a != b {
				t.Fatalf("seed %d, request %d: names %s, want %s", seed, i, a, b)
			}
			g.Tenant, g.Class, g.Model = w.Tenant, w.Class, w.Model
			g.Source, g.Index = w.Source, w.Index
			if len(g.Spans)+len(w.Spans) == 0 {
				g.Spans = w.Spans
			}
			if !reflect.DeepEqual(g, w) {
				t.Fatalf("seed %d, request %d:\n got %+v\nwant %+v", seed, i, g, w)
			}
		}
	}
}
