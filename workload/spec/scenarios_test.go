package spec

import (
	"math"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// scenario is the traffic of a built-in scenario.
func scenario(t *testing.T, name string) *traffic.Config {
	t.Helper()
	s, err := OpenScenario(name)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := trafficOf(t, s)
	return &c
}

func TestScenariosAreAllThere(t *testing.T) {
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
		if len(s.About) < 20 || strings.HasPrefix(s.About, "#") {
			t.Errorf("%s says %q of itself", s.Name, s.About)
		}
		scenario(t, s.Name)
	}
	want := "agentic-tools bursty-traffic diurnal-cycle mixed-slo multi-turn-chat overload prefix-heavy sanity unfair-tenants"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("scenarios are %s, want %s", got, want)
	}
	_, err := OpenScenario("sanitty")
	if err == nil || !strings.Contains(err.Error(), `unknown scenario "sanitty", the nearest is "sanity"`) {
		t.Errorf("error %v", err)
	}
}

// near holds a number to another within a relative error.
func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within*math.Abs(want)) {
		t.Errorf("%s is %v, want %v within %v", what, got, want, within)
	}
}

func rateAt(c *traffic.Client, at vtime.Duration) float64 { return c.Rate.At(vtime.Time(at)) }

func TestBurstyTrafficHasTenfoldSpikesEveryMinute(t *testing.T) {
	c := &scenario(t, "bursty-traffic").Clients[0]
	calm := rateAt(c, 0)
	near(t, "rate", calm, 0.3*10_000/768, 1e-9)
	for minute := range vtime.Duration(10) {
		start := minute * vtime.Minute
		near(t, "calm", rateAt(c, start+29*vtime.Second), calm, 1e-9)
		near(t, "spike", rateAt(c, start+30*vtime.Second), 10*calm, 1e-9)
		near(t, "end", rateAt(c, start+35*vtime.Second), calm, 1e-9)
	}
}

func TestDiurnalCycleRisesTenfoldInADay(t *testing.T) {
	all := scenario(t, "diurnal-cycle")
	c := &all.Clients[0]
	near(t, "peak to trough", rateAt(c, 12*vtime.Hour)/rateAt(c, 0), 10, 1e-6)
	near(t, "mean", c.Rate.Integral(0, vtime.Time(24*vtime.Hour))/86400, 0.5*10_000/768, 1e-4)
	if all.Horizon != vtime.Time(24*vtime.Hour) || all.Requests != 0 {
		t.Errorf("horizon %v, requests %d", all.Horizon, all.Requests)
	}
}

func TestUnfairTenantsAreNineToOne(t *testing.T) {
	c := scenario(t, "unfair-tenants")
	bulk, urgent := clientOf(t, c, "api/bulk"), clientOf(t, c, "api/urgent")
	near(t, "rates", rateAt(bulk, 0)/rateAt(urgent, 0), 9, 1e-9)
	if bulk.Class != "batch" || urgent.Class != "critical" || bulk.Tenant != "bulk" || len(c.Clients) != 2 {
		t.Errorf("%+v", c.Clients)
	}
}

func TestPrefixHeavySharesFourFifths(t *testing.T) {
	c := &scenario(t, "prefix-heavy").Clients[0]
	if c.Prefix.Share != 0.8 || c.Prefix.Length != 1024 || c.Prefix.Count != 8 || c.Prefix.Pick.Min != 0 || c.Prefix.Pick.Max != 7 {
		t.Errorf("%+v", c.Prefix)
	}
	draws := draw.NewVariates(vtime.NewStream(7, "pick")) // seed 7
	first := 0
	for range 10_000 {
		if c.Prefix.Pick.Sample(&draws) == 0 {
			first++
		}
	}
	near(t, "share of the first", float64(first)/10_000, 1/(1+1./2+1./3+1./4+1./5+1./6+1./7+1./8), 0.05)
}

func TestMixedSLOIsThirds(t *testing.T) {
	c := scenario(t, "mixed-slo")
	for _, class := range []string{"critical", "standard", "batch"} {
		k := clientOf(t, c, class)
		near(t, class, rateAt(k, 0), 0.9*10_000/768/3, 1e-9)
		if k.Class != class {
			t.Errorf("client %s has class %s", class, k.Class)
		}
	}
	s, _ := OpenScenario("mixed-slo")
	if got := s.Targets(); got != "critical:ttft=300000us,tpot=50000us;standard:ttft=2000000us,tpot=100000us;batch:e2e=120000000us" {
		t.Errorf("targets %s", got)
	}
}

func TestMultiTurnChatAccumulates(t *testing.T) {
	k := scenario(t, "multi-turn-chat").Clients[0].Kinds
	if len(k) != 1 || k[0].Session.Context != traffic.Accumulate || k[0].Session.Open || k[0].Session.Rounds.Min != 2 || k[0].Session.Rounds.Max != 8 {
		t.Fatalf("%+v", k)
	}
	near(t, "think time", k[0].Session.Think.Dist.Mean(), 10e6, 1e-9)
	if k[0].Session.Think.Min != vtime.Second || k[0].Session.Think.Max != 120*vtime.Second {
		t.Errorf("think time %+v", k[0].Session.Think)
	}
}

func TestAgenticToolsCallAndFanOut(t *testing.T) {
	k := scenario(t, "agentic-tools").Clients[0].Kinds
	if len(k) != 2 || k[0].Name != "agentic" || k[1].Name != "agentic-2" || k[0].Session.Tools == nil || k[0].Session.Tools.Probability != 0.8 {
		t.Fatalf("%+v", k)
	}
	names, joins := "", 0
	for _, n := range k[1].Session.Graph {
		names += n.Name + " "
		joins = max(joins, len(n.After))
	}
	if names != "plan work-1 work-2 work-3 answer " || joins != 3 {
		t.Errorf("graph %s with joins of %d", names, joins)
	}
}

func TestOverloadAndSanityAreSharesOfTheCapacity(t *testing.T) {
	near(t, "overload", rateAt(&scenario(t, "overload").Clients[0], 0), 1.2*10_000/768, 1e-9)
	sanity := scenario(t, "sanity")
	near(t, "sanity", rateAt(&sanity.Clients[0], 0), 0.8*10_000/768, 1e-9)
	if len(sanity.Clients) != 1 || sanity.Clients[0].Process.Kind != draw.Poisson || sanity.Clients[0].Class != "standard" {
		t.Errorf("%+v", sanity.Clients)
	}
}
