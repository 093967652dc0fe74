package setup

import (
	"math"

	"blis/policy"
	"blis/vtime"
	"blis/yamldoc"
)

// The file of --failures.

var failureLimits = yamldoc.Options{Bytes: 1 << 20, Depth: 8, Name: 64, Values: 1 << 17}

// parseFailures reads the file of failures into f.
func parseFailures(text []byte, file string, p *Plan, f *Failures) error {
	root, err := yamldoc.Read(file, text, failureLimits)
	if err != nil {
		return err
	}
	var doc struct {
		Failures []*yamldoc.Node `yaml:"failures"`
		Health   *yamldoc.Node   `yaml:"health_check"`
		Retry    *yamldoc.Node   `yaml:"retry"`
	}
	if err := yamldoc.Decode(file, yamldoc.Place{}, root, &doc); err != nil {
		return err
	}
	for i, n := range doc.Failures {
		e := failureReader{file: file, at: yamldoc.Place{}.Within("failures", n.Line).Item(i, n.Line), plan: p}
		x := e.failure(n)
		if x.Line = i + 1; e.fault != nil {
			return e.fault
		}
		f.List = append(f.List, x)
	}
	e := failureReader{file: file, plan: p}
	e.health(doc.Health, &f.Health)
	e.retry(doc.Retry, &f.Retry)
	return e.fault
}

// failureReader reads values of a file of failures. It keeps the first fault.
type failureReader struct {
	file  string
	at    yamldoc.Place // of the mapping
	plan  *Plan
	fault error
}

func (e *failureReader) fail(name string, n *yamldoc.Node, format string, args ...any) {
	if e.fault == nil {
		at := e.at
		if name != "" {
			at = at.Within(name, n.Line)
		}
		e.fault = at.Fault(e.file, format, args...)
	}
}

func (e *failureReader) decode(n *yamldoc.Node, into any) {
	if err := yamldoc.Decode(e.file, e.at, n, into); err != nil && e.fault == nil {
		e.fault = err
	}
}

// failureFields are the fields of a line of failures.
type failureFields struct {
	Crash     *yamldoc.Node `yaml:"crash"`
	Slow      *yamldoc.Node `yaml:"slow"`
	Link      *yamldoc.Node `yaml:"link"`
	At        *yamldoc.Node `yaml:"at"`
	For       *yamldoc.Node `yaml:"for"`
	MTBF      *yamldoc.Node `yaml:"mtbf"`
	MTTR      *yamldoc.Node `yaml:"mttr"`
	Factor    *yamldoc.Node `yaml:"factor"`
	Bandwidth *yamldoc.Node `yaml:"bandwidth"`
}

// failure reads one line.
func (e *failureReader) failure(n *yamldoc.Node) (x Failure) {
	var v failureFields
	if e.decode(n, &v); e.fault != nil {
		return x
	}
	switch {
	case count(v.Crash, v.Slow, v.Link) != 1:
		e.fail("", n, "want one of crash, slow and link, with the instance: {crash: instance-3, at: 600s, for: 120s}")
	case v.Bandwidth != nil && v.Link == nil:
		e.fail("bandwidth", v.Bandwidth, "goes with link")
	case v.Factor != nil && v.Slow == nil:
		e.fail("factor", v.Factor, "goes with slow")
	case v.Crash != nil:
		x.Kind, x.Of = Crash, e.target("crash", v.Crash)
	case v.Link != nil:
		e.link(n, &v, &x)
	default:
		e.slow(n, &v, &x)
	}
	e.when(n, &v, &x)
	return x
}

// link reads what a link that is slow or down is about, and the share of its bandwidth that is left.
func (e *failureReader) link(n *yamldoc.Node, v *failureFields, x *Failure) {
	if x.Kind = LinkShare; v.Link.Kind == yamldoc.String && hasStorage(e.plan, v.Link.Text) {
		x.Storage = v.Link.Text
	} else if x.Of = e.target("link", v.Link); e.fault == nil && !x.Of.pulls(e.plan) {
		e.fail("link", v.Link, "is %s: want an instance that pulls KV of others, or whose KV they pull (--architecture pd)", v.Link.Describe())
	}
	if v.Bandwidth == nil {
		e.fail("", n, "want bandwidth with link, the share that is left, like 0.5; 0: nothing")
	} else if y, ok := v.Bandwidth.Float(); !ok || !(y == 0 || y >= LeastShare && y <= 1) {
		e.fail("bandwidth", v.Bandwidth, "is %s: want a share from %v to 1, or 0: down", v.Bandwidth.Describe(), LeastShare)
	} else {
		x.Share = y
	}
}

// slow reads which instances are slow, and how much.
func (e *failureReader) slow(n *yamldoc.Node, v *failureFields, x *Failure) {
	x.Kind, x.Of = Slow, e.target("slow", v.Slow)
	if v.Factor == nil {
		e.fail("", n, "want factor with slow, the factor on the time of a step, like 2.5")
	} else if y, ok := v.Factor.Float(); !ok || !(y >= 1 && y <= MostFactor) {
		e.fail("factor", v.Factor, "is %s: want a number from 1 to %v", v.Factor.Describe(), float64(MostFactor))
	} else {
		x.Factor = y
	}
}

// when reads when the failure begins and how long it lasts, or that both come by chance.
func (e *failureReader) when(n *yamldoc.Node, v *failureFields, x *Failure) {
	switch {
	case (v.At == nil) == (v.MTBF == nil):
		e.fail("", n, "want at, the time of the failure, or mtbf, the mean time to it")
	case v.At != nil && v.MTTR != nil:
		e.fail("mttr", v.MTTR, "goes with mtbf; want for with at")
	case v.At != nil:
		x.At = vtime.Time(e.duration("at", v.At, 0))
		if v.For != nil {
			x.For = e.duration("for", v.For, 1)
		}
	case v.For != nil:
		e.fail("for", v.For, "goes with at; want mttr with mtbf")
	case v.MTTR == nil:
		e.fail("", n, "want mttr with mtbf, the mean time to the repair")
	default:
		x.MTBF = e.duration("mtbf", v.MTBF, 1)
		mean, cv, err := policy.ParseRandomDuration(v.MTTR.Text)
		if x.MTTR = (RandomDuration{mean, cv}); err != nil || mean < 1 || mean > mostFailureTime {
			e.fail("mttr", v.MTTR, "is %s: want a time above 0, like 5m, or 5m,cv=0.5 for a lognormal", v.MTTR.Describe())
		}
	}
}

// count returns how many of some values there are.
func count(list ...*yamldoc.Node) (n int) {
	for _, v := range list {
		if v != nil {
			n++
		}
	}
	return n
}

// LeastShare bounds the share of bandwidth that is left of a link which is not down, so that the time of a pull stays in
// range.
const LeastShare = 1e-6

// MostFactor bounds slow-downs, so that the time of a step stays in range.
const MostFactor = 1e6

// target reads which instances fail.
func (e *failureReader) target(name string, n *yamldoc.Node) Target {
	if n.Kind != yamldoc.String {
		e.fail(name, n, "is %s: want %s", n.Describe(), targetForms(e.plan))
		return everywhere
	}
	t, err := targetOf(e.plan, n.Text)
	if err != nil {
		e.fail(name, n, "is %s: %v", n.Describe(), err)
	}
	return t
}

// duration reads a time of at least least.
func (e *failureReader) duration(name string, n *yamldoc.Node, least vtime.Duration) vtime.Duration {
	d, err := vtime.ParseDuration(n.Text)
	if err != nil || d < least || d > mostFailureTime || n.Kind != yamldoc.String && n.Kind != yamldoc.Number {
		e.fail(name, n, "is %s: want a time from %v, like 600s", n.Describe(), least)
	}
	return d
}

// count reads a whole number from least to most.
func (e *failureReader) count(name string, n *yamldoc.Node, least, most int64, into *int64) {
	if n == nil || n.Kind == yamldoc.Null {
		return
	}
	x, ok := n.Whole()
	if *into = x; !ok || x < least || x > most {
		e.fail(name, n, "is %s: want %d to %d", n.Describe(), least, most)
	}
}

// section reads the mapping of a name, and reports whether there is one.
func (e *failureReader) section(name string, n *yamldoc.Node, into any) bool {
	if n == nil || n.Kind == yamldoc.Null {
		return false
	}
	e.at = yamldoc.Place{}.Within(name, n.Line)
	e.decode(n, into)
	return e.fault == nil
}

func (e *failureReader) health(n *yamldoc.Node, h *HealthCheck) {
	var v struct {
		Interval  *yamldoc.Node `yaml:"interval"`
		Failures  *yamldoc.Node `yaml:"failures"`
		Successes *yamldoc.Node `yaml:"successes"`
	}
	if !e.section("health_check", n, &v) {
		return
	}
	if v.Interval == nil {
		e.fail("", n, "want interval, the time between two probes, like 5s")
		return
	}
	*h = HealthCheck{e.duration("interval", v.Interval, 1), usualFailures, usualSuccesses}
	e.count("failures", v.Failures, 1, mostProbes, &h.Failures)
	e.count("successes", v.Successes, 1, mostProbes, &h.Successes)
}

func (e *failureReader) retry(n *yamldoc.Node, r *Retry) {
	var v struct {
		Router   *yamldoc.Node `yaml:"router"`
		Redirect *yamldoc.Node `yaml:"redirect_latency"`
		Migrate  bool          `yaml:"migrate"`
		Client   *yamldoc.Node `yaml:"client"`
		Backoff  *yamldoc.Node `yaml:"backoff"`
	}
	if !e.section("retry", n, &v) {
		return
	}
	r.Migrate = v.Migrate
	e.count("router", v.Router, 0, math.MaxInt16, &r.Router)
	e.count("client", v.Client, 0, mostRetries, &r.Client)
	if v.Redirect != nil {
		r.Redirect = e.duration("redirect_latency", v.Redirect, 1)
	}
	if v.Backoff != nil {
		r.Backoff = e.duration("backoff", v.Backoff, 1)
	}
}
