package trace

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
