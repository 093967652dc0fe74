package survey

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// take is Take that must succeed.
func take(t *testing.T, source workload.Source, o Options) *Survey {
	t.Helper()
	s, err := Take(source, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sliceOf is a source of requests that are legal.
func sliceOf(t *testing.T, list []workload.Request, labels workload.Labels) workload.Source {
	t.Helper()
	s, err := workload.NewSlice(list, labels)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// few are four requests that differ in everything.
func few() ([]workload.Request, workload.Labels) {
	var labels workload.Labels
	labels.Tenants.Label("idle")
	labels.Tenants.Label("a")
	labels.Tenants.Label("b")
	labels.Classes.Label("standard")
	labels.Models.Label("")
	const second = vtime.Time(vtime.Second)
	list := []workload.Request{
		workload.NewRequest(3*second, 40, 1), workload.NewRequest(4*second, 50, 30),
		workload.NewRequest(4*second, 10, 0), workload.NewRequest(9*second, 100, 9),
	}
	for i := range list {
		r := &list[i]
		r.Source, r.Index, r.Tenant = workload.FirstSource, uint64(i), 2
	}
	list[2].Tenant, list[2].Hint, list[2].MaxOutput = 1, 2, 5
	list[1].Deadline, list[1].Session, list[3].Session = 5*second, 7, 7
	list[0].Session = 8
	list[0].Spans = []workload.Span{{Content: 1, Length: 32}}
	list[1].Spans, list[1].OutputContent = []workload.Span{{Content: 1, Length: 50}}, 2
	list[3].Spans = []workload.Span{{Content: 1, Length: 50}, {Content: 2, Length: 30}}
	return list, labels
}

func TestSurveySaysWhatTheSourceYields(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	instant := func(x vtime.Time) *vtime.Time { return &x }
	want := &Survey{
		Requests: 4, First: instant(3_000_000), Last: instant(9_000_000), Rate: number(0.5), Together: 1,
		GapCV: number(math.Sqrt(26.0*3/36 - 1)), // gaps 1, 0, 5
		// From 3 s on, three bins at most.
		Peak: number(0.6), PeakMean: number(1.2),
		Arrivals:    Timeline{BinMicros: 5_000_000, Counts: []int64{3, 1}},
		InputTokens: 200, OutputTokens: 40,
		Input:      &Summary{Mean: 50, CV: number(math.Sqrt(14200.0*4/40000 - 1)), P50: 45, P90: 85, P95: 92.5, P99: 98.5, Min: 10, Max: 100},
		Output:     &Summary{Mean: 10, CV: number(math.Sqrt(982.0*4/1600 - 1)), P50: 5, P90: 23.7, P95: 26.85, P99: 29.37, Min: 0, Max: 30},
		InputBars:  []Bucket{{8, 15, 1}, {16, 31, 0}, {32, 63, 2}, {64, 127, 1}},
		OutputBars: []Bucket{{0, 0, 1}, {1, 1, 1}, {2, 3, 0}, {4, 7, 0}, {8, 15, 1}, {16, 31, 1}},
		Tenants:    []Share{{"b", 3, 190, 40}, {"a", 1, 10, 0}},
		Classes:    []Share{{"standard", 4, 200, 40}},
		Models:     []Share{{"", 4, 200, 40}},
		Sessions:   2, SessionRequests: 3, Rounds: &Summary{Mean: 1.5, CV: number(math.Sqrt(10.0/9 - 1)), P50: 1.5, P90: 1.9, P95: 1.95, P99: 1.99, Min: 1, Max: 2},
		WithDeadline: 1, WithLimit: 1, WithHint: 1,
		// The second finds 32 tokens of the first, the last 50 + 29 of the
		// second: its 30th output token was never computed.
		Reuse: Reuse{BlockSize: 16, Named: 162, NamedShare: number(0.81), Ideal: 32 + 64, IdealShare: number(0.48), HitRequests: 2},
	}
	list, labels := few()
	got := take(t, sliceOf(t, list, labels), Options{})
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-14*math.Abs(a) })); d != "" {
		t.Error(d)
	}
}

func TestSurveyOfNothing(t *testing.T) {
	got := take(t, sliceOf(t, nil, workload.Labels{}), Options{BlockSize: 8})
	want := &Survey{
		Arrivals: Timeline{Counts: []int64{}}, InputBars: []Bucket{}, OutputBars: []Bucket{},
		Tenants: []Share{}, Classes: []Share{}, Models: []Share{}, Reuse: Reuse{BlockSize: 8},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What has no spread and no length in time has no rate and no coefficient.
func TestSurveyOfEqualRequestsAtOnce(t *testing.T) {
	var list []workload.Request
	for i := range 3 {
		r := workload.NewRequest(5, 16, 0)
		r.Source, r.Index = workload.FirstSource, uint64(i)
		list = append(list, r)
	}
	s := take(t, sliceOf(t, list, workload.Labels{}), Options{})
	if s.Rate != nil || s.Peak != nil || s.PeakMean != nil || s.GapCV != nil || s.Output.CV != nil || *s.Input.CV != 0 || s.Together != 2 {
		t.Errorf("%+v", s)
	}
	if d := cmp.Diff(Timeline{1, []int64{3}}, s.Arrivals); d != "" {
		t.Error(d)
	}
}

// rogue is a source that keeps no promises.
type rogue struct {
	list   []workload.Request
	fails  error
	labels workload.Labels
}

func (s *rogue) Pull(r *workload.Request) (bool, error) {
	if len(s.list) == 0 {
		return false, s.fails
	}
	*r, s.list = s.list[0], s.list[1:]
	return true, nil
}
func (s *rogue) Labels() *workload.Labels { return &s.labels }

func TestSurveyRefusesWhatIsNoWorkload(t *testing.T) {
	good := workload.NewRequest(5, 16, 1)
	bad := func(change func(*workload.Request)) []workload.Request {
		r := good
		change(&r)
		return []workload.Request{good, r}
	}
	fault := errors.New("row 7: no")
	for _, c := range []struct {
		name    string
		source  *rogue
		options Options
		want    string
	}{
		{"options", &rogue{}, Options{BlockSize: -1}, "block-size-in-tokens: -1: want at least 1, 0 for 16"},
		{"source", &rogue{list: bad(func(*workload.Request) {}), fails: fault}, Options{}, "row 7: no"},
		{"request", &rogue{list: bad(func(r *workload.Request) { r.Input = 0 })}, Options{}, "the workload yields a request 1 that cannot be: input: 0: want at least 1 token"},
		{"order", &rogue{list: bad(func(r *workload.Request) { r.Arrival = 4 })}, Options{}, "the workload yields an arrival at 4µs after one at 5µs: want order of arrival"},
		{"tenant", &rogue{list: bad(func(r *workload.Request) { r.Tenant = 3 })}, Options{}, "the workload yields the tenant 3: want a label of the table, below 1"},
		{"class", &rogue{list: bad(func(r *workload.Request) { r.Class = 1 })}, Options{}, "the workload yields the class 1: want a label of the table, below 1"},
		{"model", &rogue{list: bad(func(r *workload.Request) { r.Model = 9 })}, Options{}, "the workload yields the model 9: want a label of the table, below 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.source.labels.Tenants.Label("")
			c.source.labels.Classes.Label("")
			c.source.labels.Models.Label("")
			if s, err := Take(c.source, c.options); err == nil || err.Error() != c.want || s != nil {
				t.Errorf("got %v and %v, want %s", s, err, c.want)
			}
		})
	}
}

// endless sends 100 requests a second with random lengths, so many of them.
func endless(t testing.TB, requests int64) workload.Source {
	s, err := traffic.NewSynthetic(traffic.SyntheticConfig{
		Seed: 1, Rate: 100, Requests: requests, Arrival: draw.Gamma, CV: 2, PrefixTokens: 100,
		Input: traffic.Normal{Mean: 512, Stdev: 256, Min: 2, Max: 7000}, Output: traffic.Normal{Mean: 256, Stdev: 128, Min: 2, Max: 7000},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Who watches can end a survey, and gets what there was until then.
func TestWatchedSurvey(t *testing.T) {
	enough := errors.New("enough")
	var seen []int64
	s, err := Take(endless(t, 1<<40), Options{Watch: func(n int64) error {
		if seen = append(seen, n); n >= 2*between {
			return enough
		}
		return nil
	}})
	if !errors.Is(err, enough) || s == nil {
		t.Fatalf("%v, %v", s, err)
	}
	whole := take(t, endless(t, 2*between), Options{})
	if d := cmp.Diff(whole, s); d != "" || !cmp.Equal(seen, []int64{0, between, 2 * between}) {
		t.Errorf("seen %v; %s", seen, d)
	}
}

// A survey holds counts, not requests.
func TestMemoryDoesNotGrowWithRequests(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const early, late = 64 * between, 256 * between // a quarter of a million, a million
	var before int64
	s := take(t, endless(t, late), Options{Watch: func(n int64) error {
		if n == early {
			before = heap()
		}
		if n == late-between {
			if grown := heap() - before; grown > 256<<10 {
				t.Errorf("%d bytes more after %d requests than after %d", grown, n, early)
			}
		}
		return nil
	}})
	if s.Requests != late || before == 0 {
		t.Errorf("%d requests", s.Requests)
	}
}
