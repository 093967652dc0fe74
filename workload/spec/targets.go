package spec

import (
	"fmt"
	"strings"

	"blis/vtime"
	"blis/yamldoc"
)

// target is what the requests of a class should keep; 0: none.
type target struct {
	class           string
	at              place
	ttft, tpot, e2e vtime.Duration
}

// targets are the targets of the classes, in the order in which they were given.
type targets []target

func (t *targets) of(class string, at place) *target {
	for i := range *t {
		if (*t)[i].class == class {
			return &(*t)[i]
		}
	}
	*t = append(*t, target{class: class, at: at})
	return &(*t)[len(*t)-1]
}

// Targets are the SLO targets of the specification, as the flag --slo-targets
// reads them: standard:ttft=500ms,tpot=50ms;batch:e2e=30s. Empty: none.
func (s *Spec) Targets() string {
	var all []string
	for i := range s.targets {
		t := &s.targets[i]
		var list []string
		for _, x := range []struct {
			name string
			d    vtime.Duration
		}{{"ttft", t.ttft}, {"tpot", t.tpot}, {"e2e", t.e2e}} {
			if x.d > 0 {
				list = append(list, fmt.Sprintf("%s=%dus", x.name, int64(x.d)))
			}
		}
		if list != nil {
			all = append(all, t.class+":"+strings.Join(list, ","))
		}
	}
	return strings.Join(all, ";")
}

// goodput reads targets per class, or of a tenant as tenant/gold, in milliseconds. itl_ms is the mean time per
// output token of a request, the convention of the TPOT.
func (r *reader) goodput(o *object) {
	v, at := o.get("goodput_slo_targets")
	if v == nil {
		return
	}
	if v.Kind != yamldoc.Mapping {
		r.fail(at, "%s is not allowed, want a mapping like {critical: {ttft_ms: 500, itl_ms: 50}}", v.Describe())
		return
	}
	for _, m := range v.Members {
		here := at.Within(m.Name, m.Line)
		class := m.Name
		if tenant, of := strings.CutPrefix(class, "tenant/"); !of {
			class = r.className(m.Name, here)
		} else if tenant == "" || strings.ContainsAny(tenant, ";") {
			r.fail(here, "%q names no tenant, want tenant/gold", m.Name)
		}
		in := r.object(m.Value, here, []string{"ttft_ms", "itl_ms", "e2e_ms"})
		t := r.spec.targets.of(class, here)
		for _, x := range []struct {
			name string
			d    *vtime.Duration
		}{{"ttft_ms", &t.ttft}, {"itl_ms", &t.tpot}, {"e2e_ms", &t.e2e}} {
			ms := in.number(x.name, 0, 1e12, "milliseconds from 0 (no target)")
			if us, err := vtime.Truncate(float64(ms.value*1000) + 0.5); ms.set && err == nil {
				*x.d = us
			}
		}
	}
}

// fillTargets takes the TTFT target of a client for the target of its class, if
// the class has none.
func (s *Spec) fillTargets() {
	for _, list := range [][]client{s.clients, s.cohorts} {
		for i := range list {
			c := &list[i]
			if c.target.value == 0 {
				continue
			}
			t := s.targets.of(c.className(""), c.target.place)
			switch {
			case t.ttft == 0:
				t.ttft = c.target.value
			case t.ttft != c.target.value:
				s.note(c.target.place, "has no effect: the TTFT target of class %s is %v already", t.class, t.ttft)
			}
		}
	}
}
