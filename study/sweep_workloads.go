package study

import (
	"fmt"
	"strings"
	"sync"

	"blis/setup"
)

// workloadChecks opens the trace or specification of points, which setup.Effective does
// not. Each is opened once, however many points have it.
type workloadChecks struct {
	mutex sync.Mutex
	known map[string]error
}

// check reports a fault of the workload of a configuration, as setup.Resolve does.
func (w *workloadChecks) check(c *setup.Config) error {
	if c.Trace == "" && c.WorkloadSpec == "" && c.Scenario == "" {
		return nil
	}
	key := workloadKey(c)
	w.mutex.Lock()
	defer w.mutex.Unlock() // one opens it, the others wait for the answer
	if err, known := w.known[key]; known {
		return err
	}
	_, err := setup.Resolve(*c)
	if w.known == nil {
		w.known = map[string]error{}
	}
	w.known[key] = err
	return err
}

// workloadKey is equal for configurations whose workloads are read in the same way. How
// fast requests come is left out.
func workloadKey(c *setup.Config) string {
	var key strings.Builder
	for s := range c.Settings() {
		group := s.Tag.Get("group")
		if (group == "Workload" || s.Name == "slo-targets" || s.Name == "horizon") && s.Name != "rate" {
			fmt.Fprintf(&key, "%v\x00", s.Value.Interface())
		}
	}
	return key.String()
}
