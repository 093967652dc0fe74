package actors

import (
	"slices"
	"strings"
	"testing"

	"blis/trace"
	"blis/vtime"
	"blis/workload"
)

// TestTraceOfThrashing: the store of the first request, of four entries, ends at 1,100 and
// acts then. The GPU keeps nothing. A load at 2,099 is less than 1,000 µs later, one at
// 2,100 is not; the trace has the former, with the number that the report has.
func TestTraceOfThrashing(t *testing.T) {
	for _, x := range []struct {
		at      int64
		entries int64
		records []string
	}{
		{2099, 3, []string{`{"type":"anomaly","at_us":2099,"name":"kv_thrashing","detail":"","instance":0,"requests":[1],"severity":3}`}},
		{2100, 0, nil},
	} {
		c, k := plain(), &kept{}
		c.EnablePrefixCaching, c.KVCPUBlocks, c.KVTransferLatency, c.KVTransferBandwidth.Rate, c.KVIdleRelease = false, 10, 100, 1<<60, true
		c.Tracing = Tracing{Level: trace.Detailed, Consumer: k}
		source, err := workload.NewSlice([]workload.Request{sharing(1, request(0, 64, 1)), sharing(1, request(vtime.Time(x.at), 64, 1))}, workload.Labels{})
		if err != nil {
			t.Fatal(err)
		}
		c.Custom.Source = source
		r, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.of("anomaly"); !slices.Equal(got, x.records) || *r.Report.Anomalies.KVThrashing != x.entries {
			t.Errorf("a load at %d: %d entries, records %v; want %d, %v", x.at, *r.Report.Anomalies.KVThrashing, got, x.entries, x.records)
		}
	}
}

// TestTraceOfAPassAtADeadline: while a load of three of the GPU's six blocks is under way, from
// 10,000 to 12,500, a request that does not fit waits before one that does. It times out
// at 11,000. No step ends then: the deadline itself calls for the pass that admits the
// other one.
func TestTraceOfAPassAtADeadline(t *testing.T) {
	c, k := plain(), &kept{}
	c.TotalKVBlocks, c.KVCPUBlocks, c.KVTransferLatency, c.KVTransferBandwidth.Rate, c.KVIdleRelease = 6, 20, 2500, 1<<60, true
	c.Tracing = Tracing{Level: trace.Detailed, Consumer: k}
	requests := []workload.Request{sharing(1, request(0, 80, 1)), request(5000, 95, 1), sharing(1, request(10_000, 64, 1)), due(11_000, request(10_100, 64, 1)), request(10_200, 16, 1)}
	source, err := workload.NewSlice(requests, workload.Labels{})
	if err != nil {
		t.Fatal(err)
	}
	c.Custom.Source = source
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"type":"outcome","at_us":11000,"request":3,"state":"timed_out"`,
		`{"type":"batch","at_us":11000,"instance":0,"running":1,"waiting":1,"prefill_tokens":16`,
	}
	for _, begin := range want {
		if !slices.ContainsFunc(k.lines, func(line string) bool { return strings.HasPrefix(line, begin) }) {
			t.Errorf("no record %s in\n%s", begin, strings.Join(k.lines, "\n"))
		}
	}
}
