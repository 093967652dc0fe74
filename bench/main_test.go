package bench

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"blis/actors"
)

// TestMain lets the test binary stand for blis: as a child process it answers
// the two commands that Run starts.
func TestMain(m *testing.M) {
	switch args := os.Args[1:]; {
	case len(args) > 0 && args[0] == "run":
		os.Exit(standIn(args[1:]))
	case len(args) > 0 && args[0] == "bench":
		c := Calibration{Schema: CalibrationSchema, WallNS: 2 * ReferenceNS, CPUNS: ReferenceNS}
		if c.WriteJSON(os.Stdout) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// standIn is `blis run`: it reads settings and prints the digest.
func standIn(args []string) int {
	c := actors.DefaultConfig()
	for _, a := range args {
		if name, value, _ := strings.Cut(strings.TrimPrefix(a, "--"), "="); name != "format" {
			if err := c.Set(name, value); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 2
			}
		}
	}
	c.NumRequests = min(c.NumRequests, 500)
	r, err := actors.Run(context.Background(), c)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	digest := r.Digest
	if os.Getenv("BENCH_TEST_FICKLE") != "" { // a run that depends on the cores
		digest += os.Getenv("GOMAXPROCS")
	}
	fmt.Printf("{\"schema\":\"blis.run/v1\",\"setup\":{\"latency_model\":%q,\"coefficient_set\":%q},\"digest\":%q}\n", r.Setup.LatencyModel, r.Setup.CoefficientSet, digest)
	return 0
}
