package setup

import (
	"fmt"
	"strconv"
	"strings"

	"blis/engine"
	"blis/input"
	"blis/vtime"
)

// FailureSettings is what a user sets of failures of instances. The tags are as those of Config.
type FailureSettings struct {
	Failures     string         `json:"failures" name:"failures" type:"path" group:"Failures" help:"YAML file that says which instances crash or are slow, and when; see docs/failures.md."`
	MTBF         vtime.Duration `json:"mtbf" name:"mtbf" default:"0" group:"Failures" help:"Mean time from ready, or from a repair, to a crash of each instance, exponentially distributed: 6h; 0: none. With --mttr."`
	MTTR         RandomDuration `json:"mttr" name:"mttr" default:"0" group:"Failures" help:"Time from a crash to the repair: 5m, or 5m,cv=0.5 for a lognormal."`
	HealthCheck  HealthCheck    `json:"health-check" name:"health-check" placeholder:"5s,3,1" group:"Failures" help:"Probes by which the router learns of crashes: their interval, how many in a row must fail until an instance gets no requests, how many must succeed until it does again. Empty: the router knows at once, or as the file of --failures says."`
	Retries      int64          `json:"retries" name:"retries" default:"0" group:"Failures" help:"How often a client sends a request again that was lost with its instance; 0: as the file of --failures says."`
	RetryBackoff vtime.Duration `json:"retry-backoff" name:"retry-backoff" default:"1s" group:"Failures" help:"Time until a client with --retries does so first; it doubles each time."`
}

// Fails reports whether instances may fail.
func (f *FailureSettings) Fails() bool { return f.Failures != "" || f.MTBF > 0 }

// failureSettings are the settings that only failures make count.
var failureSettings = []string{"mttr", "health-check", "retries", "retry-backoff"}

// HealthCheck is how probes find instances that are down. The zero value is none.
type HealthCheck struct {
	Interval            vtime.Duration // probes are at its multiples
	Failures, Successes int64          // in a row, until an instance is known to be down, or up
}

// String returns the form that UnmarshalText reads.
func (h HealthCheck) String() string {
	if h == (HealthCheck{}) {
		return ""
	}
	return fmt.Sprintf("%v,%d,%d", h.Interval, h.Failures, h.Successes)
}

// MarshalText implements encoding.TextMarshaler.
func (h HealthCheck) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads "5s,3,1": interval, failures, successes. The last ones may be left out.
func (h *HealthCheck) UnmarshalText(text []byte) error {
	if *h = (HealthCheck{}); len(text) == 0 {
		return nil
	}
	const want = "want interval,failures,successes, like 5s,3,1"
	parts := strings.Split(string(text), ",")
	if len(parts) > 3 {
		return fmt.Errorf("%q: %s", text, want)
	}
	interval, err := vtime.ParseDuration(strings.TrimSpace(parts[0]))
	if err != nil {
		return fmt.Errorf("%q: %s", text, want)
	}
	*h = HealthCheck{interval, usualFailures, usualSuccesses}
	for i, n := range [...]*int64{&h.Failures, &h.Successes} {
		if i+1 < len(parts) {
			if *n, err = strconv.ParseInt(strings.TrimSpace(parts[i+1]), 10, 32); err != nil {
				return fmt.Errorf("%q: %s", text, want)
			}
		}
	}
	return h.check()
}

// The thresholds of Kubernetes' probes.
const usualFailures, usualSuccesses = 3, 1

func (h *HealthCheck) check() error {
	switch {
	case h.Interval < 1 || h.Interval > mostFailureTime:
		return fmt.Errorf("an interval of %v: want 1us to %v", h.Interval, mostFailureTime)
	case h.Failures < 1 || h.Failures > mostProbes || h.Successes < 1 || h.Successes > mostProbes:
		return fmt.Errorf("%d failures and %d successes in a row: want 1 to %d", h.Failures, h.Successes, mostProbes)
	}
	return nil
}

const (
	mostProbes      = 1000
	mostRetries     = 30                          // the last one waits for 2²⁹ times the first
	mostFailureTime = 100 * 365 * 24 * vtime.Hour // so that sums of a few fit
)

// Failures is what fails in a run, how the router learns of it, and what becomes of requests that
// are lost with their instance.
type Failures struct {
	List   []Failure   // in the order of the file; that of --mtbf is the first
	Health HealthCheck // zero: the router knows at once
	Retry  Retry

	Repaired []Repaired // by pool
}

// Repaired is how an instance of a pool comes back that was repaired.
type Repaired struct {
	Warmup   engine.Warmup // From is of each
	Routable bool          // requests go to it while it is warming
}

// Retry is what becomes of a request that was lost with its instance: the router routes it again,
// else the client sends it again, else it has failed.
type Retry struct {
	Router   int64          // times that the router routes a request again, at most
	Redirect vtime.Duration // from the loss to its decision, at least 1 µs
	Migrate  bool           // also requests of which the client has a token
	Client   int64          // times that a client sends a request again, at most
	Backoff  vtime.Duration // from the loss to the first time; it doubles each time. At least 1 µs
}

// Wait returns how long a client waits that has sent a request again n times, at least 0.
func (r *Retry) Wait(n int64) vtime.Duration {
	if d := r.Backoff << n; d>>n == r.Backoff && d > 0 {
		return d
	}
	return vtime.Duration(vtime.Never) // longer than there is time
}

// FailureKind is what happens to an instance.
type FailureKind uint8

// Kinds.
const (
	Crash FailureKind = iota
	Slow
	LinkShare // pulls of and to the instance have a share of their bandwidth
)

// Failure is a line of failures: one at a time, or ever again by chance.
type Failure struct {
	Kind   FailureKind
	Line   int // number in the list from 1, 0: --mtbf; it names the random streams
	Of     Target
	Factor float64 // of slow
	Share  float64 // of link: of the bandwidth that is left, in [0, 1]

	Storage string // of link: the name of a storage tier, whose transfers it is about; empty: it is about instances

	At  vtime.Time     // of one at a time
	For vtime.Duration // that it lasts; 0: to the end of the run

	MTBF vtime.Duration // above 0: by chance
	MTTR RandomDuration
}

// checkFailures checks the settings of failures one by one.
func checkFailures(c *Config, check func(ok bool, name string, value any, want string)) {
	check(c.MTBF >= 0 && c.MTBF <= mostFailureTime, "mtbf", c.MTBF, "0 (none) or more, like 6h")
	check(c.MTBF == 0 || c.MTTR.Mean >= 1, "mttr", c.MTTR, "a time above 0 with --mtbf, like 5m")
	check(c.MTTR.Mean <= mostFailureTime, "mttr", c.MTTR, "a shorter time")
	check(c.HealthCheck == (HealthCheck{}) || c.HealthCheck.check() == nil, "health-check", c.HealthCheck, "interval,failures,successes, like 5s,3,1")
	check(c.Retries >= 0 && c.Retries <= mostRetries, "retries", c.Retries, fmt.Sprintf("0 to %d", mostRetries))
	check(c.RetryBackoff >= 1 && c.RetryBackoff <= mostFailureTime, "retry-backoff", c.RetryBackoff, "1us or more")
}

// resolveFailures reads what fails. Without any failure the pool has none, whatever else is set.
func resolveFailures(p *resolver) error {
	c := &p.Config
	f := Failures{Retry: Retry{Redirect: vtime.Millisecond, Backoff: vtime.Second}, Repaired: []Repaired{repaired(c)}}
	if len(p.parts) > 0 {
		f.Repaired = nil
	}
	for _, part := range p.parts {
		f.Repaired = append(f.Repaired, repaired(&part.Config))
	}
	if c.MTBF > 0 {
		f.List = append(f.List, Failure{Of: everywhere, MTBF: c.MTBF, MTTR: c.MTTR})
	}
	if c.Failures != "" {
		text, err := readFile(c, c.Failures, input.Settings)
		if err != nil {
			return fileError("failures", err)
		}
		if err := parseFailures(text, c.Failures, p.Plan, &f); err != nil {
			return err
		}
	}
	if c.HealthCheck != (HealthCheck{}) {
		f.Health = c.HealthCheck
	}
	if c.Retries > 0 {
		f.Retry.Client, f.Retry.Backoff = c.Retries, c.RetryBackoff
	}
	if len(f.List) == 0 {
		return nil
	}
	p.Failures = &f
	return nil
}

// repaired returns how an instance of the pool that c describes comes back.
func repaired(c *Config) Repaired {
	return Repaired{engine.Warmup{Duration: c.WarmupDuration, Penalty: c.WarmupPenalty, Curve: engine.Curve(c.WarmupCurve)}, c.WarmupRoutable}
}

// Random reports whether failures come by chance.
func (f *Failures) Random() bool {
	for i := range f.List {
		if f.List[i].MTBF > 0 {
			return true
		}
	}
	return false
}

// Next returns the first probe after t.
func (h *HealthCheck) Next(t vtime.Time) vtime.Time {
	if t < 0 {
		return 0
	}
	return vtime.Time((int64(t)/int64(h.Interval) + 1) * int64(h.Interval))
}
