package actors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"blis/policy"
	"blis/vtime"
)

// drawBundleTrial is the random trial of a seed whose policies are a file. With
// it comes which templates and parameters the file names.
func drawBundleTrial(seed uint64) (*trial, []string) {
	d := newDice(seed, 0x62756e64)
	x := &trial{Config: DefaultConfig()}
	c := &x.Config
	c.Seed = d.Uint64() >> 32
	d.drawLatency(x)
	d.drawInstances(c)
	c.Scheduler, c.PreemptionPolicy = "fcfs", "auto" // the file says
	c.NumInstances = max(c.NumInstances, d.between(1, 3))
	c.TotalKVBlocks *= pick[int64](d, 1, 1, 4, 10)
	c.SchedulerReserveFullISL = true // else two requests may take turns for ever
	var span vtime.Duration
	if d.chance(0.25) {
		span = 3 * d.drawGenerated(c)
		c.NumRequests *= 3
	} else {
		x.Tenants, x.Classes = []string{"red", "blue"}, []string{"standard", "critical", "sheddable", "batch", "of our own"}
		span = d.drawRequests(x, d.between(100, 240))
	}
	latencies := []vtime.Duration{0, 0, 0, 1, 250, 4000}
	c.AdmissionLatency, c.RoutingLatency = pick(d, latencies...), pick(d, latencies...)
	c.Signals = pick(d, "live", "per-step")
	if d.chance(0.5) {
		c.SLOTargets = "standard:ttft=20ms,tpot=3ms;critical:ttft=5ms"
	}
	if d.chance(0.2) {
		c.Horizon = span * vtime.Duration(d.between(2, 12)) / 10
	}
	f := bundleFile{dice: d, span: span, check: 700, instances: c.NumInstances}
	if steps := c.BetaCoeffs; !x.AllFields && (len(steps) == 0 || steps[0] > 1000) {
		f.check = 100 * vtime.Millisecond // steps are long, and so is the run
	}
	x.Bundle = f.text()
	return x, f.named
}

// newDice is a source of draws for one purpose.
func newDice(seed, purpose uint64) dice { return dice{rand.New(rand.NewPCG(seed, purpose))} }

// bundleFile is a bundle on its way to a file.
type bundleFile struct {
	dice
	span      vtime.Duration // about how long arrivals take
	check     vtime.Duration // between scale checks at least: each may make an instance
	instances int
	named     []string // kind/template, kind/template/parameter
}

// node is a name with what stands under it: a value as it is written, or
// further names.
type node struct {
	name, value string
	under       []node
}

// text draws a file with all sections, or all but some.
func (f *bundleFile) text() string {
	var sections []node
	for _, kind := range []policy.Kind{policy.AdmissionKind, policy.PriorityKind, policy.RoutingKind, policy.SchedulerKind, policy.AutoscaleKind} {
		if f.chance(0.9) {
			sections = append(sections, f.section(kind))
		}
	}
	if o := f.observability(); len(o) > 0 {
		sections = append(sections, node{"observability", "", o})
	}
	if f.chance(0.2) {
		sections = append(sections, node{"metadata", "", []node{{"generation", strconv.Itoa(f.IntN(9)), nil}, {"parent", "[r17, \"r 18\"]", nil}}})
	}
	f.Shuffle(len(sections), func(i, j int) { sections[i], sections[j] = sections[j], sections[i] })
	var b strings.Builder
	for _, s := range sections {
		f.write(&b, s, "")
	}
	return b.String()
}

// write writes a name in one of the ways of YAML: in braces, or its names
// further in, on lines of their own.
func (f *bundleFile) write(b *strings.Builder, n node, margin string) {
	if n.under == nil || f.chance(0.4) {
		fmt.Fprintf(b, "%s%s: %s\n", margin, n.name, n.flow())
		return
	}
	if f.chance(0.2) {
		fmt.Fprintf(b, "%s# %s\n", margin, n.name)
	}
	fmt.Fprintf(b, "%s%s:\n", margin, n.name)
	for _, under := range n.under {
		f.write(b, under, margin+"  ")
	}
}

// flow is what stands behind the name, in one line.
func (n *node) flow() string {
	if n.under == nil {
		return n.value
	}
	var list []string
	for _, under := range n.under {
		list = append(list, under.name+": "+under.flow())
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// section draws a template of a kind with some of its parameters.
func (f *bundleFile) section(kind policy.Kind) node {
	var list []policy.Template
	for _, t := range policy.Templates() {
		if t.Kind == kind {
			list = append(list, t)
		}
	}
	t := list[f.IntN(len(list))]
	if (t.Name == "reject-all" || t.Name == "none") && f.chance(0.8) { // nothing happens with it
		t = list[f.between(1, len(list)-2)]
	}
	s := node{string(kind), "", []node{{"type", t.Name, nil}}}
	f.named = append(f.named, string(kind)+"/"+t.Name)
	if params := f.params(&t); len(params) > 0 {
		s.under = append(s.under, node{"params", "", params})
	}
	if tenants := f.tenants(&t); len(tenants) > 0 {
		s.under = append(s.under, node{"tenants", "", tenants})
	}
	if kind == policy.AutoscaleKind {
		s.under = append(s.under, f.scaling()...)
	}
	if f.chance(0.3) {
		slices.Reverse(s.under)
	}
	return s
}

// params draws values for some of the parameters, in any order.
func (f *bundleFile) params(t *policy.Template) []node {
	var list []node
	for _, p := range t.Parameters {
		if f.chance(0.6) {
			name := p.Name
			if len(p.Aliases) > 0 && f.chance(0.3) {
				name = p.Aliases[0]
			}
			list = append(list, node{name, f.value(&p), nil})
		}
	}
	list = f.agree(t, list)
	for _, n := range list {
		f.named = append(f.named, string(t.Kind)+"/"+t.Name+"/"+n.name)
	}
	f.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// tenants draws values for some tenants, one of which is called like a parameter.
func (f *bundleFile) tenants(t *policy.Template) (list []node) {
	if t.Open == nil {
		return nil
	}
	for _, tenant := range []string{"red", "blue", "nobody", t.Parameters[0].Name} {
		if f.chance(0.5) {
			list = append(list, node{tenant, f.value(t.Open), nil})
			f.named = append(f.named, string(t.Kind)+"/"+t.Name+"/tenants/"+tenant)
		}
	}
	return list
}

// put gives a name in the list its value, adding it if it is not there.
func put(list []node, name, value string) []node {
	for i := range list {
		if list[i].name == name {
			list[i].value = value
			return list
		}
	}
	return append(list, node{name, value, nil})
}

// given is the value of a name in the list, or else.
func given(list []node, name, otherwise string) string {
	for _, n := range list {
		if n.name == name {
			return n.value
		}
	}
	return otherwise
}

// agree makes values that each are in range allowed together.
func (f *bundleFile) agree(t *policy.Template, list []node) []node {
	if given(list, "min_prefix", "") != "" { // drawn whole, so 0 or 1
		list = put(list, "min_prefix", pick(f.dice, "0.2", "0.5", "1"))
	}
	switch t.Name {
	case "starlark":
		return put(put(list, "max_steps", pick(f.dice, "1e9", "1e15")), "source", strconv.Quote(pick(f.dice, programs[t.Kind]...)))
	case "tree":
		list = slices.DeleteFunc(put(list, "max_steps", "1e12"), func(n node) bool { return n.name == "source" || n.name == "tree" })
		if f.chance(0.5) {
			return put(list, "source", strconv.Quote(trees[t.Kind]))
		}
		list = slices.DeleteFunc(list, func(n node) bool { return n.name == "file" })
		return put(list, "tree", trees[t.Kind])
	case "weighted": // one above 0 at least
		return put(list, pick(f.dice, "queue-depth", "prefix-affinity", "session-affinity", "cache-hit-rate"), pick(f.dice, "1", "0.5", "3"))
	case "tenant-quota": // an autoscaler that is asked every millisecond is asked through all delays
		return put(put(list, "max_delays", pick(f.dice, "0", "1", "3")), "delay", pick(f.dice, "0", "1us", "3ms", "200ms"))
	case "threshold":
		low, high := pick(f.dice, "0", "0.1", "0.3"), pick(f.dice, "0.4", "0.8", "1")
		switch given(list, "signal", "load") {
		case "attainment":
			low, high = high, low
		case "queue":
			high = pick(f.dice, "1", "5", "1e9")
		}
		return put(put(list, "up", high), "down", low)
	case "target-utilization":
		if given(list, "signal", "load") != "queue" {
			return put(list, "target", pick(f.dice, "0.001", "0.05", "0.5", "1"))
		}
	}
	return list
}

// value draws one in the range of a parameter: its default, an end of the
// range, or one about the default.
func (f *bundleFile) value(p *policy.Parameter) string {
	switch p.Type {
	case policy.Flag:
		return pick(f.dice, "true", "false")
	case policy.Choice:
		return pick(f.dice, p.Choices...)
	case policy.Path:
		return pick(f.dice, "mine.star", "a/b.star")
	case policy.Text, policy.Mapping:
		return "text"
	case policy.Duration:
		return f.duration(int64(p.Min), int64(min(p.Max, 1<<62)))
	}
	usual, err := strconv.ParseFloat(p.Default, 64)
	if err != nil { // of tenants: they have none
		usual = 5
	}
	x := usual
	switch f.IntN(6) {
	case 0:
		x = p.Min
	case 1:
		x = min(p.Max, 1e15)
	case 2, 3, 4:
		x = (usual + float64(f.IntN(2))) * math.Ldexp(1+f.Float64(), f.between(-6, 4))
	}
	if !strings.Contains(p.Default, ".") && (p.Type != policy.Weight || f.chance(0.5)) { // also where only whole numbers are allowed
		x = math.Round(x)
	}
	return strconv.FormatFloat(min(max(x, p.Min), p.Max), 'g', -1, 64)
}

// duration draws one within bounds in µs, in units or without.
func (f *bundleFile) duration(low, high int64) string {
	x := pick(f.dice, low, 1, 100, 3000, int64(f.span)/10, int64(f.span), int64(15*vtime.Second))
	if f.chance(0.05) {
		x = high
	}
	x = min(max(x, low), high)
	if f.chance(0.3) {
		return strconv.FormatInt(x, 10)
	}
	return strings.ReplaceAll(vtime.Duration(x).String(), "µ", "u")
}

// scaling draws what stands beside the autoscaler: bounds, when it is asked and
// how it is carried out.
func (f *bundleFile) scaling() []node {
	some := func(list []node, name, value string) []node {
		if f.chance(0.6) {
			list = append(list, node{name, value, nil})
		}
		return list
	}
	list := []node{{"interval", vtime.Duration(max(f.check, f.span/vtime.Duration(f.between(3, 15)))).String(), nil}}
	list = some(list, "min", strconv.Itoa(f.between(1, f.instances)))
	list = some(list, "max", strconv.Itoa(f.instances+f.IntN(5)))
	if f.chance(0.4) {
		list = append(list, node{"refresh", pick(f.dice, "0", "50us", "3ms", f.duration(50, 1<<62)), nil})
	}
	list = some(list, "trigger", pick(f.dice, "periodic", "event", "'queue>1'", "'load>0.5 for 1ms, load<0.2'", "'rate-change>0.5, attainment<0.99'"))
	var actuation []node
	if f.chance(0.85) { // else they come too late for most runs
		load := pick(f.dice, "50", "2ms", "'2ms,cv=0.5'", "{type: lognormal, params: {mean: 1ms, cv: 2}}")
		actuation = []node{{"provisioning", pick(f.dice, "0", "100us", "3ms", "'1ms,cv=1'", "{type: lognormal, params: {mean: 3ms, cv: 0.3}}", f.duration(0, 1<<62)), nil}, {"model_load", load, nil}}
	}
	warmup := some(nil, "duration", f.duration(0, 1<<62))
	warmup = some(warmup, "curve", pick(f.dice, "linear", "exponential", "step"))
	warmup = some(warmup, "penalty", pick(f.dice, "1", "1.5", "3.3", "1000"))
	warmup = some(warmup, "routable", pick(f.dice, "true", "false"))
	if len(warmup) > 0 {
		actuation = append(actuation, node{"warmup", "", warmup})
	}
	actuation = append(actuation, node{"drain", pick(f.dice, "wait", "immediate", "redirect"), nil})
	actuation = some(actuation, "drain_timeout", f.duration(0, 1<<62))
	return append(list, node{"actuation", "", actuation})
}

// observability draws how fresh signals are.
func (f *bundleFile) observability() []node {
	var list []node
	often := func() string { // not so often that a run is nothing else
		return f.duration(max(50, int64(f.span)/1000), 1<<62)
	}
	if f.chance(0.5) {
		list = append(list, node{"refresh", often(), nil})
		if f.chance(0.5) {
			list = append(list, node{"in_flight", "periodic", nil})
		}
	} else if f.chance(0.3) {
		list = append(list, node{"in_flight", "immediate", nil})
	}
	for _, name := range []string{"queue_depth", "batch_size", "kv_utilization", "cache_hit_rate", "recent_latency"} {
		if f.chance(0.3) {
			list = append(list, node{name, pick(f.dice, policy.Immediate, policy.OnDemand, often(), "{periodic: "+often()+"}"), nil})
		}
	}
	return list
}
