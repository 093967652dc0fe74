package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"blis/actors"
	"blis/vtime"
)

// Scenario is one workload to measure.
type Scenario struct {
	Name   string // group/variant
	Title  string
	Config actors.Config
	Budget time.Duration // whole process on one quiet core of the reference machine; 0: none

	// Against, when set, names the scenario of whose CPU time this one may
	// take at most AtMost times as much.
	Against string
	AtMost  float64
}

// Groups that Options.Scenarios may name.
const (
	line1  = "line1"
	line2  = "line2"
	line3  = "line3"
	line4  = "line4"
	line5  = "line5"
	growth = "growth"
)

// usual are the groups measured when none is named: the others take minutes.
var usual = []string{line1, line2, line3}

// Scenarios are all of them: lines 1 to 5 of the budget, then those that show
// how cost grows, then those whose prompts share content.
func Scenarios() []Scenario {
	return slices.Concat(budgeted(), growing(), sharing())
}

// requests is the number of requests of a scenario.
func (s *Scenario) requests() int64 {
	if s.Config.TraceLimit > 0 {
		return s.Config.TraceLimit
	}
	return s.Config.NumRequests
}

// sized is s with n requests.
func (s Scenario) sized(n int64) Scenario {
	if s.Config.TraceLimit > 0 {
		s.Config.TraceLimit = n
	} else {
		s.Config.NumRequests = n
	}
	return s
}

// budgeted are the lines of the speed budget.
func budgeted() []Scenario {
	stale := func(c actors.Config) actors.Config {
		c.SnapshotRefreshInterval, c.InFlight = 50*vtime.Millisecond, "periodic"
		return c
	}
	list := []Scenario{
		{Name: line1, Config: load(1_000, 1, "round-robin"), Budget: 20 * time.Millisecond},
		{Name: line2, Config: load(10_000, 4, "round-robin"), Budget: 50 * time.Millisecond},
		{Name: line3 + "/round-robin", Config: load(100_000, 16, "round-robin"), Budget: 200 * time.Millisecond},
		{Name: line3 + "/least-loaded", Config: load(100_000, 16, "least-loaded"), Budget: 250 * time.Millisecond},
		{Name: line3 + "/weighted", Config: load(100_000, 16, "weighted"), Budget: 300 * time.Millisecond},
		{Name: line4 + "/round-robin", Config: load(1_000_000, 256, "round-robin"), Budget: 2 * time.Second},
		{Name: line4 + "/least-loaded", Config: load(1_000_000, 256, "least-loaded"), Budget: 4 * time.Second},
		{Name: line5 + "/least-loaded", Config: stale(load(10_000_000, 1_000, "least-loaded")), Budget: 30 * time.Second},
		{Name: line5 + "/weighted", Config: stale(load(10_000_000, 1_000, "weighted")), Budget: 30 * time.Second},
	}
	for i := range list {
		list[i].Title = title(&list[i].Config)
	}
	return list
}

// growing are scenarios at 16 instances that differ in one thing each.
func growing() []Scenario {
	const base = growth + "/100K"
	coarse := load(100_000, 16, "round-robin")
	coarse.BlockSizeInTokens = 512
	// The same requests in flight, each eight times as long.
	long := load(100_000, 16, "round-robin")
	long.Rate /= 8
	long.OutputTokens *= 8
	long.OutputTokensStdev *= 8
	long.OutputTokensMin *= 8
	long.OutputTokensMax *= 8
	physics := load(100_000, 16, "round-robin")
	physics.AlphaCoeffs, physics.BetaCoeffs, physics.Coefficients = nil, nil, "h100"
	physics.AsyncScheduling = new(true) // as the servers of h100
	// Linear within 1.25×; blocks of 512 not slower; output ×8 at rate ÷8 at
	// most 3×; physics at most 1.5 times blackbox.
	return []Scenario{
		{Name: growth + "/10K", Title: "10 K requests", Config: load(10_000, 16, "round-robin")},
		{Name: base, Title: "100 K requests", Config: load(100_000, 16, "round-robin"), Against: growth + "/10K", AtMost: 12.5},
		{Name: growth + "/1M", Title: "1 M requests", Config: load(1_000_000, 16, "round-robin"), Against: base, AtMost: 12.5},
		{Name: growth + "/block-512", Title: "100 K requests, blocks of 512 tokens", Config: coarse, Against: base, AtMost: 1},
		{Name: growth + "/output-x8", Title: "100 K requests, output ×8, rate ÷8", Config: long, Against: base, AtMost: 3},
		{Name: growth + "/physics", Title: "100 K requests, physics in place of blackbox", Config: physics, Against: base, AtMost: 1.5},
	}
}

// perInstance is the load of the budget, requests per second: it keeps an
// instance 75 % busy.
const perInstance = 44

// load is the workload of the budget. Async scheduling is off by name, as it was by
// default when the budget was set: a binary of then runs the same.
func load(requests int64, instances int, routing string) actors.Config {
	c := actors.DefaultConfig()
	c.AlphaCoeffs = []float64{1601.35, 3.51, 1805.54}
	c.BetaCoeffs = []float64{6910.42, 17.67, 2.84}
	c.NumInstances, c.RoutingPolicy, c.AsyncScheduling = instances, routing, new(false)
	c.TotalKVBlocks, c.MaxNumBatchedTokens, c.MaxNumSeqs = 29_205, 2_048, 256
	c.NumRequests, c.Rate = requests, float64(perInstance*instances)
	c.PromptTokens, c.PromptTokensStdev, c.PromptTokensMin, c.PromptTokensMax = 512, 128, 32, 2_048
	c.OutputTokens, c.OutputTokensStdev, c.OutputTokensMin, c.OutputTokensMax = 256, 64, 16, 1_024
	return c
}

func title(c *actors.Config) string {
	instances := "instances"
	if c.NumInstances == 1 {
		instances = "instance"
	}
	t := fmt.Sprintf("%s requests, %d %s, %s", count(max(c.NumRequests, c.TraceLimit)), c.NumInstances, instances, c.RoutingPolicy)
	if c.SnapshotRefreshInterval > 0 {
		t += fmt.Sprintf(", signals every %v", c.SnapshotRefreshInterval)
	}
	return t
}

// count writes a round number of requests as people do.
func count(n int64) string {
	switch {
	case n >= 1e6 && n%1e6 == 0:
		return fmt.Sprintf("%d M", n/1e6)
	case n >= 1e3 && n%1e3 == 0:
		return fmt.Sprintf("%d K", n/1e3)
	}
	return fmt.Sprint(n)
}

// Shortened is s with at most n requests and without budget or limit, for
// tests that want the scenario and not its size.
func (s Scenario) Shortened(n int64) Scenario {
	if s.requests() <= n {
		return s
	}
	s = s.sized(n)
	s.Title += ", shortened to " + count(n) + " requests"
	s.Budget, s.Against, s.AtMost = 0, "", 0
	return s
}

// Names lists the scenarios that Options.Scenarios may name.
func Names() []string {
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// choose finds the scenarios of names and groups, in the order of Scenarios.
func choose(names []string) ([]Scenario, error) {
	if len(names) == 0 {
		names = usual
	}
	all := Scenarios()
	wanted := make([]bool, len(all))
	for _, name := range names {
		found := false
		for i := range all {
			if name == "all" || name == all[i].Name || strings.HasPrefix(all[i].Name, name+"/") {
				wanted[i], found = true, true
			}
		}
		if !found {
			return nil, inputErrorf("scenario %q is not known: want all, %s, %s, %s, %s, %s, %s, %s or one of %s",
				name, line1, line2, line3, line4, line5, growth, content, strings.Join(Names(), ", "))
		}
	}
	var list []Scenario
	for i := range all {
		if wanted[i] {
			list = append(list, all[i])
		}
	}
	return list, nil
}

// Arguments are the flags of `blis run` that give the scenario: every setting
// that is not the default.
func (s *Scenario) Arguments() ([]string, error) {
	var args []string
	for setting := range s.Config.NotDefault() {
		text, err := flagValue(setting.Value.Interface())
		if err != nil {
			return nil, fmt.Errorf("bench: --%s of %s: %w", setting.Name, s.Name, err)
		}
		args = append(args, "--"+setting.Name+"="+text)
	}
	return args, nil
}

// flagValue writes a setting as the command line reads it.
func flagValue(value any) (string, error) {
	text, err := json.Marshal(value)
	return strings.Trim(string(text), `[]"`), err
}
