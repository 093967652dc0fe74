package metrics

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func TestQueueImbalance(t *testing.T) {
	for _, x := range []struct {
		name    string
		waiting []int64
		life    []int64
		want    int64
	}{
		{"one of three has all", []int64{30, 0, 0}, []int64{10, 10, 10}, 1},
		{"exactly twice the mean", []int64{20, 5, 5}, []int64{10, 10, 10}, 0},
		{"a little more", []int64{21, 5, 4}, []int64{10, 10, 10}, 1},
		{"two of five", []int64{50, 50, 1, 1, 1}, []int64{10, 10, 10, 10, 10}, 2},
		{"one of two has all", []int64{0, 30}, []int64{10, 10}, 1},
		{"but less than one waits in the mean", []int64{9, 0}, []int64{10, 10}, 0},
		{"one waits in the mean", []int64{10, 0}, []int64{10, 10}, 1},
		{"exactly four times the other", []int64{8, 32}, []int64{10, 10}, 0},
		{"a little more than four times", []int64{8, 33}, []int64{10, 10}, 1},
		{"two of which one lived twice as long", []int64{17, 32}, []int64{10, 80}, 1},
		{"two past int64", []int64{3 << 60, 1}, []int64{1 << 60, 1 << 60}, 1},
		{"one that did not live", []int64{0, 0}, []int64{0, 10}, 0},
		{"one that lived shortly", []int64{30, 30}, []int64{10, 90}, 1},
		{"nobody waits", []int64{0, 0, 0}, []int64{10, 10, 10}, 0},
		{"no time passed", []int64{0, 0, 0}, []int64{0, 0, 0}, 0},
		{"products past int64", []int64{3 << 60, 0, 0}, []int64{1 << 60, 1 << 60, 1 << 60}, 1},
		{"lives past int64", []int64{10, 1, 0, 0, 0}, []int64{1 << 62, 1 << 62, 1 << 62, 1 << 62, 1 << 62}, 1},
		{"no instances", nil, nil, 0},
	} {
		counters := make([]Counters, len(x.waiting))
		for i := range counters {
			counters[i].WaitingMicros, counters[i].LifeMicros = x.waiting[i], x.life[i]
		}
		if got := int64(len(imbalanced(counters))); got != x.want {
			t.Errorf("%s: %d, want %d", x.name, got, x.want)
		}
	}
}

func TestSLOViolationsPerClassAndTarget(t *testing.T) {
	// Latencies with overheads: TTFT 1007, TPOT 767, E2E 2541.
	timedOut := completed()
	timedOut.State, timedOut.Finished = TimedOut, 4000
	for _, x := range []struct {
		name    string
		targets Targets
		o       Outcome
		want    Violations
	}{
		{"within all", Targets{1007, 767, 2541}, completed(), Violations{}},
		{"late for all", Targets{1006, 766, 2540}, completed(), Violations{1, 1, 1}},
		{"late for one", Targets{1007, 766, 2541}, completed(), Violations{TPOT: 1}},
		{"one target only", Targets{E2E: 1}, completed(), Violations{E2E: 1}},
		{"no output, no first token", Targets{1, 1, 1}, prefillOnly(), Violations{E2E: 1}},
		{"a first token before it timed out", Targets{1, 1, 1}, timedOut, Violations{TTFT: 1}},
		{"dropped", Targets{1, 1, 1}, dropped(), Violations{}},
	} {
		o := options()
		o.Targets = []Targets{{}, x.targets}
		a, b := NewRecorder(o), NewRecorder(o)
		x.o.Class = 1
		for i, r := range []*Recorder{a, b} {
			x.o.ID = int64(i)
			r.Record(&x.o)
			recordITL(r, &x.o)
		}
		run := named(Run{Instances: []*Recorder{a, b}, Injected: 2, End: 9000})
		report, err := Collect(run)
		if err != nil {
			t.Fatal(err)
		}
		list := report.Anomalies.SLOViolation
		want := Violations{2 * x.want.TTFT, 2 * x.want.TPOT, 2 * x.want.E2E}
		if len(list) != 1 || list[0].Class != run.Classes[1] || list[0].Violations != want {
			t.Errorf("%s: %+v, want %+v of %s alone", x.name, list, want, run.Classes[1])
		}
	}
}

// Requests that are late change the digest, as everything measured does;
// nobody being late leaves it as it was without the counts.
func TestLateRequestsAreFolded(t *testing.T) {
	var late, inTime cell
	late.late.TPOT = 1
	a, b := &Recorder{cells: []*cell{&late}, keys: []cellKey{{}}}, &Recorder{cells: []*cell{&inTime}, keys: []cellKey{{}}}
	if a.Fold() == b.Fold() {
		t.Error("a request too late makes no difference")
	}
}

// Slow pairs against a look at every pair, whoever recorded them in whatever
// order.
func TestSlowPairsEqualEveryPair(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 9))
	for range 200 {
		o := options()
		o.SlowPairs = r.IntN(10) > 0
		run := named(Run{Instances: []*Recorder{NewRecorder(o), NewRecorder(o), NewRecorder(o)}, End: 1 << 40})
		var all []Outcome
		for i := range int64(r.IntN(60)) {
			x := completed()
			x.ID, x.Class = i, workload.Label(r.IntN(2))
			shift := vtime.Time(r.IntN(40) * 50)
			x.Arrival, x.Admitted, x.Routed, x.Queued, x.Scheduled = shift, shift, shift, shift, shift
			x.FirstToken = shift + 1 + vtime.Time(r.IntN(8)*100)
			x.LastToken = x.FirstToken + 500
			x.Finished = x.LastToken
			if r.IntN(5) == 0 {
				x.State = TimedOut
			}
			all = append(all, x)
		}
		want := int64(0)
		for i := range all {
			for k := range all {
				a, b := &all[i], &all[k]
				e, ok := a.E2E(o.TokenOverhead, o.RequestOverhead)
				f, fine := b.E2E(o.TokenOverhead, o.RequestOverhead)
				if ok && fine && a.Class == b.Class && a.Arrival < b.Arrival && e > 2*f {
					want++
				}
			}
		}
		r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		for i := range all {
			recorder := run.Instances[r.IntN(3)]
			recorder.Record(&all[i])
			recordITL(recorder, &all[i])
		}
		run.Injected = int64(len(all))
		for range 2 { // a second report finds what the first did
			report, err := Collect(run)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			switch got := report.Anomalies.SlowWithinClass; {
			case !o.SlowPairs && got != nil:
				t.Errorf("seed %d: %d pairs that nobody asked for", seed, *got)
			case o.SlowPairs && (got == nil || *got != want):
				t.Errorf("seed %d: %v pairs, want %d", seed, got, want)
			}
			slices.Reverse(run.Instances)
		}
	}
}

func TestSlowPairIsMoreThanTwiceAsSlow(t *testing.T) {
	for _, x := range []struct {
		name string
		list []arrivalAndE2E
		want int64
	}{
		{"twice", []arrivalAndE2E{{0, 200}, {1, 100}}, 0},
		{"more", []arrivalAndE2E{{0, 201}, {1, 100}}, 1},
		{"the later one", []arrivalAndE2E{{0, 100}, {1, 201}}, 0},
		{"of the same time", []arrivalAndE2E{{1, 201}, {1, 100}}, 0},
		{"one against many, and one more", []arrivalAndE2E{{0, 900}, {1, 100}, {2, 100}, {3, 500}, {4, 100}}, 4},
		{"nobody", nil, 0},
	} {
		if got := slowPairs(x.list); got != x.want {
			t.Errorf("%s: %d, want %d", x.name, got, x.want)
		}
	}
}

// TestClassInversionsOfRecorders: those of measured requests are counted, over
// all recorders, and are part of a digest only where there are any.
func TestClassInversionsOfRecorders(t *testing.T) {
	o := Options{From: 10, To: 20}
	r, other, none := NewRecorder(o), NewRecorder(o), NewRecorder(o).Fold()
	if want := foldInts(0, 0, (&series{}).fold()); none != want {
		t.Errorf("the digest of nothing is %x, want %x", none, want)
	}
	for _, c := range []struct {
		arrival  vtime.Time
		measured bool
	}{{9, false}, {20, false}, {10, true}, {19, true}} {
		if before := r.Fold(); r.ClassInversion(c.arrival) != c.measured || (r.Fold() != before) != c.measured {
			t.Errorf("arrival at %v: want measured and in the digest: %v", c.arrival, c.measured)
		}
		if r.inversions == 0 && r.Fold() != none {
			t.Error("a digest of no inversions is another")
		}
	}
	other.ClassInversion(15)
	report, err := Collect(Run{Routers: []*Recorder{r}, Instances: []*Recorder{other}, Counters: make([]Counters, 1), InstanceNames: []string{"a"}})
	if err != nil || report.Anomalies.ClassInversion != 3 {
		t.Errorf("%d class inversions (%v), want 3", report.Anomalies.ClassInversion, err)
	}
}

func TestAnomaliesPrintEveryKey(t *testing.T) {
	text, err := json.Marshal(Anomalies{SLOViolation: SLOViolations{}})
	want := `{"priority_inversion":0,"class_inversion":0,"head_of_line_blocking":0,"blocked_head":0,"queue_imbalance":0,"slow_within_class":null,"preemption_storm":0,"scale_oscillation":null,"shadow_divergence":null,"kv_thrashing":null,"slo_violation":{}}`
	if err != nil || string(text) != want {
		t.Errorf("%s (%v), want %s", text, err, want)
	}
}

func BenchmarkSlowPairs(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	list := make([]arrivalAndE2E, 100_000)
	for b.Loop() {
		for i := range list {
			list[i] = arrivalAndE2E{int64(i), r.Int64N(1e7)}
		}
		slowPairs(list)
	}
}
