package metrics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blis/vtime"
	"blis/workload"
)

// Targets are the latencies that a class or a tenant is promised; 0 means that nothing of
// the kind is promised.
type Targets struct {
	TTFT, TPOT, E2E vtime.Duration
}

// ClassTargets are the targets of the class of that name; with no name, of every
// class that has none of its own. With a tenant they are those of all its requests,
// whatever their class, in place of the targets of that class.
type ClassTargets struct {
	Class  string
	Tenant string // empty: of a class; else Class is empty
	Targets
}

func (t Targets) any() bool { return t != Targets{} }

// attained says whether o completed within every target. A latency that a
// completed request does not have (TPOT of a single token, TTFT of no output)
// was not late.
func (t Targets) attained(o *Outcome, token, request vtime.Duration) bool {
	if o.State != Completed {
		return false
	}
	ttft, _ := o.TTFT(token)
	tpot, _ := o.TPOT(token, request)
	e2e, _ := o.E2E(token, request)
	return within(ttft, t.TTFT) && within(tpot, t.TPOT) && within(e2e, t.E2E)
}

// Attained says whether the tenant or the class of a request has targets, and whether it met
// every one of them.
func (o *Options) Attained(of *Outcome) (judged, attained bool) {
	t := o.targetsOf(of.Class, of.Tenant)
	return t.any(), t.any() && t.attained(of, o.TokenOverhead, o.RequestOverhead)
}

// targetsOf are the targets of a request by its labels: those of its tenant if that has any,
// else those of its class.
func (o *Options) targetsOf(class, tenant workload.Label) Targets {
	if int(tenant) < len(o.Tenants) && o.Tenants[tenant].any() {
		return o.Tenants[tenant]
	}
	if int(class) < len(o.Targets) && o.Targets[class].any() {
		return o.Targets[class]
	}
	return o.Usual
}

// count adds o to the requests that were late for a target.
func (t Targets) count(late *Violations, o *Outcome, token, request vtime.Duration) {
	over := t.exceeded(o, token, request)
	for _, x := range [...]struct {
		late *int64
		over vtime.Duration
	}{{&late.TTFT, over.TTFT}, {&late.TPOT, over.TPOT}, {&late.E2E, over.E2E}} {
		if x.over > 0 {
			*x.late++
		}
	}
}

// exceeded returns by how much o exceeded each target, 0 where it did not. A
// request without the latency did not exceed it. A first token counts whatever
// became of the request later.
func (t Targets) exceeded(o *Outcome, token, request vtime.Duration) (over Targets) {
	ttft, _ := o.TTFT(token)
	tpot, _ := o.TPOT(token, request)
	e2e, _ := o.E2E(token, request)
	for _, x := range [...]struct {
		over            *vtime.Duration
		latency, target vtime.Duration
	}{{&over.TTFT, ttft, t.TTFT}, {&over.TPOT, tpot, t.TPOT}, {&over.E2E, e2e, t.E2E}} {
		if !within(x.latency, x.target) {
			*x.over = x.latency - x.target
		}
	}
	return over
}

// Exceeded returns by how much a request exceeded each target of its tenant or class, 0
// where it did not or there is no target. SLOViolations counts the same.
func (o *Options) Exceeded(of *Outcome) Targets {
	t := o.targetsOf(of.Class, of.Tenant)
	return t.exceeded(of, o.TokenOverhead, o.RequestOverhead)
}

// InWindow reports whether a request with this arrival is measured.
func (o *Options) InWindow(arrival vtime.Time) bool {
	return o.From <= arrival && (arrival < o.To || o.To == vtime.Never)
}

func within(d, target vtime.Duration) bool { return target == 0 || d <= target }

// ParseTargets reads "ttft=500ms,tpot=50ms;batch:e2e=30s": classes separated by
// semicolons, each with one or more of the targets ttft, tpot and e2e. A part
// without a class, of which there is at most one, is for all classes that are not
// named. "tenant/gold:ttft=200ms" is of a tenant, and holds for its requests in place of
// the targets of their classes. "gold=150000,silver=600000" is the public simulator's form:
// TTFT in µs by class. It keeps the order. The error names the part that is wrong.
func ParseTargets(text string) ([]ClassTargets, error) {
	if list, ok := parsePublic(text); ok {
		return list, nil
	}
	var all []ClassTargets
	seen := map[[2]string]bool{}
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";") {
		c, err := parseClass(strings.TrimSpace(part))
		if err == nil && seen[[2]string{c.Class, c.Tenant}] {
			err = fmt.Errorf("%s has targets already; give them in one list", c.of())
		}
		if err != nil {
			return nil, fmt.Errorf("SLO targets %q: %w", text, err)
		}
		seen[[2]string{c.Class, c.Tenant}] = true
		all = append(all, c)
	}
	return all, nil
}

// parsePublic reads targets in the public simulator's form; ok is false for others.
func parsePublic(text string) (list []ClassTargets, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		class, number, _ := strings.Cut(part, "=")
		class = strings.TrimSpace(class)
		micros, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		named := strings.ContainsAny(class, ":;/") || class == "" || class == "ttft" || class == "tpot" || class == "e2e"
		if err != nil || micros < 1 || named || slices.ContainsFunc(list, func(c ClassTargets) bool { return c.Class == class }) {
			return nil, false
		}
		list = append(list, ClassTargets{Class: class, Targets: Targets{TTFT: vtime.Duration(micros)}})
	}
	return list, true
}

// of names in errors whose targets they are.
func (c *ClassTargets) of() string {
	switch {
	case c.Tenant != "":
		return fmt.Sprintf("tenant %q", c.Tenant)
	case c.Class == "":
		return "every class"
	}
	return fmt.Sprintf("class %q", c.Class)
}

// TenantPrefix begins the name of a tenant where that of a class may stand.
const TenantPrefix = "tenant/"

// CutClass reads what stands before the last colon of a text, as "batch:p99_ttft": an SLO class, or with
// "tenant/gold:p99_ttft" a tenant. Class names may hold colons. rest is what follows; found is false without a colon.
func CutClass(text string) (class, tenant, rest string, found bool) {
	at := strings.LastIndex(text, ":")
	if at < 0 {
		return "", "", text, false
	}
	class, rest = strings.TrimSpace(text[:at]), text[at+1:]
	if name, is := strings.CutPrefix(class, TenantPrefix); is {
		return "", strings.TrimSpace(name), rest, true
	}
	return class, "", rest, true
}

// parseClass reads "standard:ttft=500ms,tpot=50ms", or the targets alone.
func parseClass(part string) (ClassTargets, error) {
	class, tenant, rest, found := CutClass(part)
	c := ClassTargets{Class: class, Tenant: tenant}
	switch {
	case found && strings.HasPrefix(part, TenantPrefix) && tenant == "":
		return c, fmt.Errorf("%q names no tenant: want tenant/gold:ttft=200ms", part)
	case found && class == "" && tenant == "" || part == "":
		return c, fmt.Errorf("%q names no class: want class:ttft=500ms,tpot=50ms, or ttft=500ms,tpot=50ms for all", part)
	}
	fields := map[string]*vtime.Duration{"ttft": &c.TTFT, "tpot": &c.TPOT, "e2e": &c.E2E}
	for item := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(item, "=")
		name = strings.TrimSpace(name)
		field := fields[name]
		if field == nil {
			return c, fmt.Errorf("%s: %q is no target: want ttft=, tpot= or e2e= with a duration", c.of(), strings.TrimSpace(item))
		}
		d, err := vtime.ParseDuration(value)
		switch {
		case err != nil:
			return c, fmt.Errorf("%s: %s: %w", c.of(), name, err)
		case d == 0:
			return c, fmt.Errorf("%s: %s must be at least 1 µs", c.of(), name)
		case *field != 0:
			return c, fmt.Errorf("%s: %s is given twice", c.of(), name)
		}
		*field = d
	}
	return c, nil
}
