package actors

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"blis/metrics"
	"blis/setup"
	"blis/trace"
	"blis/vtime"
	"blis/workload"
)

// withFailures is c whose instances fail as the text of a file says; empty: none fails.
func withFailures(c Config, text string) Config {
	if text == "" {
		return c
	}
	c.Failures = "failures.yaml"
	c.Custom.Open = func(path string) (io.ReadCloser, error) {
		if path != c.Failures {
			return os.Open(path)
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}
	return c
}

// fourInstances is a run of four instances that fail as a text says.
func fourInstances(text string) Config {
	cfg := DefaultConfig()
	cfg.NumRequests, cfg.Rate, cfg.RoutingPolicy = 600, 100, "least-loaded"
	return withFailures(cfg, text)
}

// rowsOf runs cfg and returns the result and the outcomes, by number.
func rowsOf(t *testing.T, cfg Config) (*Result, []metrics.Outcome) {
	t.Helper()
	var rows []metrics.Outcome
	cfg.Row = func(r *Row) { rows = append(rows, *r.Outcome) }
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r, rows
}

func TestNoFailureChangesNothing(t *testing.T) {
	plain, _ := rowsOf(t, fourInstances(""))
	empty, _ := rowsOf(t, fourInstances("failures: []\nhealth_check: {interval: 1s}\nretry: {router: 3, client: 2}\n"))
	if plain.Digest != empty.Digest || empty.Failures != nil {
		t.Errorf("digest %s with an empty list, %s without; failures %v", empty.Digest, plain.Digest, empty.Failures)
	}
}

func TestFailuresWithoutEffectChangeNoRequest(t *testing.T) {
	_, plain := rowsOf(t, fourInstances(""))
	for name, text := range map[string]string{
		"factor 1":                        "failures:\n  - {slow: all, at: 1s, for: 2s, factor: 1}\n",
		"repaired before the first":       "failures:\n  - {crash: all, at: 0s, for: 1us}\n  - {crash: instance-2, at: 3us, for: 2us}\n",
		"after the last":                  "failures:\n  - {crash: all, at: 10000s, for: 1s}\n",
		"slow, and over before the first": "failures:\n  - {slow: all, at: 0s, for: 5us, factor: 100}\n",
	} {
		if r, rows := rowsOf(t, fourInstances(text)); !slices.Equal(rows, plain) || r.Failures.CutOff > 0 {
			t.Errorf("%s: the requests are others", name)
		}
	}
}

// Without retries a crash loses what is on the instance, and nothing else.
func TestCrashLosesWhatIsThere(t *testing.T) {
	const at = vtime.Time(3 * vtime.Second)
	_, plain := rowsOf(t, fourInstances(""))
	r, rows := rowsOf(t, fourInstances("failures:\n  - {crash: instance-1, at: 3s, for: 1s}\n"))
	there := int64(0)
	for i := range rows {
		p, o := &plain[i], &rows[i]
		lost := p.Instance == 1 && p.Routed <= at && p.Finished > at
		if lost {
			there++
		}
		if lost != (o.State == metrics.Failed) || lost && (o.Reason != metrics.InstanceLost || o.Instance != 1 || o.Finished != at+1) {
			t.Errorf("request %d: %v (%v) on instance %d at %v, and without the crash on %d from %v to %v", o.ID, o.State, o.Reason, o.Instance, o.Finished, p.Instance, p.Routed, p.Finished)
		}
		if !lost && p.Finished <= at && *p != *o {
			t.Errorf("request %d ended before the crash, and is another", o.ID)
		}
	}
	f := r.Failures
	if there == 0 || f.Failed != there || f.CutOff != there || f.Refused != 0 || f.Instances[1].Crashes != 1 || f.Instances[1].Down != vtime.Second {
		t.Errorf("%d requests were there, of which %+v", there, f)
	}
}

// With retries every request completes, and none with fewer tokens than it wants.
func TestLostRequestsAreTriedAgain(t *testing.T) {
	for name, retry := range map[string]string{
		"router":  "retry: {router: 9, migrate: true}",
		"clients": "retry: {client: 9, backoff: 10ms}",
		"both":    "retry: {router: 1, client: 9, backoff: 10ms}",
	} {
		r, rows := rowsOf(t, fourInstances("failures:\n  - {crash: instance-1, at: 3s, for: 1s}\n  - {crash: instance-2, at: 3500ms, for: 1s}\n"+retry))
		f := r.Failures
		for i := range rows {
			if rows[i].State != metrics.Completed {
				t.Errorf("%s: request %d: %v", name, i, rows[i].State)
			}
		}
		if f.Retried == 0 || f.Recovered != f.Retried || f.Failed != 0 || f.Redirected+f.Resent != f.CutOff || (f.Redirected > 0) != (name != "clients") || (f.Resent > 0) != (name != "router") {
			t.Errorf("%s: %+v", name, f.FailureCounts)
		}
	}
}

// A slow instance takes longer for the same, in proportion.
func TestSlowInstanceTakesLonger(t *testing.T) {
	one := func(text string) metrics.Outcome {
		cfg := fourInstances(text)
		cfg.NumInstances, cfg.NumRequests = 1, 1
		cfg.AsyncScheduling = new(false)
		_, rows := rowsOf(t, cfg)
		return rows[0]
	}
	usual, slow := one(""), one("failures:\n  - {slow: instance-0, at: 0s, factor: 3}\n")
	a, b := usual.LastToken.Sub(usual.Scheduled), slow.LastToken.Sub(slow.Scheduled)
	if steps := vtime.Duration(usual.Generated); b < 3*a || b > 3*(a+steps) {
		t.Errorf("%v for %v: want three times as long, with what each step is cut off at", b, a)
	}
}

// traceOf keeps the routing decisions and failures of a run.
type traceOf struct {
	routed   []trace.Routing
	failures []trace.Failure
}

func (c *traceOf) Consume(r trace.Record) error {
	switch r := r.(type) {
	case *trace.Routing:
		if r.Target == nil { // there is no instance
			return nil
		}
		x := *r
		target := *r.Target
		x.Target = &target
		c.routed = append(c.routed, x)
	case *trace.Failure:
		x := *r
		if r.Instance != nil {
			i := *r.Instance
			x.Instance = &i
		}
		c.failures = append(c.failures, x)
	}
	return nil
}

// With probes every 5 s, three of which must fail, the router sends requests into an instance that
// is down for 10 to 15 s.
func TestRouterSendsToADeadInstanceUntilProbesFail(t *testing.T) {
	for _, crash := range []string{"5s", "7300ms", "9999999us"} {
		cfg := fourInstances("failures:\n  - {crash: instance-1, at: " + crash + ", for: 30s}\nhealth_check: {interval: 5s, failures: 3, successes: 1}\n")
		cfg.NumRequests, cfg.Rate = 2000, 40
		var c traceOf
		cfg.Tracing = Tracing{Level: trace.Decisions, Consumer: &c}
		r, _ := rowsOf(t, cfg)
		at := map[string]vtime.Time{}
		refused := int64(0)
		for _, f := range c.failures {
			if f.Event != "cut_off" {
				at[f.Event] = f.At
			} else if f.At > at["crash"]+1 {
				refused++
			}
		}
		after, sent := at["down"].Sub(at["crash"]), int64(0)
		var last vtime.Time
		for _, x := range c.routed {
			if *x.Target == 1 && x.At > at["crash"] && x.At <= at["up"] {
				sent, last = sent+1, x.At
			}
		}
		switch {
		case after <= 10*vtime.Second || after > 15*vtime.Second:
			t.Errorf("crash at %s: known after %v, want 10 to 15 s", crash, after)
		case sent == 0 || last > at["down"] || at["down"].Sub(last) > vtime.Second:
			t.Errorf("crash at %s: %d requests sent there, the last at %v; it was known at %v", crash, sent, last, at["down"])
		case sent != refused || r.Failures.Refused != refused:
			t.Errorf("crash at %s: %d requests sent there, %d refused, %d counted", crash, sent, refused, r.Failures.Refused)
		}
		if up := at["up"].Sub(at["repair"]); up <= 0 || up > 5*vtime.Second {
			t.Errorf("crash at %s: known to be up %v after the repair", crash, up)
		}
		if x := r.Failures.Instances[1]; x.Detected != 1 || x.Detection != after {
			t.Errorf("crash at %s: detection %+v, want %v", crash, x, after)
		}
	}
}

// Blocks that an instance stored before it crashed are not expected in its cache, although the
// router hears of them after the crash.
func TestBlocksOfAnEarlierIncarnationAreDropped(t *testing.T) {
	expected := func(text string) int32 {
		cfg := fourInstances(text)
		cfg.NumInstances, cfg.RoutingPolicy, cfg.RoutingScorers = 1, "weighted", "prefix-affinity:1"
		cfg.PrefixIndex, cfg.KVEventDelay = "events", vtime.Second
		var labels workload.Labels
		labels.NameUsual()
		request := func(at vtime.Duration) workload.Request {
			r := workload.Request{Identity: workload.Identity{Arrival: vtime.Time(at), Input: 320}, Output: 5}
			r.Deadline, r.MaxOutput, r.Spans = vtime.Never, workload.Absent, []workload.Span{{Content: 7, Length: 320}}
			return r
		}
		source, err := workload.NewSlice([]workload.Request{request(0), request(2 * vtime.Second)}, labels)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Custom.Source = source
		_, rows := rowsOf(t, cfg)
		return rows[1].Expected
	}
	if n := expected(""); n == 0 {
		t.Fatal("nothing is expected without a crash")
	}
	if n := expected("failures:\n  - {crash: instance-0, at: 500ms, for: 1ms}\n"); n != 0 {
		t.Errorf("%d tokens are expected in a cache that was lost", n)
	}
}

// Failures by chance are the same whatever else happens.
func TestFailuresByChance(t *testing.T) {
	when := func(policy string) (list []trace.Failure) {
		cfg := fourInstances("")
		cfg.MTBF, cfg.MTTR, cfg.RoutingPolicy = 2*vtime.Second, setup.RandomDuration{Mean: 500 * vtime.Millisecond, CV: 1}, policy
		var c traceOf
		cfg.Tracing = Tracing{Level: trace.Decisions, Consumer: &c}
		rowsOf(t, cfg)
		for _, f := range c.failures {
			if f.Event == "crash" && f.At < vtime.Time(5*vtime.Second) {
				list = append(list, trace.Failure{At: f.At, Retries: nil, Event: instanceName(*f.Instance)})
			}
		}
		return list
	}
	a, b := when("round-robin"), when("least-loaded")
	if len(a) < 3 || !slices.Equal(a, b) {
		t.Errorf("crashes %v with one policy, %v with another", a, b)
	}
	for i := 1; i < len(a); i++ {
		if a[i].At == a[i-1].At {
			t.Errorf("%s and %s crash together at %v", a[i-1].Event, a[i].Event, a[i].At)
		}
	}
}

func TestBadFailures(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"failures:\n  - {crash: chat/decode/1, at: 1s}", ":2: failures[0].crash: is \"chat/decode/1\": want an instance, like instance-3, or all"},
		{"failures:\n  - {crash: node/h100/2, at: 1s}", ":2: failures[0].crash: is \"node/h100/2\": there are no nodes without node_pools (--node-pools): want an instance, like instance-3, or all"},
		{"failures:\n  - {crash: instance-9, at: 1s}", ":2: failures[0].crash: is \"instance-9\": there are instance-0 to instance-3 (--num-instances)"},
		{"failures:\n  - {link: instance-1, at: 1s, bandwidth: 0}", ":2: failures[0].link: is \"instance-1\": want an instance that pulls KV of others, or whose KV they pull (--architecture pd)"},
		{"failures:\n  - {link: decode/1, at: 1s, bandwidth: 2}", ":2: failures[0].link: is \"decode/1\": want an instance, like instance-3, or all"},
		{"failures:\n  - {crash: all}", ":2: failures[0]: want at, the time of the failure, or mtbf, the mean time to it"},
		{"failures:\n  - {crash: all, mtbf: 1h}", ":2: failures[0]: want mttr with mtbf"},
		{"failures:\n  - {crash: all, at: soon}", ":2: failures[0].at: is \"soon\": want a time from 0µs, like 600s"},
		{"failures:\n  - {slow: all, at: 1s, factor: 0.5}", ":2: failures[0].factor: is 0.5: want a number from 1 to 1e+06"},
		{"failures:\n  - {slow: all, at: 1s}", ":2: failures[0]: want factor with slow"},
		{"failures:\n  - {crash: all, att: 1s}", ":2: failures[0]"},
		{"failures: []\nhealth_check: {failures: 3}", ":2: health_check: want interval"},
		{"failures: []\nhealth_check: {interval: 5s, failures: 0}", ":2: health_check.failures: is 0: want 1 to 1000"},
		{"failures: []\nretry: {client: 99}", ":2: retry.client: is 99: want 0 to 30"},
		{"failures: []\nretry: {redirect_latency: 0}", ":2: retry.redirect_latency: is 0: want a time from 1µs"},
	} {
		cfg := withFailures(DefaultConfig(), x.text)
		cfg.LatencyModel = "roofline"
		if _, _, err := Check(cfg); err == nil || !strings.HasPrefix(err.Error(), "failures.yaml"+x.want) {
			t.Errorf("%s\n got %v\nwant failures.yaml%s", x.text, err, x.want)
		}
	}
}
