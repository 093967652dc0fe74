package traffic

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// SyntheticConfig describes one client that sends independent requests: what
// the workload flags of a run say. Names in errors are those of the flags.
type SyntheticConfig struct {
	Seed     uint64       // of the workload's random streams
	Rate     float64      // mean arrivals per second, above 0
	Requests int64        // how many, from 1
	Arrival  draw.Process // empty: draw.Poisson
	CV       float64      // of the gaps, for draw.Gamma and draw.Weibull, from 0.001 to 100; else 0

	Input  Normal // the request's own prompt tokens, from 1
	Output Normal // tokens, from 0

	// PrefixTokens is the length of a prefix that all prompts begin with, such
	// as a system prompt. It is added to Input: a prompt has PrefixTokens +
	// Input tokens. 0: none.
	PrefixTokens int32

	Tenant, Model string
	Class         string         // empty: "standard"
	Timeout       vtime.Duration // deadline = arrival + Timeout; 0: no deadline
}

// Synthetic is a Source of requests with random arrivals and lengths. It
// holds no requests: its size does not depend on their number.
type Synthetic struct {
	config   SyntheticConfig
	arrivals draw.Arrivals
	lengths  struct{ input, output draw.Length }
	input    draw.Variates
	output   draw.Variates
	prefix   [1]workload.Span
	labels   workload.Labels
	pulled   int64
}

// NewSynthetic checks the configuration, all of it, and returns its source.
// The error is one line that names every bad field.
//
// Streams are named workload/default/arrivals, …/input and …/output: other
// lengths leave the arrivals as they were, and the other way round.
func NewSynthetic(c SyntheticConfig) (*Synthetic, error) {
	if c.Arrival == "" {
		c.Arrival = draw.Poisson
	}
	if c.Class == "" {
		c.Class = workload.DefaultClass
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	const client = "default"
	stream := func(purpose string) *vtime.Stream {
		return vtime.NewStream(c.Seed, "workload/"+client+"/"+purpose)
	}
	flat := draw.Flat(c.Rate)
	s := &Synthetic{
		config:   c,
		arrivals: draw.NewArrivals(draw.Law{Process: c.Arrival, CV: c.CV}, &flat, stream("arrivals")),
		input:    draw.NewVariates(stream("input")),
		output:   draw.NewVariates(stream("output")),
		prefix:   [1]workload.Span{{Content: workload.NamedContent(client), Length: c.PrefixTokens}},
	}
	s.lengths.input, s.lengths.output = c.Input.length(), c.Output.length()
	s.labels.Tenants.Label(c.Tenant)
	s.labels.Classes.Label(c.Class)
	s.labels.Models.Label(c.Model)
	return s, nil
}

func (c *SyntheticConfig) check() error {
	var bad workload.Faults
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

// Pull implements Source. It fails only when a random arrival passes the end
// of virtual time.
func (s *Synthetic) Pull(r *workload.Request) (bool, error) {
	if s.pulled == s.config.Requests {
		return false, nil
	}
	at, more, err := s.arrivals.Next()
	if err != nil || !more {
		return false, err
	}
	c := &s.config
	*r = workload.NewRequest(at, c.PrefixTokens+s.lengths.input.Sample(&s.input), s.lengths.output.Sample(&s.output))
	r.Index = uint64(s.pulled)
	if c.PrefixTokens > 0 {
		r.Spans = s.prefix[:]
	}
	if c.Timeout > 0 {
		r.Deadline = at.Add(c.Timeout)
	}
	s.pulled++
	return true, nil
}

// Labels implements Source: one tenant, class and model, each with label 0.
func (s *Synthetic) Labels() *workload.Labels { return &s.labels }

// Fold implements Source.
func (s *Synthetic) Fold() uint64 {
	var state [24]byte
	for i, fold := range []uint64{s.arrivals.Fold(), s.input.Fold(), s.output.Fold()} {
		binary.LittleEndian.PutUint64(state[8*i:], fold)
	}
	return xxhash.Sum64(state[:])
}
