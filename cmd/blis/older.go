package main

import (
	"fmt"
	"strings"

	"blis/suggest"
)

// older is the flag with which older scripts for the public simulator say where
// requests come from. The flags that say what arrives are enough.
type older struct {
	Workload string `hidden:"" placeholder:"KIND" group:"Workload" help:"distribution or traces, as older scripts have it; --trace and the other flags say it by themselves."`
}

// check holds the other flags to it.
func (o *older) check(s *settings) error {
	switch kinds := []string{"distribution", "traces"}; {
	case o.Workload == "":
	case o.Workload == "traces" && s.Trace == "":
		return &inputError{"--workload traces: no trace is given, want --trace FILE too"}
	case o.Workload == "distribution":
		for _, other := range []struct{ flag, value string }{{"trace", s.Trace}, {"workload-spec", s.WorkloadSpec}, {"scenario", s.Scenario}} {
			if other.value != "" {
				return &inputError{fmt.Sprintf("--workload distribution: given beside --%s %s, want one of them", other.flag, other.value)}
			}
		}
	case o.Workload != "traces":
		return &inputError{fmt.Sprintf("--workload: unknown workload %q, the nearest is %q (there are: %s); lengths are given with --prompt-tokens and --output-tokens, see also --scenario",
			o.Workload, suggest.Nearest(o.Workload, kinds), strings.Join(kinds, ", "))}
	}
	return nil
}
