package actors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"blis/vtime"
	"blis/workload"
)

// What Workload yields is what arrives in a run of the same configuration, up
// to the horizon, the request that arrives at it included.
func TestWorkloadIsThatOfTheRun(t *testing.T) {
	base := func(change func(*Config)) Config {
		c := DefaultConfig()
		c.NumRequests, c.NumInstances = 300, 2
		change(&c)
		return c
	}
	for name, cfg := range map[string]Config{
		"generated": base(func(c *Config) { c.Arrival, c.CV, c.PrefixTokens = "gamma", 3, 50 }),
		"horizon":   base(func(c *Config) { c.Arrival, c.Rate, c.Horizon = "constant", 100, vtime.Second }),
		"trace":     base(func(c *Config) { c.Trace, c.TraceLimit = "../testdata/traces/blis.csv", 3 }),
	} {
		t.Run(name, func(t *testing.T) {
			source, effective, setup, err := Workload(cfg)
			if err != nil {
				t.Fatal(err)
			}
			all, err := workload.Collect(source)
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for _, r := range all {
				want = append(want, fmt.Sprint(r.Arrival, r.Input, r.Session))
			}
			cfg.Row = func(r *Row) { got = append(got, fmt.Sprint(r.Arrival, r.Input, r.Session)) }
			result, err := Run(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) || len(got) == 0 {
				t.Errorf("the run has %d requests, Workload yields %d", len(got), len(want))
			}
			if setup.Workload != result.Setup.Workload || effective.Rate != result.Config.Rate || effective.Rate == 0 && cfg.Trace == "" {
				t.Errorf("%q at %v; the run says %q at %v", setup.Workload, effective.Rate, result.Setup.Workload, result.Config.Rate)
			}
			if name == "horizon" && all[len(all)-1].Arrival != vtime.Time(vtime.Second) {
				t.Errorf("the last arrives at %v", all[len(all)-1].Arrival)
			}
		})
	}
}

// failing is a source that has read something bad.
type failing struct{ workload.Slice }

func (*failing) Pull(*workload.Request) (bool, error) { return false, errors.New("x.csv:3: no") }

func TestWorkloadHasTheErrorsOfRun(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Source = &failing{}
	source, _, _, err := Workload(cfg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = source.Pull(&workload.Request{})
	_, want := Run(context.Background(), cfg)
	var input *InputError
	if !errors.As(err, &input) || want == nil || err.Error() != want.Error() {
		t.Errorf("%v, want %v as an input error", err, want)
	}
	cfg = DefaultConfig()
	cfg.NumInstances = 0
	if _, _, _, err := Workload(cfg); !errors.As(err, &input) {
		t.Errorf("no instances: %v", err)
	}
}
