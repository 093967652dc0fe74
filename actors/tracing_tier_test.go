package actors

import (
	"slices"
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
		c.EnablePrefixCaching, c.KVCPUBlocks, c.KVTransferLatency, c.KVTransferBandwidth, c.KVIdleRelease = false, 10, 100, 1<<60, true
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
