// Command custompolicy compares a routing policy of its own with two that are
// built in, on the same traffic:
//
//	go run ./examples/custompolicy
//
// The policy keeps long prompts away from short ones: the last instance takes
// prompts of more than 1,500 tokens, the others share the rest by their number
// of requests in flight.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"blis/actors"
	"blis/policy"
	"blis/vtime"
)

// long is the prompt length from which a request counts as long, in tokens.
const long = 1500

// separate is the policy. It has no state, and reads one signal.
type separate struct{}

// Observes implements policy.Routing.
func (separate) Observes() policy.Signals { return policy.InFlight }

func (separate) Route(req *policy.Request, _ float64, _ *policy.RouterState, view *policy.View, _ vtime.Time) policy.RoutingDecision {
	last := view.Len() - 1
	if req.Input > long {
		return policy.RoutingDecision{Target: last}
	}
	target := 0
	for i := range last {
		if view.InFlight(i) < view.InFlight(target) {
			target = i
		}
	}
	return policy.RoutingDecision{Target: target}
}

func main() {
	if err := compare(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// compare prints a line per policy.
func compare(w io.Writer) error {
	fmt.Fprintf(w, "%-14s%12s%12s%12s\n", "routing", "TTFT p50 ms", "TTFT p99 ms", "E2E p99 ms")
	for _, name := range []string{"round-robin", "least-loaded", "separate"} {
		cfg := actors.DefaultConfig()
		cfg.NumRequests = 1000
		cfg.PromptTokens, cfg.PromptTokensStdev = 800, 900
		cfg.OutputTokens, cfg.OutputTokensStdev = 64, 32
		if name == "separate" {
			cfg.Custom.Routing = func(policy.Env) policy.Routing { return separate{} }
		} else {
			cfg.RoutingPolicy = name
		}
		result, err := actors.Run(context.Background(), cfg)
		if err != nil {
			return err
		}
		all := &result.Report.Overall
		fmt.Fprintf(w, "%-14s%12.1f%12.1f%12.1f\n", name, all.TTFT.P50/1e3, all.TTFT.P99/1e3, all.E2E.P99/1e3)
	}
	return nil
}
