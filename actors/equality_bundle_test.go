package actors

import (
	"slices"
	"strings"
	"testing"

	"blis/bundle"
	"blis/internal/testsize"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// TestEqualityBundles runs random bundles, as the files that users write, on
// random clusters under random requests. Each ends, which holds the invariants
// of every run, and has one result on every executor.
func TestEqualityBundles(t *testing.T) {
	cases := fromEnvironment(t, "BLIS_EQUALITY_BUNDLES", testsize.Of(40, 80, 300))
	first := uint64(fromEnvironment(t, "BLIS_EQUALITY_SEED", 1))
	t.Logf("seeds %d to %d", first, first+uint64(cases)-1)
	var c coverage
	named := map[string]int{}
	for seed := first; c.cases < cases; seed++ {
		x, names := drawBundleTrial(seed)
		all := everyExecutor(seed)
		y, m := x.compare(append(all[:1:1], all[len(all)/2+1:]...)) // the strictest twin and the workers
		if m != nil {
			t.Errorf("seed %d: %s: %s\n%s", seed, m.other.Name, m.what, x.Bundle)
			small, m := x.reduce(m, reduction(t))
			t.Fatalf("reduced: %s: %s\n%s\nfirst difference: %s", m.other.Name, m.what, small.describe(), small.where(m))
		}
		if y.stuck {
			t.Errorf("seed %d: a livelock\n%s", seed, x.describe())
		}
		c.count(x, y)
		for _, name := range names {
			named[name]++
		}
	}
	t.Logf("%d bundles on 5 executors; %d scaled, %d rejected some, %d timed out, %d preempted, %d redirected, %d aborted; %d requests, %d completed",
		c.cases, c.scaled, c.rejected, c.timedOut, c.preempted, c.redirected, c.aborted, c.requests, c.completed)
	if c.cases >= 200 {
		wantAllNamed(t, named)
		if low := min(c.scaled, c.rejected, c.timedOut, c.preempted, c.redirected, c.aborted); low < c.cases/100 {
			t.Errorf("one of these in %d of %d cases only", low, c.cases)
		}
	}
}

// wantAllNamed wants every template with every parameter to have been in some
// bundle.
func wantAllNamed(t *testing.T, named map[string]int) {
	t.Helper()
	var missing []string
	want := func(name string) {
		if named[name] == 0 {
			missing = append(missing, name)
		}
	}
	for _, template := range policy.Templates() {
		name := string(template.Kind) + "/" + template.Name
		want(name)
		for _, p := range template.Parameters {
			want(name + "/" + p.Name)
			for _, alias := range p.Aliases {
				want(name + "/" + alias)
			}
		}
		if template.Open != nil {
			want(name + "/tenants/red")
		}
	}
	if slices.Sort(missing); len(missing) > 0 {
		t.Error("in no bundle: " + strings.Join(missing, ", "))
	}
}

// A refresh may be as far away as times go, and the one after it further: the
// signals of such a run stay what they were at its start, as with any refresh
// that is after its end.
func TestRefreshBeyondAllTimes(t *testing.T) {
	var requests []workload.Request
	for i := range 60 {
		requests = append(requests, request(vtime.Time(i*700), int32(20+i*37%100), int32(1+i*13%20)))
	}
	var first *served
	for _, refresh := range []string{"1h", "4611686018427387904", "4611686018427387903", "3074457345618258603"} {
		cfg := plain()
		cfg.NumInstances, cfg.RoutingPolicy = 4, "least-loaded"
		b, err := bundle.Parse("bundle", []byte("observability: {refresh: "+refresh+"}"))
		if err != nil {
			t.Fatal(err)
		}
		cfg.Policies = b
		s := serve(t, cfg, requests...)
		if first == nil {
			first = s
		}
		if !slices.Equal(s.rows, first.rows) {
			t.Errorf("refresh %s: other results than with 1h", refresh)
		}
	}
}
