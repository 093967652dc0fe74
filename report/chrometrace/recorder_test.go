package chrometrace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"blis/actors"
	"blis/internal/chromecheck"
	"blis/internal/testsize"
	"blis/metrics"
	"blis/report/chrometrace"
	"blis/trace"
	"blis/vtime"
	"blis/workload"
)

// recorder returns a Recorder of everything, at most so many events.
func recorder(t testing.TB, events int) *chrometrace.Recorder {
	t.Helper()
	r, err := chrometrace.New(chrometrace.Options{Events: events, To: vtime.Never})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// written is the trace, checked.
func written(t testing.TB, r *chrometrace.Recorder, end chrometrace.End) *chromecheck.File {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b, end); err != nil {
		t.Fatal(err)
	}
	f, err := chromecheck.Read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// random gives a Recorder what a run could, and also what none would: steps that a crash cut off,
// requests whose times go back, lots of everything.
func random(draw *rand.Rand, r *chrometrace.Recorder, n int) {
	instances := 1 + draw.IntN([]int{1, 5, 2000}[draw.IntN(3)])
	now := vtime.Time(0)
	ready := make([]vtime.Time, instances)
	r.Consume(&trace.Header{Seed: 7})
	for id := range n {
		now += vtime.Time(draw.IntN(2000))
		i := draw.IntN(instances)
		some := int64(draw.IntN(1 + id))
		switch draw.IntN(12) {
		case 0:
			r.Consume(&trace.Preemption{At: now, Instance: i, Request: some})
		case 1:
			start := now - vtime.Time(draw.IntN(int(min(now, 5000))+1))
			x := &trace.Transfer{At: now, Instance: i, Request: some, Reason: "offload", From: "gpu", To: "cpu", Submitted: start, Start: start, End: now, Noticed: now}
			if draw.IntN(2) == 0 {
				x.Reason, x.From, x.To = "reload", "cpu", "gpu"
			}
			r.Consume(x)
		case 2:
			r.Consume(&trace.Anomaly{At: now, Name: "blocked_head", Instance: &i, Requests: []int64{some}, Severity: draw.Float64()})
		case 3:
			r.Consume(&trace.Anomaly{At: now, Name: "scale_oscillation", Severity: 1e300})
		case 4:
			event := []string{"crash", "repair", "slow"}[draw.IntN(3)]
			r.Consume(&trace.Failure{At: now, Event: event, Instance: &i})
			if event == "crash" {
				ready[i] = now
			}
		case 5:
			r.Consume(&trace.Scale{At: now, Action: "up", From: int32(draw.IntN(3)), To: int32(draw.IntN(3)), Reason: fmt.Sprint("load ", draw.Float64())})
		case 6, 7, 8:
			r.Request(request(draw, int64(id), now, instances))
		default:
			if now < ready[i] {
				break
			}
			ready[i] = now + vtime.Time(1+draw.IntN(3000))
			prefill := int32(max(0, draw.IntN(300)-200))
			r.Consume(&trace.Batch{At: now, Instance: i, Running: int32(draw.IntN(3)), Waiting: 1, DecodeTokens: 5, PrefillTokens: prefill, UsedBlocks: int64(draw.IntN(4)), End: ready[i]})
		}
	}
}

// request is a request that ended at now, or has not.
func request(draw *rand.Rand, id int64, now vtime.Time, instances int) *metrics.Outcome {
	o := &metrics.Outcome{Progress: metrics.NoProgress(), HandOver: metrics.NoHandOver(), Instance: int32(draw.IntN(instances+1) - 1), Admitted: now, Finished: now}
	o.ID, o.Arrival = id, now-vtime.Time(draw.IntN(int(now)+1))
	at := func() vtime.Time {
		if draw.IntN(10) == 0 {
			return vtime.Never
		}
		return o.Arrival + vtime.Time(draw.IntN(int(now-o.Arrival)+1))
	}
	o.Routed, o.Queued, o.Scheduled, o.FirstToken = at(), at(), at(), at()
	if draw.IntN(8) == 0 {
		o.Finished, o.State = vtime.Never, metrics.Running
	}
	if draw.IntN(3) == 0 && now > o.Arrival+4 {
		h := &o.HandOver
		h.Instance, h.Queued, h.Scheduled, h.Ended = int32(draw.IntN(instances)), o.Arrival+1, o.Arrival+2, o.Arrival+4
		if h.PullStart = at(); h.PullStart < h.Ended {
			h.PullStart = vtime.Never
		}
	}
	return o
}

// Whatever a Recorder gets, its trace balances and has at most as many events as asked for.
func TestRandomRecords(t *testing.T) {
	seed := rand.Uint64()
	thinned := map[string]int{}
	cases := testsize.Of(40, 150, 600)
	for i := range cases {
		draw := rand.New(rand.NewPCG(seed, uint64(i)))
		most := []int{1000, 2000, 50_000}[draw.IntN(3)]
		r := recorder(t, most)
		random(draw, r, []int{0, 10, 500, 5000}[draw.IntN(4)])
		var b bytes.Buffer
		if err := r.Write(&b, chrometrace.End{At: 1000}); err != nil {
			t.Fatal(err)
		}
		f, err := chromecheck.Read(b.Bytes())
		if err != nil {
			t.Fatalf("seed %d, case %d: %v", seed, i, err)
		}
		x := f.OtherData.Thinned
		for what, is := range map[string]bool{"merged": x.Merged, "steps": x.Bin > 0, "requests": x.Hash, "instances": x.Below != nil} {
			if is {
				thinned[what]++
			}
		}
	}
	t.Logf("seed %d, %d cases: thinned %v", seed, cases, thinned)
	if len(thinned) < 4 {
		t.Errorf("seed %d: only %v were ever thinned", seed, thinned)
	}
}

// A recorder holds no more than its cap allows, however long a run is.
func TestMemoryIsBounded(t *testing.T) {
	few, many := allocated(t, 10_000), allocated(t, 100_000)
	t.Logf("%d and %d bytes", few, many)
	if many > 4*few {
		t.Errorf("%d bytes allocated for 100,000 records, %d for 10,000", many, few)
	}
}

func allocated(t *testing.T, n int) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := recorder(t, 5000)
	end := vtime.Time(0)
	for id := range n {
		start := end
		end += 10
		batch = trace.Batch{At: start, End: end, Running: int32(id % 7)}
		r.Consume(&batch)
		if id%10 == 0 {
			o := metrics.Outcome{Progress: metrics.NoProgress(), HandOver: metrics.NoHandOver(), Finished: end, Admitted: start}
			o.ID, o.Arrival = int64(id), start
			r.Request(&o)
		}
	}
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

var batch trace.Batch

// What phases a request has, worked out by hand.
func TestPhases(t *testing.T) {
	o := &metrics.Outcome{Progress: metrics.NoProgress(), HandOver: metrics.NoHandOver(), Instance: 0, Admitted: 100, Finished: 900}
	o.Arrival, o.Routed, o.Queued, o.Scheduled, o.FirstToken = 100, 150, 200, 200, 500
	whole := "b request 100; b gateway 100; e gateway 150; b front_end 150; e front_end 200; b prefill 200; e prefill 500; b decode 500; e decode 900; e request 900"
	check := func(name string, o *metrics.Outcome, options chrometrace.Options, want string) {
		t.Helper()
		options.Events = 1000
		r, err := chrometrace.New(options)
		if err != nil {
			t.Fatal(err)
		}
		r.Request(o)
		var parts []string
		for _, e := range written(t, r, chrometrace.End{At: 1000}).Events {
			if e.Ph != "M" {
				parts = append(parts, fmt.Sprintf("%s %s %d", e.Ph, e.Name, *e.Ts))
			}
		}
		if got := strings.Join(parts, "; "); got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
	all := chrometrace.Options{To: vtime.Never}
	check("completed", o, all, whole)
	check("in a window", o, chrometrace.Options{From: 160, To: 450}, "b request 160; b front_end 160; e front_end 200; b prefill 200; e prefill 450; e request 450")
	check("on another instance", o, chrometrace.Options{To: vtime.Never, Instances: chrometrace.Instances{{First: 1, Last: 1}}}, "")
	check("before the window", o, chrometrace.Options{From: 900, To: 1000}, "")
	running := *o
	running.FirstToken, running.Finished, running.State = vtime.Never, vtime.Never, metrics.Running
	check("running", &running, all, "b request 100; b gateway 100; e gateway 150; b front_end 150; e front_end 200; b prefill 200; e prefill 1000; e request 1000")
	rejected := metrics.Outcome{Progress: metrics.NoProgress(), HandOver: metrics.NoHandOver(), Instance: -1, Admitted: 100, Finished: 100, State: metrics.Rejected}
	rejected.Arrival = 100
	check("rejected", &rejected, all, "b request 100; e request 100")
	handed := *o
	handed.HandOver = metrics.HandOver{Instance: 1, Queued: 160, Scheduled: 170, Ended: 190, PullStart: 210, PullEnd: 240}
	handed.Scheduled = 250
	handed.FirstToken = 300
	check("handed over", &handed, all, "b request 100; b gateway 100; e gateway 150; b front_end 150; e front_end 160; b prefill_elsewhere 160; b remote_prefill 160; b queue 160; e queue 170; b prefill 170; "+
		"s hand_over 189; e prefill_elsewhere 190; b hand_over 190; e prefill 190; e remote_prefill 190; e hand_over 200; b queue 200; e queue 210; b transfer 210; f hand_over 250; e transfer 250; b decode 250; e decode 900; e request 900")
	check("the prefill alone", &handed, chrometrace.Options{To: vtime.Never, Instances: chrometrace.Instances{{First: 1, Last: 1}}},
		"b remote_prefill 160; b queue 160; e queue 170; b prefill 170; e prefill 190; e remote_prefill 190")
}

// What steps and counters there are, worked out by hand.
func TestSteps(t *testing.T) {
	x, first := 0, 1
	r := recorder(t, 1000)
	for _, b := range []trace.Batch{
		{At: 10, End: 20, Running: 2, PrefillTokens: 30, DecodeTokens: 1, UsedBlocks: 5},
		{At: 15, End: 30, Running: 2, DecodeTokens: 2, UsedBlocks: 5}, // formed while the one before executes
		{At: 30, End: 40, Running: 1, DecodeTokens: 1, UsedBlocks: 6},
		{At: 50, End: 60, Running: 1, DecodeTokens: 1, UsedBlocks: 6}, // after a pause
	} {
		r.Consume(&b)
	}
	r.Consume(&trace.Batch{At: 10, End: 100, Instance: 1, Running: 3, DecodeTokens: 3, UsedBlocks: 9})
	r.Consume(&trace.Failure{At: 40, Event: "crash", Instance: &first})
	r.Consume(&trace.Failure{At: 45, Event: "repair", Instance: &first})
	r.Consume(&trace.Batch{At: 45, End: 55, Instance: 1, Running: 3, DecodeTokens: 3, UsedBlocks: 9})
	r.Consume(&trace.Anomaly{At: 60, Name: "blocked_head", Instance: &x, Requests: []int64{4}, Severity: 2})
	r.Consume(&trace.Scale{At: 70, Action: "up", From: 2, To: 3})
	r.Consume(&trace.Scale{At: 71, Action: "hold", From: 3, To: 3})
	r.Consume(&trace.Scale{At: 72, Action: trace.NoCapacity, From: 3, To: 4})
	got := map[int64][]string{}
	for _, e := range written(t, r, chrometrace.End{At: 100}).Events {
		text := fmt.Sprintf("%s %s", e.Ph, e.Name)
		switch e.Ph {
		case "M":
			continue
		case "C":
			text = fmt.Sprint(text, " ", e.Args)
		case "X":
			text = fmt.Sprintf("%s for %d", text, *e.Dur)
		}
		got[*e.Pid] = append(got[*e.Pid], fmt.Sprintf("%d %s", *e.Ts, text))
	}
	for pid, want := range map[int64]string{
		1: "70 C instances map[wanted:3]; 70 i scale_up; 72 i no_capacity",
		2: "10 X prefill+decode for 10; 10 C requests map[running:2 waiting:0]; 10 C KV blocks map[used:5]; 20 X decode for 10; 30 X decode for 10; 30 C requests map[running:1 waiting:0]; " +
			"30 C KV blocks map[used:6]; 40 C requests map[running:0 waiting:0]; 50 X decode for 10; 50 C requests map[running:1 waiting:0]; 50 C KV blocks map[used:6]; 60 C requests map[running:0 waiting:0]; 60 i blocked_head",
		3: "10 X decode for 30; 10 C requests map[running:3 waiting:0]; 10 C KV blocks map[used:9]; 40 C requests map[running:0 waiting:0]; 40 C requests map[running:0 waiting:0]; 40 C KV blocks map[used:0]; 40 i crash; " +
			"45 X decode for 10; 45 C requests map[running:3 waiting:0]; 45 C KV blocks map[used:9]; 45 i repair; 55 C requests map[running:0 waiting:0]",
	} {
		if text := strings.Join(got[pid], "; "); text != want {
			t.Errorf("process %d: %s\nwant %s", pid, text, want)
		}
	}
}

// Names that break formats are text; 10 KB of one are cut off.
func TestNamesAreText(t *testing.T) {
	names := []string{`<script>alert(1)</script>`, `"},{"ph":"X`, "\u202ertl\u2028\x00", "\xff\xfe", strings.Repeat("長", 3500)}
	r := recorder(t, 1000)
	for i, name := range names {
		o := &metrics.Outcome{Progress: metrics.NoProgress(), HandOver: metrics.NoHandOver(), Instance: 0, Finished: 10}
		o.ID, o.Tenant = int64(i), workload.Label(i)
		r.Request(o)
		r.Consume(&trace.Scale{At: 5, Pool: name, Action: "up", From: 1, To: 2, Reason: name})
	}
	f := written(t, r, chrometrace.End{At: 10, Tenants: names, Instances: names[1:2]})
	for i, name := range names {
		want := strings.ToValidUTF8(name, "\ufffd")
		if i == 3 {
			want = "\ufffd\ufffd"
		}
		if len(name) > 200 {
			want = strings.Repeat("長", 66) + "…"
		}
		found := 0
		for _, e := range f.Events {
			for _, key := range []string{"tenant", "pool", "reason", "name"} {
				if e.Args[key] == want {
					found++
				}
			}
		}
		if found < 3 {
			t.Errorf("%.30q: found %d times, want 3", name, found)
		}
	}
}

// Errors of the file come back, and nothing is written after them.
func TestWriteErrors(t *testing.T) {
	for _, room := range []int{0, 300_000} {
		r := recorder(t, 100_000)
		random(rand.New(rand.NewPCG(1, 1)), r, 20_000)
		w := &full{room: room}
		if err := r.Write(w, chrometrace.End{}); !errors.Is(err, errFull) || w.after > 0 {
			t.Errorf("%v, %d pieces after it", err, w.after)
		}
	}
}

var errFull = errors.New("full")

type full struct{ room, after int }

func (f *full) Write(b []byte) (int, error) {
	if f.room < 0 {
		f.after++
	}
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// Every executor of a run gives the same trace, also when it is thinned while the run goes on.
func TestExecutorsGiveTheSameTrace(t *testing.T) {
	for _, kind := range []string{"plain", "pd"} {
		var first []byte
		for _, x := range []actors.Execution{{Sequential: true}, {Sequential: true, StepByStep: true}, {Workers: 1}, {Workers: 2, Inline: -1}, {Workers: 3}, {Workers: 8}} {
			cfg := actors.DefaultConfig()
			if kind == "pd" {
				cfg.Architecture = "pd"
			}
			cfg.NumRequests, cfg.NumInstances, cfg.Rate = 400, 4, 60
			r := recorder(t, 3000)
			cfg.Execution = x
			cfg.Tracing = actors.Tracing{Level: trace.Detailed, Consumer: r}
			cfg.Row = func(row *actors.Row) { r.Request(row.Outcome) }
			result, err := actors.Run(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := r.Write(&b, chrometrace.End{At: result.End, Instances: result.Names.Instances}); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = b.Bytes()
			}
			if !bytes.Equal(b.Bytes(), first) {
				t.Errorf("%s: %+v gives another trace", kind, x)
			}
		}
		if f, err := chromecheck.Read(first); err != nil || !f.OtherData.Thinned.Hash {
			t.Errorf("%s: %v: not thinned", kind, err)
		}
	}
}

func TestParseInstances(t *testing.T) {
	for text, want := range map[string]string{"3": "3", "0-3,7": "0-3,7", "7, 0-3": "0-3,7", "1,2,3": "1-3", "5-9,0-6": "0-9"} {
		s, err := chrometrace.ParseInstances(strings.Split(text, ","))
		if err != nil || s.String() != want {
			t.Errorf("%s is %v, %v", text, s, err)
		}
		back, err := chrometrace.ParseInstances(strings.Split(s.String(), ","))
		if err != nil || back.String() != want || !back.Has(int32(back.Last())) || back.Has(int32(back.Last()+1)) {
			t.Errorf("%s reads back as %v", want, back)
		}
	}
	for _, text := range []string{"", "-1", "3-", "a", "2-1", "99999999", "0x1"} {
		if s, err := chrometrace.ParseInstances([]string{text}); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}
