package actors

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"blis/metrics"
)

// gatewayConformanceDir is where the scenarios of gateways are: BLIS_GATEWAY_CONFORMANCE, or the reference
// set. Folders are as those of TestConformance.
func gatewayConformanceDir() string {
	if dir := os.Getenv("BLIS_GATEWAY_CONFORMANCE"); dir != "" {
		return dir
	}
	return "../../shared/reference/conformance_gateway"
}

// TestGatewayConformance replays traces that the public simulator, or an oracle of its rules, has served
// behind a queue: state, instance, wait at the gateway, TTFT, E2E and scheduling delay of each request to
// the microsecond.
func TestGatewayConformance(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(gatewayConformanceDir(), "*", "flags.txt"))
	if len(files) == 0 {
		t.Skipf("no scenarios in %s", gatewayConformanceDir())
	}
	executors := Executors(3)
	if len(files) > 50 { // many random ones: two of them are enough
		executors = []Executor{executors[0], executors[len(executors)-1]}
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			conformGateway(t, dir, executors)
		})
	}
}

func conformGateway(t *testing.T, dir string, executors []Executor) {
	flags, err := os.ReadFile(filepath.Join(dir, "flags.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := readTable(t, filepath.Join(dir, "expected.csv"))[1:]
	cfg := DefaultConfig()
	cfg.NumInstances, cfg.AsyncScheduling = 1, new(false)
	text := strings.NewReplacer("--flow-control", "--flow-control=true", "--queue-shedding", "--queue-shedding=true").Replace(string(flags))
	setFlags(t, &cfg, strings.Fields(text))
	cfg.Trace = filepath.Join(dir, "requests.csv")
	for _, x := range executors {
		for _, everyTick := range []bool{false, true} {
			var got []string
			run := cfg
			run.Execution = x.Execution
			run.EveryTick = everyTick
			run.Row = func(r *Row) { got = append(got, gatewayRow(&cfg, r)) }
			if _, err := Run(context.Background(), run); err != nil {
				t.Fatalf("%s: %v", x.Name, err)
			}
			if len(got) != len(want) {
				t.Fatalf("%s: %d requests, want %d", x.Name, len(got), len(want))
			}
			wrong := []string{}
			for i, row := range got {
				if w := strings.Join(want[i], ","); row != w {
					wrong = append(wrong, fmt.Sprintf("got %s\nwant %s", row, w))
				}
			}
			if len(wrong) > 0 {
				t.Fatalf("%s, every tick: %v: %d of %d requests differ; the first:\n%s", x.Name, everyTick, len(wrong), len(want), wrong[0])
			}
		}
	}
}

// gatewayRow is a request as expected.csv writes it.
func gatewayRow(cfg *Config, r *Row) string {
	o := r.Outcome
	place := ""
	if o.Instance >= 0 {
		place = strconv.Itoa(int(o.Instance))
	}
	head := fmt.Sprintf("%d,%s,%s", o.ID, o.State, place)
	switch o.State {
	case metrics.Completed:
		ttft, _ := r.TTFT()
		e2e, _ := r.E2E()
		return fmt.Sprintf("%s,%d,%d,%d,%d", head, o.Routed.Sub(o.Admitted)-cfg.RoutingLatency, ttft, e2e, o.Scheduled.Sub(o.Arrival))
	case metrics.Expired:
		return fmt.Sprintf("%s,%d,,,", head, o.Finished.Sub(o.Admitted))
	}
	return head + ",,,,"
}
