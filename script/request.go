package script

import (
	"go.starlark.net/starlark"

	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// request is the argument req. What a policy of the kind does not know is an error.
type request struct {
	of       *machine
	identity *workload.Identity
	full     *policy.Request // nil: it waits on an instance
	waiting  *policy.Waiting // nil: it does not
	priority float64
	scored   bool // it has a priority
	present  bool // it is asked about at the present alone, although it waits
	kind     policy.Kind
	hints    hintsOf
}

func number(x float64) starlark.Value { return starlark.Float(x) }
func count(x int64) starlark.Value    { return starlark.MakeInt64(x) }
func seconds(t vtime.Time) starlark.Value {
	if t == vtime.Never {
		return starlark.None
	}
	return number(t.Seconds())
}

// requestAttributes are those of req. There is no number of the request and no seed:
// a program that knows them learns its exam by heart.
var requestAttributes attributes[*request]

func init() { requestAttributes = makeRequestAttributes() }

func makeRequestAttributes() attributes[*request] {
	tenant := func(help string, signals policy.Signals, f func(st *policy.RouterState, tenant workload.Label, now vtime.Time) starlark.Value) attribute[*request] {
		return attribute[*request]{help, signals, func(r *request) starlark.Value {
			if r.full == nil {
				return nil
			}
			return f(r.of.now.router, r.full.Tenant, r.of.now.at)
		}}
	}
	of := func(help string, f func(r *request) starlark.Value) attribute[*request] {
		return attribute[*request]{help: help, value: f}
	}
	full := func(help string, f func(r *request) starlark.Value) attribute[*request] {
		return of(help, func(r *request) starlark.Value {
			if r.full == nil {
				return nil
			}
			return f(r)
		})
	}
	waiting := func(help string, f func(r *request) starlark.Value) attribute[*request] {
		return of(help, func(r *request) starlark.Value {
			if r.waiting == nil {
				return nil
			}
			return f(r)
		})
	}
	timely := func(help string, f func(r *request) starlark.Value) attribute[*request] {
		return of(help, func(r *request) starlark.Value {
			if r.full == nil && !r.present {
				return nil
			}
			return f(r)
		})
	}
	return attributes[*request]{
		"input":      of("tokens of its prompt", func(r *request) starlark.Value { return count(int64(r.identity.Input)) }),
		"max_output": of("the client's limit of output tokens, None without", (*request).maxOutput),
		"tenant":     of("name of its tenant, empty without", func(r *request) starlark.Value { return r.of.names.tenant(r.identity.Tenant) }),
		"slo_class":  of("its SLO class, empty without", func(r *request) starlark.Value { return r.of.names.class(r.identity.Class) }),
		"session":    of("a number of its session, 0 without", func(r *request) starlark.Value { return starlark.MakeUint64(r.identity.Session) }),
		"round":      of("how many came before it in its session", func(r *request) starlark.Value { return count(int64(r.identity.Round)) }),
		"arrival":    of("when it arrived, in seconds", func(r *request) starlark.Value { return seconds(r.identity.Arrival) }),
		"priority": of("its priority; not in admit and priority", func(r *request) starlark.Value {
			if !r.scored {
				return nil
			}
			return number(r.priority)
		}),
		hintsName:  of("[hints](#hints) of the priority policy, as in `req.hints.urgent`; not in admit and priority", (*request).hintsValue),
		"deadline": full("by when it must have ended in seconds, None without", func(r *request) starlark.Value { return seconds(r.full.Deadline) }),
		"hint":     full("the client's priority, 0 without", func(r *request) starlark.Value { return number(r.full.Hint) }),
		"delays":   full("how often it was delayed", func(r *request) starlark.Value { return count(int64(r.full.Delays)) }),
		"attempt":  full("how often an instance gave it back", func(r *request) starlark.Value { return count(int64(r.full.Attempt)) }),
		"now":      timely("the present, in seconds of virtual time; not in order", func(r *request) starlark.Value { return seconds(r.of.now.at) }),
		"age": timely("seconds since it arrived; not in order", func(r *request) starlark.Value {
			return number(r.of.now.at.Sub(r.identity.Arrival).Seconds())
		}),
		"ttft_target": of("TTFT target of its tenant or class in seconds, None without", (*request).ttftTarget),
		"queued":      waiting("when it was queued on the instance, in seconds; in schedulers only", func(r *request) starlark.Value { return seconds(r.waiting.Queued) }),
		"preempted":   waiting("whether it was preempted; in schedulers only", func(r *request) starlark.Value { return starlark.Bool(r.waiting.Preempted) }),
		"tag":         waiting("a number that tells it apart from others; with another seed it has another one; in schedulers only", func(r *request) starlark.Value { return number(r.of.tag(r.waiting.ID)) }),

		"tenant_active": tenant("active requests of its tenant", policy.Active, func(st *policy.RouterState, t workload.Label, _ vtime.Time) starlark.Value {
			return count(st.ActiveOf(t))
		}),
		"tenant_requests": tenant("requests of its tenant so far", policy.Rates, func(st *policy.RouterState, t workload.Label, _ vtime.Time) starlark.Value {
			return count(st.RequestsOf(t))
		}),
		"tenant_rate": tenant("arrivals of its tenant per second, over the last 10 s", policy.Rates, func(st *policy.RouterState, t workload.Label, at vtime.Time) starlark.Value {
			return number(st.RateOf(t, at))
		}),
		"tenant_burst": tenant("whether that is above three times its tenant's mean", policy.Rates, func(st *policy.RouterState, t workload.Label, at vtime.Time) starlark.Value {
			return starlark.Bool(st.Burst(t, at))
		}),
	}
}

func (r *request) maxOutput() starlark.Value {
	limit := int32(workload.Absent)
	if r.full != nil {
		limit = r.full.MaxOutput
	} else if r.waiting != nil {
		limit = r.waiting.MaxOutput
	}
	if limit == workload.Absent {
		return starlark.None
	}
	return count(int64(limit))
}

func (r *request) ttftTarget() starlark.Value {
	if target, any := r.of.ttftTarget(r.identity); any {
		return number(target)
	}
	return starlark.None
}

// ttftTarget returns the TTFT target of a request in seconds, and whether it has any.
func (m *machine) ttftTarget(of *workload.Identity) (target float64, any bool) {
	f := m.env.TTFTTarget
	if f == nil {
		return 0, false
	}
	t := f(of.Class, of.Tenant)
	return t.Seconds(), t > 0
}

// Attr implements starlark.HasAttrs.
func (r *request) Attr(name string) (starlark.Value, error) {
	a, ok := requestAttributes[name]
	if !ok {
		return nil, noAttribute("req", name, r.AttrNames())
	}
	if a.signals&^r.of.program.signals != 0 {
		return nil, typeMistake("req.%s is not declared: the program does not name it", name)
	}
	x := a.value(r)
	if x == nil {
		return nil, typeMistake("req.%s is not known in a policy of the kind %s", name, r.kind)
	}
	return x, nil
}

// AttrNames implements starlark.HasAttrs.
func (r *request) AttrNames() []string { return requestAttributes.names() }

func (r *request) String() string        { return "<request>" }
func (r *request) Type() string          { return "request" }
func (r *request) Freeze()               {}
func (r *request) Truth() starlark.Bool  { return true }
func (r *request) Hash() (uint32, error) { return 0, typeMistake("a request cannot be a key") }

// labelNames are the names behind labels as values.
type labelNames struct {
	env              *policy.Env
	tenants, classes []starlark.Value
}

func (n *labelNames) tenant(l workload.Label) starlark.Value {
	if n.env.Labels == nil {
		return starlark.String("")
	}
	return nameOf(&n.tenants, &n.env.Labels.Tenants, l)
}

func (n *labelNames) class(l workload.Label) starlark.Value {
	if n.env.Labels == nil {
		return starlark.String("")
	}
	return nameOf(&n.classes, &n.env.Labels.Classes, l)
}

// nameOf returns the name of a label. Names become values when they are asked for first.
func nameOf(known *[]starlark.Value, names *workload.Names, l workload.Label) starlark.Value {
	if int(l) >= names.Len() {
		return starlark.String("")
	}
	for int(l) >= len(*known) {
		*known = append(*known, starlark.String(names.Name(workload.Label(len(*known)))))
	}
	return (*known)[l]
}
