package actors

import (
	"context"
	"errors"
	"strings"
	"testing"

	"blis/bundle"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// sharing is a request whose prompt begins with 48 tokens that others share.
func sharing(content workload.ContentID, r workload.Request) workload.Request {
	r.Spans = []workload.Span{{Content: content, Length: 48}}
	return r
}

// TestEventsAreKnownAfterTheirDelay asks at the instant at which the router is
// told, whose decisions come before it, and a tick later.
func TestEventsAreKnownAfterTheirDelay(t *testing.T) {
	for _, x := range []struct {
		delay, at int64
		expected  int32
	}{{0, 1000, 0}, {0, 1001, 48}, {500, 1500, 0}, {500, 1501, 48}, {1, 1001, 0}, {1, 1002, 48}} {
		c := plain()
		c.RoutingPolicy, c.PrefixIndex = "prefix-affinity", "events"
		c.KVEventDelay = vtime.Duration(x.delay)
		s := serve(t, c, sharing(1, request(0, 64, 1)), sharing(1, request(vtime.Time(x.at), 64, 1)))
		if got := s.rows[1].Expected; got != x.expected || s.rows[1].Cached != 48 {
			t.Errorf("delay %d, routed at %d: expected %d tokens and found %d, want %d and 48", x.delay, x.at, got, s.rows[1].Cached, x.expected)
		}
	}
}

// TestLastEventEndsTheRun: nothing is left to do but to hear of the blocks.
func TestLastEventEndsTheRun(t *testing.T) {
	c := plain()
	c.RoutingPolicy, c.PrefixIndex, c.KVEventDelay = "prefix-affinity", "events", 5000
	if s := serve(t, c, sharing(1, request(0, 64, 1))); s.End != 6000 {
		t.Errorf("the run ends at %v, want 6,000", s.End)
	}
}

// TestEventsBeyondAllTimes has blocks stored so late that the router would hear
// of them after the last instant there is: it never does.
func TestEventsBeyondAllTimes(t *testing.T) {
	c := plain()
	c.RoutingPolicy, c.PrefixIndex, c.KVEventDelay = "prefix-affinity", "events", 1<<62
	const late = vtime.Time(1<<62 - 1)
	s := serve(t, c, sharing(1, request(0, 64, 1)), sharing(2, request(late, 64, 1)))
	if o := s.rows[1]; o.State != metrics.Completed || s.End != 1<<62+1000 {
		t.Errorf("%v, the run ends at %v; want completed, and the event of the first at %d", o.State, s.End, int64(1<<62+1000))
	}
}

// TestExpectedHitsLeaveATokenToCompute has a prompt of whole blocks that is all
// cached: the instance computes its last block again, which is no divergence.
func TestExpectedHitsLeaveATokenToCompute(t *testing.T) {
	for _, index := range []string{"routed", "events"} {
		c := plain()
		c.RoutingPolicy, c.PrefixIndex = "prefix-affinity", index
		s := serve(t, c, sharing(1, request(0, 48, 1)), sharing(1, request(5000, 48, 1)))
		if o := s.rows[1]; o.Expected != 32 || o.Cached != 32 || *s.Report.Anomalies.ShadowDivergence != 0 {
			t.Errorf("%s: expected %d, found %d, %d divergences; want 32, 32 and 0", index, o.Expected, o.Cached, *s.Report.Anomalies.ShadowDivergence)
		}
	}
}

// TestIndexRemembersWhatItsSizeAllows asks for a prompt again after others that
// the cache has room for: a smaller index has forgotten it.
func TestIndexRemembersWhatItsSizeAllows(t *testing.T) {
	for _, x := range []struct {
		blocks string
		want   int32
	}{{"auto", 48}, {"8", 48}, {"7", 32}, {"4", 0}, {"1", 0}} {
		c := plain()
		c.NumInstances, c.TotalKVBlocks = 1, 100
		c.RoutingPolicy, c.PrefixIndexBlocks = "prefix-affinity", x.blocks
		s := serve(t, c, sharing(1, request(0, 64, 1)), sharing(2, request(5000, 80, 1)), sharing(1, request(9000, 64, 1)))
		if o := s.rows[2]; o.Expected != x.want || o.Cached != 48 {
			t.Errorf("%s blocks: %d tokens expected, %d found; want %d and 48", x.blocks, o.Expected, o.Cached, x.want)
		}
	}
}

// TestPrefixesOfInstancesThatAreGone lets an instance go with what it had: the
// router must not expect it of the one that is left.
func TestPrefixesOfInstancesThatAreGone(t *testing.T) {
	for _, index := range []string{"routed", "events"} {
		c := plain()
		c.NumInstances, c.MaxReplicas, c.MinReplicas = 2, 2, 1
		c.RoutingPolicy, c.PrefixIndex = "prefix-affinity", index
		c.AutoscaleInterval = 4000
		c.Custom.Autoscale = func(policy.Env) policy.Autoscale { return alwaysOne{} }
		c.ForceRouting = "0=1"
		s := serve(t, c, sharing(1, request(0, 64, 1)), sharing(1, request(2000, 64, 1)), sharing(1, request(9000, 64, 1)))
		if a, b := s.rows[1], s.rows[2]; a.Instance != 1 || a.Expected != 48 || b.Instance != 0 || b.Expected != 0 {
			t.Errorf("%s: on instance %d with %d expected, then on %d with %d; want 1 with 48, 0 with 0", index, a.Instance, a.Expected, b.Instance, b.Expected)
		}
	}
}

// alwaysOne wants one instance.
type alwaysOne struct{}

func (alwaysOne) Observes() policy.Signals { return policy.NoSignals }

func (alwaysOne) Evaluate(*policy.AutoscaleContext) policy.ScaleDecision {
	return policy.ScaleDecision{Action: policy.ScaleDown, Target: 1, Reason: policy.ByPolicy}
}

// TestForcedRouting sends a request of a session where its policy would not: it
// goes there, and the policy knows.
func TestForcedRouting(t *testing.T) {
	c := plain()
	c.NumInstances = 3
	c.RoutingPolicy, c.RoutingScorers = "weighted", "session-affinity:1"
	c.Policies.Routing = bundle.Selection{Type: "weighted", Params: []policy.Setting{{Name: "tie", Value: "lowest"}}}
	c.ForceRouting = "0=2, 3=1"
	turn := func(at int64, session uint64) workload.Request {
		r := request(vtime.Time(at), 16, 1)
		r.Session = session
		return r
	}
	s := serve(t, c, turn(0, 7), turn(2000, 7), turn(4000, 8), turn(6000, 7), turn(8000, 7))
	for i, want := range []int32{2, 2, 0, 1, 1} {
		if got := s.rows[i].Instance; got != want {
			t.Errorf("request %d is on instance %d, want %d", i, got, want)
		}
	}
}

func TestForcedRoutingRefuses(t *testing.T) {
	for _, x := range []struct{ force, want string }{
		{"x", `entry 1 is "x": want request=instance`},
		{"1=2,", `entry 2 is "": want request=instance`},
		{"1=-2", `entry 1 is "1=-2"`},
		{"-1=2", `entry 1 is "-1=2"`},
		{"1=2,1=1", "request 1 is given twice"},
		{"0=0,1=0", "request 1 never came: there were 1, numbered from 0"},
		{"0=9", "request 0 cannot go to instance 9 at 0µs: there are 2, numbered from 0"},
	} {
		c := plain()
		c.NumInstances, c.ForceRouting = 2, x.force
		source, err := workload.NewSlice([]workload.Request{request(0, 16, 1)}, workload.Labels{})
		if err != nil {
			t.Fatal(err)
		}
		c.Custom.Source = source
		_, err = Run(context.Background(), c)
		var input *InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), x.want) || !strings.HasPrefix(err.Error(), "--force-routing: ") {
			t.Errorf("%q: %v, want an input error of --force-routing with %q", x.force, err, x.want)
		}
	}
}

func TestPrefixSettingsWithoutEffectAreNoted(t *testing.T) {
	for _, x := range []struct {
		name, want string
		set        func(*Config)
	}{
		{"nobody asks", "no policy reads", func(c *Config) { c.PrefixIndex = "events" }},
		{"nothing is cached", "prefix caching is off", func(c *Config) {
			c.PrefixIndex, c.RoutingPolicy, c.EnablePrefixCaching = "events", "prefix-affinity", false
		}},
		{"nothing is delayed", "prefix-index is routed", func(c *Config) { c.KVEventDelay, c.RoutingPolicy = 5, "prefix-affinity" }},
		{"the router is told", "prefix-index-blocks has no effect", func(c *Config) {
			c.PrefixIndex, c.PrefixIndexBlocks, c.RoutingPolicy = "events", "50", "prefix-affinity"
		}},
		{"nobody asks the index", "prefix-index-blocks has no effect: no policy reads", func(c *Config) { c.PrefixIndexBlocks = "50" }},
		{"an index smaller than a cache", "prefix-index-blocks is 63, less than the 64 blocks", func(c *Config) {
			c.PrefixIndexBlocks, c.TotalKVBlocks, c.RoutingPolicy = "63", 64, "prefix-affinity"
		}},
		{"an index as large as a cache", "", func(c *Config) {
			c.PrefixIndexBlocks, c.TotalKVBlocks, c.RoutingPolicy = "64", 64, "prefix-affinity"
		}},
		{"all is well", "", func(c *Config) { c.PrefixIndex, c.KVEventDelay, c.RoutingPolicy = "events", 5, "prefix-affinity" }},
	} {
		c := plain()
		x.set(&c)
		_, setup, err := Check(c)
		notes := strings.Join(setup.Notes, "\n")
		if err != nil || !strings.Contains(notes, x.want) || x.want == "" && (strings.Contains(notes, "no effect") || strings.Contains(notes, "prefix-index")) {
			t.Errorf("%s: notes %q, error %v; want one with %q", x.name, notes, err, x.want)
		}
	}
}

// TestNothingIsExpectedOfInstancesThatAreGone looks into the index after a run in
// which an instance went, with news of its cache still on its way.
func TestNothingIsExpectedOfInstancesThatAreGone(t *testing.T) {
	for _, index := range []string{"routed", "events"} {
		for _, delay := range []vtime.Duration{0, 2500} {
			c := plain()
			c.NumInstances, c.MaxReplicas, c.MinReplicas = 2, 2, 1
			c.RoutingPolicy, c.PrefixIndex, c.KVEventDelay = "prefix-affinity", index, delay
			c.AutoscaleInterval = 3000
			c.Custom.Autoscale = func(policy.Env) policy.Autoscale { return alwaysOne{} }
			c.ForceRouting = "0=1,1=0"
			source, err := workload.NewSlice([]workload.Request{sharing(1, request(0, 64, 2)), sharing(1, request(1, 64, 9))}, workload.Labels{})
			if err != nil {
				t.Fatal(err)
			}
			c.Custom.Source = source
			p, err := resolve(c)
			if err != nil {
				t.Fatal(err)
			}
			made, err := newCluster(p, Execution{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := made.run(context.Background()); err != nil {
				t.Fatal(err)
			}
			x := made.router.fleet.pools[0].endpoints.prefixes
			x.Look(64, sharing(1, request(0, 64, 1)).Spans)
			if x.Expected(0) != 48 || x.Expected(1) != 0 {
				t.Errorf("%s, delay %v: %d tokens expected of the instance that is there, %d of the one that is gone; want 48 and 0", index, delay, x.Expected(0), x.Expected(1))
			}
		}
	}
}

// Who forces a request that is never routed is told so.
func TestForcedRoutingWithoutEffectIsNoted(t *testing.T) {
	for name, x := range map[string]struct {
		change func(*Config)
		force  string
		want   string
	}{
		"routed":            {func(*Config) {}, "0=1,2=0", ""},
		"rejected":          {func(c *Config) { c.AdmissionPolicy = "reject-all" }, "2=0,0=1", "0, 2"},
		"not yet there":     {func(c *Config) { c.Horizon = 1500 }, "0=1,2=0", "2"},
		"more than a line":  {func(c *Config) { c.Horizon = 1 }, "11=0,1=0,2=0,3=0,4=0,5=0,6=0,7=0,8=0,9=0,10=0", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …"},
		"others are routed": {func(c *Config) { c.Horizon = 1500 }, "1=1", ""},
	} {
		c := plain()
		c.NumInstances, c.ForceRouting = 2, x.force
		x.change(&c)
		s := serve(t, c, request(0, 16, 1), request(1000, 16, 1), request(2000, 16, 1))
		notes := strings.Join(s.Setup.Notes, "\n")
		const text = "force-routing has no effect on what was never routed: request "
		if _, got, found := strings.Cut(notes, text); got != x.want || found != (x.want != "") {
			t.Errorf("%s: notes %q, want %q", name, notes, x.want)
		}
	}
}
