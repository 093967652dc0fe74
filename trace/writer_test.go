package trace

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"blis/vtime"
)

// The generated JSON is that of encoding/json, byte by byte, of every kind.
func TestJSONIsThatOfTheLibrary(t *testing.T) {
	d := newRandomly(t, 1, true)
	for _, k := range kinds {
		for range 1000 {
			r := d.record(k.Kind())
			if got, want := string(AppendJSON(nil, r))+"\n", printed(t, r); got != want {
				t.Fatalf("%s:\n got %s\nwant %s", k.Kind(), got, want)
			}
		}
	}
}

// Kinds that a run writes by the hundred thousand cost no allocation.
func TestHotKindsAllocateNothing(t *testing.T) {
	instance, hit, wait, score := 3, int32(16), vtime.Duration(700), 0.7
	w := NewWriter(io.Discard, JSONLines)
	for _, r := range []Record{
		&Admission{Type: "admission", At: 17, Request: 4, Tenant: "a", Class: "b", Verdict: "delay", Delay: &wait},
		&Priority{Type: "priority", At: 17, Request: 4, Class: "b", Priority: 0.3},
		&Routing{Type: "routing", At: 17, Request: 4, Target: &instance, Score: &score, ExpectedHit: &hit,
			Candidates: []Candidate{{Instance: 3, Score: 0.7, Breakdown: []Breakdown{{"queue-depth", 0.7}}}}, Snapshots: &Snapshots{Routable: []bool{true}, InFlight: []int32{4}}},
		&Outcome{Type: "outcome", At: 17, Request: 4, State: "completed", Instance: &instance, TTFT: &wait},
		&Batch{Type: "batch", At: 17, End: 99},
	} {
		if n := testing.AllocsPerRun(2000, func() { w.Consume(r) }); n != 0 {
			t.Errorf("%s: %v allocations", r.Kind(), n)
		}
	}
}

// A record whose field Type is not set has its type in both forms.
func TestTypeIsTheKind(t *testing.T) {
	for _, form := range []Form{JSONLines, MessagePack} {
		got, err := readAll(written(t, form, &Batch{}, &Priority{Type: "batch"}), form)
		if err != io.EOF || len(got) != 3 || got[1].(*Batch).Type != "batch" || got[2].(*Priority).Type != "priority" {
			t.Errorf("form %d: %v, %v", form, got, err)
		}
	}
}

// full takes so many bytes and no more.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.room {
		n := f.room
		f.room = 0
		return n, errors.New("no space left")
	}
	f.room -= len(b)
	return len(b), nil
}

// An error of the file comes back from the record on that met it, and from
// Flush.
func TestWriterKeepsItsError(t *testing.T) {
	for _, form := range []Form{JSONLines, MessagePack} {
		w := NewWriter(&full{room: pieceSize}, form)
		r, failed := &Priority{Type: "priority", Class: strings.Repeat("x", 1000)}, 0
		for i := range 1000 {
			switch err := w.Consume(r); {
			case err != nil && failed == 0:
				failed = i
			case err == nil && failed > 0:
				t.Fatalf("record %d after the error of %d: no error", i, failed)
			}
		}
		if failed == 0 || w.Flush() == nil {
			t.Errorf("form %d: failed at %d, Flush %v", form, failed, w.Flush())
		}
	}
}

func TestWriterRefusesWhatIsNotFinite(t *testing.T) {
	bad := math.NaN()
	for _, r := range []Record{
		&Priority{Priority: math.Inf(1)}, &Anomaly{Severity: bad}, &Routing{Priority: bad}, &Routing{Score: &bad}, &Routing{Best: &bad}, &Routing{Regret: &bad},
		&Routing{Candidates: []Candidate{{Score: bad}}}, &Routing{Candidates: []Candidate{{Breakdown: []Breakdown{{"a", bad}}}}},
	} {
		for _, form := range []Form{JSONLines, MessagePack} {
			var b bytes.Buffer
			w := NewWriter(&b, form)
			if err := w.Consume(&Header{Type: "header"}); err != nil {
				t.Fatal(err)
			}
			err := w.Consume(r)
			if err == nil || !strings.Contains(err.Error(), "record 2, "+r.Kind()) {
				t.Errorf("%+v: error %v", r, err)
			}
		}
	}
}

func TestFormOf(t *testing.T) {
	for name, want := range map[string]Form{"a.jsonl": JSONLines, "b/c.JSONL": JSONLines, "x.msgpack": MessagePack} {
		if got, err := FormOf(name); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "trace", "a.json", "a.csv", "jsonl"} {
		if _, err := FormOf(name); err == nil || !strings.Contains(err.Error(), ".jsonl or .msgpack") {
			t.Errorf("%q: error %v", name, err)
		}
	}
}

type failing struct {
	err   error
	taken int
}

func (f *failing) Consume(Record) error { f.taken++; return f.err }

func TestTeeGivesEverythingToAll(t *testing.T) {
	a, b := &failing{err: errors.New("a")}, &failing{}
	x := Tee(a, b)
	for range 3 {
		if err := x.Consume(&Header{}); !errors.Is(err, a.err) {
			t.Error(err)
		}
	}
	if a.taken != 3 || b.taken != 3 {
		t.Errorf("%d and %d records", a.taken, b.taken)
	}
}

func BenchmarkRoutingJSON(b *testing.B) {
	instance := 3
	w := NewWriter(io.Discard, JSONLines)
	r := &Routing{Type: "routing", At: 1_234_567, Request: 45_678, Class: "standard", Input: 512, Target: &instance, Reason: "least load"}
	b.ReportAllocs()
	for b.Loop() {
		w.Consume(r)
	}
}
