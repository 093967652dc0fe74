package script

import (
	"go.starlark.net/starlark"

	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// cluster is what the router counts, under the name cluster.
type cluster struct{ of *machine }

var clusterAttributes = attributes[*cluster]{}

func init() {
	of := func(name, help string, signals policy.Signals, f func(st *policy.RouterState, at vtime.Time) starlark.Value) {
		clusterAttributes[name] = attribute[*cluster]{help, signals, func(c *cluster) starlark.Value { return f(c.of.now.router, c.of.now.at) }}
	}
	of("arrived", "requests that arrived, the present one included", policy.NoSignals, func(st *policy.RouterState, _ vtime.Time) starlark.Value { return count(st.Arrived) })
	of("admitted", "requests that were admitted", policy.NoSignals, func(st *policy.RouterState, _ vtime.Time) starlark.Value { return count(st.Admitted) })
	of("rejected", "requests that admission rejected", policy.NoSignals, func(st *policy.RouterState, _ vtime.Time) starlark.Value { return count(st.Rejected) })
	of("active", "admitted requests that have not ended", policy.Active, func(st *policy.RouterState, _ vtime.Time) starlark.Value { return count(st.Active()) })
	of("throughput", "completions per second, over the last 10 s", policy.Active, func(st *policy.RouterState, at vtime.Time) starlark.Value { return number(st.Throughput(at)) })
	of("rate", "arrivals per second, over the last 10 s", policy.Rates, func(st *policy.RouterState, at vtime.Time) starlark.Value { return number(st.Rate(at)) })
	byClass := func(name, help string, f func(s *policy.ClassService) (float64, bool)) {
		clusterAttributes[name] = attribute[*cluster]{help, policy.ClassLatency, func(c *cluster) starlark.Value { return c.byClass(f) }}
	}
	byClass("class_ttft", "p99 TTFT of the last 100 requests of each SLO class in seconds: a dict", func(s *policy.ClassService) (float64, bool) { return s.TTFT / 1e6, s.TTFTs > 0 })
	byClass("class_tpot", "their p99 TPOT", func(s *policy.ClassService) (float64, bool) { return s.TPOT / 1e6, s.TPOTs > 0 })
	byClass("class_e2e", "their p99 E2E", func(s *policy.ClassService) (float64, bool) { return s.E2E / 1e6, s.E2Es > 0 })
	byClass("class_attainment", "share of them that met every target, where the class has any", (*policy.ClassService).Attainment)
}

// byClass returns a number of each SLO class that has it.
func (c *cluster) byClass(f func(s *policy.ClassService) (float64, bool)) starlark.Value {
	dict := new(starlark.Dict)
	st := c.of.now.router
	for l := range st.Classes() {
		service := st.Class(workload.Label(l))
		if x, known := f(&service); known && service.Ended > 0 {
			c.of.charge(policy.RecentCompletions)
			dict.SetKey(c.of.names.class(workload.Label(l)), number(x)) // a text is a key
		}
	}
	return dict
}

// Attr implements starlark.HasAttrs.
func (c *cluster) Attr(name string) (starlark.Value, error) {
	a, ok := clusterAttributes[name]
	switch {
	case !ok:
		return nil, noAttribute("cluster", name, c.AttrNames())
	case c.of.now.router == nil:
		return nil, typeMistake("cluster.%s is known in decisions about a request or the number of instances only", name)
	case a.signals&^c.of.program.signals != 0:
		return nil, typeMistake("cluster.%s is not declared: the program does not name it", name)
	}
	return a.value(c), nil
}

// AttrNames implements starlark.HasAttrs.
func (c *cluster) AttrNames() []string { return clusterAttributes.names() }

func (c *cluster) String() string        { return "<cluster>" }
func (c *cluster) Type() string          { return "cluster" }
func (c *cluster) Freeze()               {}
func (c *cluster) Truth() starlark.Bool  { return true }
func (c *cluster) Hash() (uint32, error) { return 0, typeMistake("cluster cannot be a key") }
