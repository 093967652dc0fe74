package workload

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"

	"blis/vtime"
)

// SyntheticConfig describes one client that sends independent requests: what
// the workload flags of a run say. Names in errors are those of the flags.
type SyntheticConfig struct {
	Seed     uint64  // of the workload's random streams
	Rate     float64 // mean arrivals per second, above 0
	Requests int64   // how many, from 1
	Arrival  Process // empty: Poisson
	CV       float64 // of the gaps, for Gamma and Weibull, from 0.001 to 100; else 0

	Input  Length // the request's own prompt tokens, from 1
	Output Length // tokens, from 0

	// PrefixTokens is the length of a prefix that all prompts begin with, such
	// as a system prompt. It is added to Input: a prompt has PrefixTokens +
	// Input tokens. 0: none.
	PrefixTokens int32

	Tenant, Model string
	Class         string         // empty: "standard"
	Timeout       vtime.Duration // deadline = arrival + Timeout; 0: no deadline
}

// DefaultClass is the SLO class of requests whose workload names none.
const DefaultClass = "standard"

// Synthetic is a Source of requests with random arrivals and lengths. It
// holds no requests: its size does not depend on their number.
type Synthetic struct {
	config   SyntheticConfig
	arrivals arrivals
	input    normals
	output   normals
	prefix   [1]Span
	labels   Labels
	pulled   int64
}

// NewSynthetic checks the configuration, all of it, and returns its source.
// The error is one line that names every bad field.
//
// Streams are named workload/default/arrivals, …/input and …/output: other
// lengths leave the arrivals as they were, and the other way round.
func NewSynthetic(c SyntheticConfig) (*Synthetic, error) {
	if c.Arrival == "" {
		c.Arrival = Poisson
	}
	if c.Class == "" {
		c.Class = DefaultClass
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	const client = "default"
	stream := func(purpose string) *vtime.Stream {
		return vtime.NewStream(c.Seed, "workload/"+client+"/"+purpose)
	}
	s := &Synthetic{
		config:   c,
		arrivals: newArrivals(c.Arrival, c.Rate, c.CV, stream("arrivals")),
		input:    normals{stream: stream("input")},
		output:   normals{stream: stream("output")},
		prefix:   [1]Span{{NamedContent(client), c.PrefixTokens}},
	}
	s.labels.Tenants.Label(c.Tenant)
	s.labels.Classes.Label(c.Class)
	s.labels.Models.Label(c.Model)
	return s, nil
}

func (c *SyntheticConfig) check() error {
	var bad faults
	rateOK := c.Rate > 0 && !math.IsInf(c.Rate, 0)
	if !rateOK {
		bad.add("rate", c.Rate, "want requests per second, above 0 and finite")
	}
	if c.Requests < 1 {
		bad.add("num-requests", c.Requests, "want at least 1")
	} else if rateOK && float64(c.Requests)/c.Rate*1e6 > float64(latest) {
		bad.add("rate", c.Rate, "%d requests would pass the end of virtual time, 2⁶² µs; want a higher rate or fewer requests", c.Requests)
	}
	switch c.Arrival {
	case Poisson, Constant:
		if c.CV != 0 {
			bad.add("cv", c.CV, "want it with arrival gamma or weibull only, not with %s", c.Arrival)
		}
	case Gamma, Weibull:
		if !(c.CV >= minCV && c.CV <= maxCV) {
			bad.add("cv", c.CV, "want from %v to %v", minCV, maxCV)
		}
	default:
		bad.add("arrival", fmt.Sprintf("%q", c.Arrival), "want poisson, constant, gamma or weibull")
	}
	c.Input.check(&bad, "prompt-tokens", 1)
	c.Output.check(&bad, "output-tokens", 0)
	if c.PrefixTokens < 0 {
		bad.add("prefix-tokens", c.PrefixTokens, "want 0 or more")
	} else if int64(c.PrefixTokens)+int64(c.Input.Max) > math.MaxInt32 {
		bad.add("prefix-tokens", c.PrefixTokens, "want at most %d with prompt-tokens-max %d", math.MaxInt32-c.Input.Max, c.Input.Max)
	}
	if c.Timeout < 0 {
		bad.add("timeout", c.Timeout, "want 0 (none) or more")
	}
	return bad.err("")
}

// Pull implements Source. It fails only when a random arrival passes the end
// of virtual time.
func (s *Synthetic) Pull(r *Request) (bool, error) {
	if s.pulled == s.config.Requests {
		return false, nil
	}
	at, err := s.arrivals.next()
	if err != nil {
		return false, err
	}
	c := &s.config
	*r = NewRequest(at, c.PrefixTokens+c.Input.sample(&s.input), c.Output.sample(&s.output))
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
func (s *Synthetic) Labels() *Labels { return &s.labels }

// Fold implements Source.
func (s *Synthetic) Fold() uint64 {
	var state [48]byte
	for i, n := range []*normals{&s.arrivals.draws, &s.input, &s.output} {
		binary.LittleEndian.PutUint64(state[16*i:], n.stream.Fold())
		if n.full { // a spare is state too
			binary.LittleEndian.PutUint64(state[16*i+8:], math.Float64bits(n.spare))
		}
	}
	return xxhash.Sum64(state[:])
}
