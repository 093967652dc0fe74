package setup

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"blis/input"
	"blis/vtime"
	"blis/workload/servegen"
	"blis/workload/spec"
	"blis/workload/traffic"
)

// openSpec reads the specification of the workload, if there is one. Its horizon,
// targets and seed hold where the configuration leaves them open.
func (p *resolver) openSpec() (err error) {
	c := &p.Config
	if c.Custom.Source != nil {
		return nil
	}
	if err := checkOneWorkload(c); err != nil {
		return err
	}
	switch {
	case c.WorkloadSpec != "":
		p.spec, err = readSpec(c)
	case c.Scenario != "":
		p.spec, err = spec.OpenScenario(c.Scenario)
	default:
		return nil
	}
	if fault := (*spec.Error)(nil); errors.As(err, &fault) && slices.Contains([]string{".csv", ".jsonl", ".gz"}, filepath.Ext(c.WorkloadSpec)) {
		return inputErrorf("--workload-spec: %s: no specification in YAML; a trace is given with --trace", c.WorkloadSpec)
	}
	if err != nil {
		return inputErrorf("--%s: %v", c.specFlag(), err)
	}
	if c.SLOTargets == "" {
		c.SLOTargets = p.spec.Targets()
	}
	if c.Horizon == 0 {
		c.Horizon = p.spec.Horizon()
	}
	if seed, given := p.spec.Seed(); given && c.WorkloadSeed == nil {
		if c.SeedGiven {
			seed = c.Seed
		}
		c.WorkloadSeed = &seed
	}
	return nil
}

// readSpec reads the file of the specification.
func readSpec(c *Config) (*spec.Spec, error) {
	path := c.WorkloadSpec
	if c.Open == nil {
		return spec.OpenFile(path)
	}
	text, err := readFile(c, path, input.Specification)
	if err != nil {
		return nil, err
	}
	return spec.Parse(path, text)
}

// specFlag returns the flag that names the specification.
func (c *Config) specFlag() string {
	if c.WorkloadSpec != "" {
		return "workload-spec"
	}
	return "scenario"
}

// checkOneWorkload refuses a workload that is given in two ways.
func checkOneWorkload(c *Config) error {
	var given []string
	for _, way := range []struct {
		set  bool
		flag string
	}{{c.WorkloadSpec != "", "--workload-spec"}, {c.Scenario != "", "--scenario"}, {c.Trace != "", "--trace"}, {c.Concurrency != 0, "--concurrency"}} {
		if way.set {
			given = append(given, way.flag)
		}
	}
	if len(given) > 1 {
		return inputErrorf("%s: each says what arrives: want one of them", strings.Join(given, " and "))
	}
	return nil
}

// resolveSpec makes the traffic that the specification describes.
func (p *resolver) resolveSpec() error {
	c := &p.Config
	config, notes, err := p.spec.Traffic(spec.Defaults{
		Seed: workloadSeed(c), Requests: defaultRequests, Timeout: c.Timeout, Pause: c.RefusalPause, Rate: c.Rate, Limit: c.NumRequests, Capacity: p.capacityFor,
		ServeGen: func(path string) ([]traffic.Client, error) {
			clients, notes, err := servegen.Read(path, servegen.Options{})
			for _, n := range notes {
				p.note("%s: %s", path, n)
			}
			return clients, err
		},
	})
	if err != nil {
		return err
	}
	config.Seed = workloadSeed(c)
	if c.Horizon > 0 {
		config.Horizon = vtime.Time(c.Horizon)
	}
	source, err := traffic.New(config)
	if err != nil {
		return fmt.Errorf("%s: %w", p.spec.Name(), err)
	}
	p.Source = source
	for _, n := range notes {
		p.note("%s", n)
	}
	if !slices.ContainsFunc(config.Clients, func(k traffic.Client) bool { return k.Users > 0 }) {
		p.noteIfSet([]string{"refusal-pause"}, "no client of the specification has concurrency")
	}
	for i := range config.Clients {
		k := &config.Clients[i]
		if p.warnOfTimeout(fmt.Sprintf("client %q: timeout", k.ID), k.Timeout); len(p.Summary.Warnings) > 0 {
			break // one says it
		}
	}
	p.Summary.Workload = describeSpec(p.spec, &config)
	return nil
}

// capacityFor returns the largest number of requests per second, with the given mean
// tokens, that the cluster completes.
func (p *resolver) capacityFor(input, output float64) float64 {
	p.estimate(input, output)
	return p.Summary.Capacity
}

// describeSpec returns a specification in a few words.
func describeSpec(s *spec.Spec, c *traffic.Config) string {
	text := filepath.Base(s.Name())
	switch n := len(c.Clients); n {
	case 1:
		text += fmt.Sprintf(": client %s", c.Clients[0].ID)
	case 2, 3, 4:
		names := make([]string, n)
		for i := range names {
			names[i] = c.Clients[i].ID
		}
		text += ": clients " + strings.Join(names, ", ")
	default:
		text += fmt.Sprintf(": %d clients", n)
	}
	if c.Requests > 0 {
		text += fmt.Sprintf(", up to %d requests", c.Requests)
	}
	return text
}
