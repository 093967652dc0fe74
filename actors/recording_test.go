package actors_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"blis/actors"
	"blis/bundle"
	"blis/trace"
	"blis/vtime"
)

// tracedRouting is what a decision trace says of a routing decision.
type tracedRouting struct {
	at, request int64
	routable    []bool
	numbers     map[string][]int64 // by signal, an entry per instance
}

// routings collects routing decisions and evaluations of a trace.
type routings struct {
	list   []tracedRouting
	scales []int64
}

func (r *routings) Consume(record trace.Record) error {
	switch x := record.(type) {
	case *trace.Routing:
		t := tracedRouting{at: int64(x.At), request: x.Request, routable: slices.Clone(x.Snapshots.Routable), numbers: map[string][]int64{}}
		for name, list := range map[string][]int32{"queue_depth": x.Snapshots.QueueDepth, "batch_size": x.Snapshots.BatchSize, "in_flight": x.Snapshots.InFlight} {
			for _, n := range list {
				t.numbers[name] = append(t.numbers[name], int64(n))
			}
		}
		t.numbers["kv_utilization"] = slices.Clone(x.Snapshots.UsedBlocks)
		r.list = append(r.list, t)
	case *trace.Scale:
		r.scales = append(r.scales, int64(x.At))
	}
	return nil
}

// TestRecordingTellsWhatDecisionsSaw: for every routing decision of a detailed trace
// the recording has the same signals of every instance, and for every evaluation of
// the autoscaler an entry. Its bytes do not depend on the workers.
func TestRecordingTellsWhatDecisionsSaw(t *testing.T) {
	for _, c := range []struct {
		name, routing, bundle string
		change                func(*actors.Config)
	}{
		{"at once", "weighted", "{}", func(*actors.Config) {}},
		{"as of refreshes", "least-loaded", "observability: {refresh: 50ms, in_flight: periodic}", func(*actors.Config) {}},
		{"some signals apart", "weighted", "observability: {kv_utilization: 300ms, queue_depth: on_demand}", func(*actors.Config) {}},
		{"replicas that come and go", "least-loaded", "autoscale: {type: oscillator, interval: 1s, refresh: 500ms, actuation: {provisioning: 100ms, model_load: 100ms, drain: redirect}}",
			func(c *actors.Config) { c.MaxReplicas = 4 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var recordings [3]bytes.Buffer
			var traced routings
			for k := range recordings {
				cfg := actors.DefaultConfig()
				b, err := bundle.Parse("b.yaml", []byte(c.bundle))
				if err != nil {
					t.Fatal(err)
				}
				cfg.Policies, cfg.RoutingPolicy = b, c.routing
				cfg.NumInstances, cfg.NumRequests, cfg.Rate, cfg.TotalKVBlocks = 3, 400, 60, 300
				c.change(&cfg)
				cfg.Record, cfg.Workers = &recordings[k], 1+2*(k%2)
				if k == 0 {
					cfg.Tracing = actors.Tracing{Level: trace.Detailed, Consumer: &traced}
				}
				if _, err := actors.Run(context.Background(), cfg); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(recordings[1].Bytes(), recordings[2].Bytes()) {
				t.Error("the recording of three workers is another than that of one")
			}
			compareSeen(t, &recordings[1], &traced)
		})
	}
}

// compareSeen compares a recording with the routing decisions of a trace.
func compareSeen(t *testing.T, recording *bytes.Buffer, traced *routings) {
	t.Helper()
	next, numbers := 0, 0
	var scales []int64
	err := eachSeen(recording, func(x seenDecision) {
		switch {
		case x.observer == 1 && x.decision == "scale":
			scales = append(scales, x.at)
			return
		case x.decision != "routing":
			return
		}
		if next == len(traced.list) {
			t.Fatalf("the recording has more than the %d routing decisions of the trace", next)
		}
		want := &traced.list[next]
		next++
		if x.at != want.at || x.request != want.request {
			t.Fatalf("decision %d is about request %d at %d, want request %d at %d", next, x.request, x.at, want.request, want.at)
		}
		for i, routable := range want.routable {
			if (x.table[int64(i)]["routable"][0] == 1) != routable {
				t.Errorf("request %d: instance %d is routable: %v, want %v", x.request, i, !routable, routable)
			}
			for name, list := range want.numbers { // any order
				if !slices.Contains(x.signals, name) {
					continue
				}
				numbers++
				if got := x.table[int64(i)][name]; len(got) != 1 || int64(got[0]) != list[i] {
					t.Fatalf("request %d at %v: %s of instance %d is %v, want %d", x.request, vtime.Time(x.at), name, i, got, list[i])
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if next != len(traced.list) || numbers < 1000 || !slices.Equal(scales, traced.scales) {
		t.Errorf("%d of %d routing decisions with %d numbers, evaluations at %v, want %v", next, len(traced.list), numbers, scales, traced.scales)
	}
}
