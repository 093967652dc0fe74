package actors

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/bundle"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// paced are n requests, each of which ends before the next one comes.
func paced(n int) (list []workload.Request) {
	for i := range n {
		list = append(list, request(vtime.Time(1_000_000*i), 10, 5))
	}
	return list
}

// instancesOf are the instances of requests, in their order.
func instancesOf(s *served) (list []int32) {
	for _, r := range s.rows {
		list = append(list, r.Instance)
	}
	return list
}

// TestCaseDefaultTieIsLowestIndex replays paced requests, which always find all
// instances idle. Of 40 on four instances each gets about 10, and none all; the
// lowest index gets all when that is asked for.
func TestCaseDefaultTieIsLowestIndex(t *testing.T) {
	for _, routing := range []string{"least-loaded", "weighted", "prefix-affinity", "power-of-two", "always-busiest"} {
		t.Run(routing, func(t *testing.T) {
			c := plain()
			c.NumInstances, c.RoutingPolicy = 4, routing
			counts := make([]int, 4)
			for _, i := range instancesOf(serve(t, c, paced(40)...)) {
				counts[i]++
			}
			// 10 each in the mean, with a standard deviation of 2.7.
			if slices.Min(counts) < 3 || slices.Max(counts) > 18 {
				t.Errorf("seed %d: %v requests per instance, want about 10 each", c.Seed, counts)
			}
			if routing == "power-of-two" {
				return
			}
			c.Policies.Routing = bundle.Selection{Type: routing, Params: []policy.Setting{{Name: "tie", Value: "lowest"}}}
			for _, i := range instancesOf(serve(t, c, paced(40)...)) {
				if i != 0 {
					t.Fatalf("tie: lowest: a request on instance %d, want all on 0", i)
				}
			}
		})
	}
}

// TestForcedChoiceShiftsNoDraw forces one request, of paced ones, elsewhere: all
// others stay where they were.
func TestForcedChoiceShiftsNoDraw(t *testing.T) {
	for _, routing := range []string{"least-loaded", "weighted", "power-of-two"} {
		c := plain()
		c.NumInstances, c.RoutingPolicy = 4, routing
		want := instancesOf(serve(t, c, paced(30)...))
		elsewhere := (want[3] + 1) % 4
		c.ForceRouting = fmt.Sprintf("3=%d", elsewhere)
		want[3] = elsewhere
		if got := instancesOf(serve(t, c, paced(30)...)); !slices.Equal(got, want) {
			t.Errorf("%s: with request 3 forced to %d\n%v, want\n%v", routing, elsewhere, got, want)
		}
	}
}

// TestNoteOnCoarseTimestamps: more than one request in ten on the tick of another
// is noted, and what moves them apart.
func TestNoteOnCoarseTimestamps(t *testing.T) {
	notes := func(spread bool, arrivals ...int) string {
		t.Helper()
		text := "arrival_us,input_tokens,output_tokens\n"
		for _, at := range arrivals {
			text += fmt.Sprintf("%d,10,2\n", at)
		}
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := plain()
		c.Trace, c.SpreadTies = path, spread
		r, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(r.Setup.Notes, "\n")
	}
	const what = "at the same µs as another"
	if got := notes(false, 0, 0, 0, 3, 3, 4); !strings.Contains(got, "5 of 6 requests arrive "+what) || !strings.Contains(got, "--spread-ties") {
		t.Errorf("five of six on the tick of another: %q", got)
	}
	if got := notes(true, 0, 0, 0, 3_000_000, 3_000_000, 6_000_000); strings.Contains(got, what) {
		t.Errorf("spread: %q", got)
	}
	apart := []int{0, 0}
	for i := range 18 {
		apart = append(apart, 1+i)
	}
	if got := notes(false, apart...); strings.Contains(got, what) {
		t.Errorf("2 of 20, which is not more than a tenth: %q", got)
	}
	if got := notes(false, apart[:19]...); !strings.Contains(got, "2 of 19 requests arrive "+what) {
		t.Errorf("2 of 19, which is more than a tenth: %q", got)
	}
}
