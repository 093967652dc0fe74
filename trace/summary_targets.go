package trace

import "blis/vtime"

// targetOf is the targets of requests of a class and a tenant: those of the tenant, else
// those of the class, else those for every class.
func (s *Summary) targetOf(class, tenant string) ClassTargets {
	for _, key := range [...]targetKey{{tenant: tenant}, {class: class}} {
		if t, ok := s.targets[key]; ok && key != (targetKey{}) {
			return t
		}
	}
	return s.targets[targetKey{}]
}

// targetKey is whose targets they are: of a tenant, of a class, or of neither, which is
// of every class without any.
type targetKey struct{ class, tenant string }

// addLatencies compares the latencies of r with the targets of its tenant or class.
func (s *Summary) addLatencies(r *Outcome, about example) {
	class, tenant := s.classes.at(r.Class), s.tenants.at(r.Tenant)
	target := s.targetOf(r.Class, r.Tenant)
	bounds := [...]*vtime.Duration{target.TTFT, target.TPOT, target.E2E}
	for i, d := range [...]*vtime.Duration{r.TTFT, r.TPOT, r.E2E} {
		if d == nil {
			continue
		}
		class.latencies[i].add(float64(*d))
		if bounds[i] != nil && *d > *bounds[i] {
			about.value = float64(*d)
			class.late[i].add(about, s.options.Examples)
			tenant.late[i].n++
		}
	}
}
