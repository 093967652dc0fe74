package traffic

import (
	"fmt"
	"math"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// SyntheticConfig describes one client that sends independent requests: what
// the workload flags of a run say. Errors name the flags.
type SyntheticConfig struct {
	Seed     uint64           // of the workload's random streams
	Rate     float64          // mean arrivals per second, above 0
	Requests int64            // how many, from 1
	Arrival  draw.ProcessKind // empty: draw.Poisson
	CV       float64          // of the gaps, for draw.Gamma and draw.Weibull, from 0.001 to 100; else 0

	Input  Normal // the request's own prompt tokens, from 1
	Output Normal // tokens, from 0

	// PrefixTokens is the length of a prefix that all prompts begin with, such
	// as a system prompt. It is added to Input: a prompt has PrefixTokens +
	// Input tokens. 0: none.
	PrefixTokens int32

	// Users makes the loop a closed one, in place of Rate: each of that many users
	// sends a request, waits for the answer, thinks for Think, and sends the next.
	// After a refusal a user waits at least for Pause, which is at least
	// LeastPause; 0: DefaultPause.
	Users int32
	Think vtime.Duration
	Pause vtime.Duration

	Tenant, Model string
	Class         string         // empty: "standard"
	Timeout       vtime.Duration // deadline = arrival + Timeout; 0: no deadline
}

// NewSynthetic checks the configuration, all of it, and returns its source: one
// client called "default", whose requests have nothing to do with each other.
// The error is one line that names every bad field.
func NewSynthetic(c SyntheticConfig) (*Source, error) {
	traffic, err := c.traffic()
	if err != nil {
		return nil, err
	}
	return New(traffic)
}

// Check is the check of NewSynthetic, without the source.
func (c SyntheticConfig) Check() error {
	traffic, err := c.traffic()
	if err != nil {
		return err
	}
	return traffic.Check()
}

// traffic is the traffic of the client.
func (c *SyntheticConfig) traffic() (Config, error) {
	if c.Arrival == "" {
		c.Arrival = draw.Poisson
	}
	if c.Class == "" {
		c.Class = workload.DefaultClass
	}
	if err := c.check(); err != nil {
		return Config{}, err
	}
	client := Client{
		ID: "default", Tenant: c.Tenant, Class: c.Class, Model: c.Model, Requests: c.Requests,
		Input: c.Input.length(), Output: c.Output.length(), Timeout: c.Timeout,
		Prefix: Prefix{Group: "default", Length: c.PrefixTokens, Share: 1},
	}
	if c.Users > 0 {
		client.Users, client.Think, client.Pause = c.Users, draw.Always(c.Think), draw.Always(c.Pause)
	} else {
		client.Process, client.Rate = draw.ArrivalProcess{Kind: c.Arrival, CV: c.CV}, draw.Flat(c.Rate)
	}
	return Config{Seed: c.Seed, Clients: []Client{client}}, nil
}

func (c *SyntheticConfig) check() error {
	var bad workload.Faults
	if c.Users > 0 {
		c.checkUsers(&bad)
	} else {
		c.checkArrivals(&bad)
	}
	c.Input.check(&bad, "prompt-tokens", 1)
	c.Output.check(&bad, "output-tokens", 0)
	if c.PrefixTokens < 0 {
		bad.Add("prefix-tokens", c.PrefixTokens, "want 0 or more")
	} else if int64(c.PrefixTokens)+int64(c.Input.Max) > math.MaxInt32 {
		bad.Add("prefix-tokens", c.PrefixTokens, "want at most %d with prompt-tokens-max %d", math.MaxInt32-c.Input.Max, c.Input.Max)
	}
	if c.Timeout < 0 {
		bad.Add("timeout", c.Timeout, "want 0 (none) or more")
	}
	return bad.Err("")
}

// checkUsers is for what sends in a closed loop.
func (c *SyntheticConfig) checkUsers(bad *workload.Faults) {
	if c.Users > maxUsers {
		bad.Add("concurrency", c.Users, "want at most %d users", maxUsers)
	}
	if c.Rate != 0 {
		bad.Add("rate", c.Rate, "want it without concurrency: users send when they have an answer")
	}
	if c.Think < 0 || vtime.Time(c.Think) > workload.Latest {
		bad.Add("think-time", c.Think, "want from 0 to %d", int64(workload.Latest))
	}
	if c.Pause != 0 && (c.Pause < LeastPause || vtime.Time(c.Pause) > workload.Latest) {
		bad.Add("refusal-pause", c.Pause, "want from %v to %d", LeastPause, int64(workload.Latest))
	}
	if c.Requests < 1 {
		bad.Add("num-requests", c.Requests, "want at least 1")
	}
	if c.Arrival != draw.Poisson || c.CV != 0 {
		bad.Add("arrival", fmt.Sprintf("%q", c.Arrival), "want none with concurrency")
	}
}

// checkArrivals is for what sends in an open loop.
func (c *SyntheticConfig) checkArrivals(bad *workload.Faults) {
	if c.Users < 0 {
		bad.Add("concurrency", c.Users, "want at least 1, 0 for none")
	}
	if c.Think != 0 {
		bad.Add("think-time", c.Think, "want it with concurrency only")
	}
	if c.Pause != 0 && c.Pause != DefaultPause {
		bad.Add("refusal-pause", c.Pause, "want it with concurrency only")
	}
	rateOK := c.Rate > 0 && !math.IsInf(c.Rate, 0)
	if !rateOK {
		bad.Add("rate", c.Rate, "want requests per second, above 0 and finite")
	}
	if c.Requests < 1 {
		bad.Add("num-requests", c.Requests, "want at least 1")
	} else if rateOK && float64(c.Requests)/c.Rate*1e6 > float64(workload.Latest) {
		bad.Add("rate", c.Rate, "%d requests would pass the end of virtual time, 2⁶² µs; want a higher rate or fewer requests", c.Requests)
	}
	switch c.Arrival {
	case draw.Poisson, draw.Constant:
		if c.CV != 0 {
			bad.Add("cv", c.CV, "want it with arrival gamma or weibull only, not with %s", c.Arrival)
		}
	case draw.Gamma, draw.Weibull:
		if !(c.CV >= draw.MinCV && c.CV <= draw.MaxCV) {
			bad.Add("cv", c.CV, "want from %v to %v", draw.MinCV, draw.MaxCV)
		}
	default:
		bad.Add("arrival", fmt.Sprintf("%q", c.Arrival), "want poisson, constant, gamma or weibull")
	}
}

// Normal is a number of tokens as the workload flags of a run give it:
// gaussian, rounded and clamped (see draw.Length). Stdev 0 is the constant Mean.
type Normal struct {
	Mean, Stdev float64 // tokens; Mean from Min to Max, Stdev from 0
	Min, Max    int32   // tokens
}

// length is the distribution.
func (l Normal) length() draw.Length {
	return draw.Length{Dist: draw.Gaussian(l.Mean, l.Stdev), Min: l.Min, Max: l.Max}
}

// check adds what is wrong with l; name is its flag, least the smallest Min.
func (l Normal) check(bad *workload.Faults, name string, least int32) {
	if l.Min < least {
		bad.Add(name+"-min", l.Min, "want at least %d", least)
	}
	if l.Max < l.Min {
		bad.Add(name+"-max", l.Max, "want at least %s-min %d", name, l.Min)
	}
	if !(l.Stdev >= 0) || math.IsInf(l.Stdev, 0) {
		bad.Add(name+"-stdev", l.Stdev, "want 0 or more tokens")
	}
	if !(l.Mean >= float64(l.Min) && l.Mean <= float64(l.Max)) {
		bad.Add(name, l.Mean, "want from %s-min %d to %s-max %d", name, l.Min, name, l.Max)
	}
}
