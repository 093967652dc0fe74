package actors

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// watcher is an autoscaler that notes what it sees and changes nothing, or adds a
// replica at its third evaluation.
type watcher struct {
	grows bool
	seen  map[vtime.Time][]int64
}

func (watcher) Observes() policy.Signals {
	return policy.QueueDepth | policy.KVUse | policy.RecentLatency | policy.InFlight | policy.Active | policy.Rates
}

func (w watcher) Evaluate(c *policy.AutoscaleContext) policy.ScaleDecision {
	list := []int64{c.State.Arrived, c.State.Active(), int64(10 * c.State.Rate(c.Now))}
	for i := range c.View.Len() {
		list = append(list, int64(c.View.Phase(i)), c.View.InFlight(i), c.View.QueueDepth(i), c.View.UsedBlocks(i), int64(c.View.RecentTTFT(i)))
	}
	w.seen[c.Now] = list
	d := policy.ScaleDecision{Target: c.Replicas}
	if w.grows && len(w.seen) == 3 {
		d = policy.ScaleDecision{Action: policy.ScaleUp, Target: c.Replicas + 1}
	}
	return d
}

// watched runs the watcher, once per interval, and returns what it saw.
func watched(t *testing.T, interval vtime.Duration, grows bool, change func(*Config)) map[vtime.Time][]int64 {
	t.Helper()
	w := watcher{grows, map[vtime.Time][]int64{}}
	c := DefaultConfig()
	c.NumInstances, c.MaxReplicas, c.NumRequests, c.Rate, c.TotalKVBlocks = 2, 3, 1500, 60, 2000
	c.RoutingPolicy, c.AutoscaleInterval = "least-loaded", interval
	c.ProvisioningDelay, c.ModelLoadTime = setup.RandomDuration{Mean: vtime.Second}, setup.RandomDuration{}
	c.Custom.Autoscale = func(policy.Env) policy.Autoscale { return w }
	change(&c)
	if _, err := Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if len(w.seen) < 15 {
		t.Fatalf("%d evaluations: want more", len(w.seen))
	}
	return w.seen
}

// TestChecksSeeTheInstant: without a cadence of its own an evaluation sees the
// instances as they are, however seldom the router looks at them.
func TestChecksSeeTheInstant(t *testing.T) {
	at := watched(t, vtime.Second, true, func(*Config) {})
	for name, change := range map[string]func(*Config){ // any order
		"signals that the router does not read": func(c *Config) {
			*c.Policies.Observability.Fresh.Of(policy.KVUse), *c.Policies.Observability.Fresh.Of(policy.RecentLatency) = "7s", "5s"
		},
		"the sequential twin": func(c *Config) { c.Sequential, c.StepByStep = true, true },
	} {
		if got := watched(t, vtime.Second, true, change); !reflect.DeepEqual(got, at) {
			t.Errorf("%s: an evaluation saw something else", name)
		}
	}
}

// TestChecksSeeTheirOwnRefresh: with a cadence of 3 s an evaluation sees the signals
// of instances as one at the last multiple of 3 s before it did, and what the router
// knows as it is. The cadence of the router changes nothing but the routing.
func TestChecksSeeTheirOwnRefresh(t *testing.T) {
	const every = 3
	routing := func(c *Config) { c.RoutingPolicy = "round-robin" } // which reads nothing
	now := watched(t, vtime.Second, false, routing)
	old := watched(t, vtime.Second, false, func(c *Config) {
		routing(c)
		c.Policies.Autoscale.Refresh, c.SnapshotRefreshInterval = "3s", 700*vtime.Millisecond
	})
	differ := 0
	for at, got := range old { // any order
		last := (at - 1) / vtime.Time(every*vtime.Second) * vtime.Time(every*vtime.Second)
		if last == 0 {
			continue
		}
		then, here := now[last], now[at]
		for i := range got {
			want := here[i]
			if k := i - 3; k >= 0 && k%5 >= 2 {
				want = then[i]
				if then[i] != here[i] {
					differ++
				}
			}
			if got[i] != want {
				t.Errorf("at %v: number %d is %d, want %d: then %v, now %v, seen %v", at, i, got[i], want, then, here, got)
			}
		}
	}
	if differ < 20 {
		t.Errorf("only %d numbers changed within the interval", differ)
	}
}

// TestChecksSeeWhatTheRouterKnows compares arrivals and active requests at each
// evaluation with the requests of the result.
func TestChecksSeeWhatTheRouterKnows(t *testing.T) {
	var arrivals, ends []vtime.Time
	seen := watched(t, vtime.Second, true, func(c *Config) {
		c.Row = func(r *Row) { arrivals, ends = append(arrivals, r.Arrival), append(ends, r.Finished) }
	})
	until := func(list []vtime.Time, at vtime.Time) (n int64) {
		for _, x := range list {
			if x <= at {
				n++
			}
		}
		return n
	}
	for at, got := range seen { // any order
		arrived, active := until(arrivals, at), until(arrivals, at)-until(ends, at)
		inFlight := int64(0)
		for k := 4; k < len(got); k += 5 {
			inFlight += got[k]
		}
		if got[0] != arrived || got[1] != active || inFlight != active {
			t.Errorf("at %v: %d arrived, %d active, %d in flight; want %d, %d and as many", at, got[0], got[1], inFlight, arrived, active)
		}
	}
}

// TestAutoscalerHasNoPointerToTheRouter walks everything that an autoscaler can
// reach. The sequential twin alone reads instances.
func TestAutoscalerHasNoPointerToTheRouter(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type, string)
	walk = func(x reflect.Type, path string) {
		if seen[x] {
			return
		}
		seen[x] = true
		switch x {
		case reflect.TypeFor[router](), reflect.TypeFor[replicas](), reflect.TypeFor[cluster]():
			t.Errorf("%s is a %v", path, x)
			return
		case reflect.TypeFor[instance]():
			if !strings.HasSuffix(path, ".engines.instance") {
				t.Errorf("%s is an instance", path)
			}
			return
		}
		switch x.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(x.Elem(), path)
		case reflect.Struct:
			for i := range x.NumField() {
				walk(x.Field(i).Type, path+"."+x.Field(i).Name)
			}
		}
	}
	walk(reflect.TypeFor[autoscaler](), "autoscaler")
}
