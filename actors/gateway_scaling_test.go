package actors

import (
	"slices"
	"testing"

	"blis/vtime"
)

// TestScaleFromZero: an instance that nobody uses goes, and who comes then waits at the gateway until another one has
// started; also where his entry calls for the check, and where he is admitted a while after his arrival, which calls
// for one too.
func TestScaleFromZero(t *testing.T) {
	late := vtime.Time(20*vtime.Second) + 400_000
	for _, c := range []struct {
		trigger, admission string
		want               []string
	}{
		// Checks each second: one at 21 s, an instance at 21.5 s, which the next tick sees.
		{"periodic", "0", []string{"completed 0 3000", "completed 1101000 21503000", "completed 1101999 21503000"}},
		// A check at 20.4 s.
		{"event", "0", []string{"completed 0 3000", "completed 501000 20903000", "completed 501999 20903000"}},
		// The arrival calls for one at 20.4 s, in which nobody waits yet, and the entry for one a second later.
		{"event", "1ms", []string{"completed 0 4000", "completed 1500000 21903000", "completed 1500999 21903000"}},
	} {
		change := func(cfg *Config) {
			for _, x := range [][2]string{
				{"policies", "{autoscale: {type: queue-depth, params: {target: 10, down_window: 500ms}}}"}, {"autoscale-trigger", c.trigger}, {"admission-latency", c.admission},
				{"min-replicas", "0"}, {"max-replicas", "2"}, {"autoscale-interval", "1s"}, {"model-load-time", "500ms"}, {"provisioning-delay", "0"},
			} {
				if err := cfg.Set(x[0], x[1]); err != nil {
					t.Fatal(err)
				}
			}
		}
		list := []sample{{at: 0, output: 3}}
		if c.trigger == "event" { // his end calls for the check at which the instance goes
			list = append(list, sample{at: vtime.Time(4 * vtime.Second), output: 1})
		}
		list = append(list, sample{at: late, output: 2}, sample{at: late + 1, output: 1})
		got := gatewayExample(t, 4, change, list...)
		if c.trigger == "event" {
			got = slices.Delete(got, 1, 2)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, admission after %s: %q, want %q", c.trigger, c.admission, got, c.want)
		}
	}
}
