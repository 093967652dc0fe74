package setup

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"blis/policy"
	"blis/vtime"
	"blis/yamldoc"
)

// The file of --failures.

var failureLimits = yamldoc.Options{Bytes: 1 << 20, Depth: 8, Name: 64, Values: 1 << 17}

// parseFailures reads the file of failures into f.
func parseFailures(text []byte, file string, pool *Pool, f *Failures) error {
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
		e := failureReader{file: file, at: yamldoc.Place{}.Within("failures", n.Line).Item(i, n.Line), pool: pool}
		x := e.failure(n)
		if x.Line = i + 1; e.fault != nil {
			return e.fault
		}
		f.List = append(f.List, x)
	}
	e := failureReader{file: file, pool: pool}
	e.health(doc.Health, &f.Health)
	e.retry(doc.Retry, &f.Retry)
	return e.fault
}

// failureReader reads values of a file of failures. It keeps the first fault.
type failureReader struct {
	file  string
	at    yamldoc.Place // of the mapping
	pool  *Pool
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

// failure reads one line.
func (e *failureReader) failure(n *yamldoc.Node) (x Failure) {
	var v struct {
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
	e.decode(n, &v)
	switch {
	case e.fault != nil:
		return x
	case v.Link != nil:
		e.fail("link", v.Link, "failures of links are not modelled yet: want crash or slow")
	case (v.Crash == nil) == (v.Slow == nil):
		e.fail("", n, "want one of crash and slow, with the instance: {crash: instance-3, at: 600s, for: 120s}")
	case v.Bandwidth != nil:
		e.fail("bandwidth", v.Bandwidth, "goes with link, which is not modelled yet")
	case v.Crash != nil:
		x.Kind, x.Instance = Crash, e.instance("crash", v.Crash)
		if v.Factor != nil {
			e.fail("factor", v.Factor, "goes with slow")
		}
	default:
		x.Kind, x.Instance = Slow, e.instance("slow", v.Slow)
		if v.Factor == nil {
			e.fail("", n, "want factor with slow, the factor on the time of a step, like 2.5")
		} else if y, ok := v.Factor.Float(); !ok || !(y >= 1 && y <= MostFactor) {
			e.fail("factor", v.Factor, "is %s: want a number from 1 to %v", v.Factor.Describe(), float64(MostFactor))
		} else {
			x.Factor = y
		}
	}
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
	return x
}

// MostFactor bounds slow-downs, so that the time of a step stays in range.
const MostFactor = 1e6

var instanceName = regexp.MustCompile(`^instance-(0|[1-9][0-9]{0,6})$`)

// instance reads which instance fails, −1 for all.
func (e *failureReader) instance(name string, n *yamldoc.Node) int {
	match := instanceName.FindStringSubmatch(n.Text)
	switch {
	case n.Kind == yamldoc.String && n.Text == "all":
		return -1
	case n.Kind == yamldoc.String && strings.Contains(n.Text, "/"):
		e.fail(name, n, "is %s: deployments, pools and nodes are not modelled yet: want an instance, like instance-3, or all", n.Describe())
		return 0
	case n.Kind != yamldoc.String || match == nil:
		e.fail(name, n, "is %s: want an instance, like instance-3, or all", n.Describe())
		return 0
	}
	i, _ := strconv.Atoi(match[1])
	if e.pool.Scaling == nil && i >= e.pool.Instances {
		e.fail(name, n, "is %s: there are instance-0 to instance-%d (--num-instances)", n.Describe(), e.pool.Instances-1)
	}
	return i
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
