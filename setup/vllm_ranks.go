package setup

import "strings"

// takeBalancing translates a flag of vLLM that says what endpoints data-parallel ranks have.
func (t *translation) takeBalancing(f *serveFlag, name string) {
	if strings.HasPrefix(name, "--no-") {
		return
	}
	lb := strings.TrimSuffix(strings.TrimPrefix(f.name, "data-parallel-"), "-lb")
	t.out = append(t.out, "--data-parallel-lb="+lb)
}
