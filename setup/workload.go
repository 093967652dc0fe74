package setup

import (
	"fmt"
	"strconv"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// capacityShare is the default rate as a share of the capacity: at low load policies
// do not differ.
const capacityShare = 0.8

// resolveWorkload makes the source of requests, and a rate where none is given.
func (p *resolver) resolveWorkload() error {
	c := &p.Config
	if p.Config.Custom.Source != nil {
		p.Source, p.Summary.Workload = p.Config.Custom.Source, "custom source"
		return nil
	}
	if p.spec != nil {
		return p.resolveSpec()
	}
	if c.Trace != "" {
		return p.openTrace()
	}
	if c.NumRequests == 0 {
		c.NumRequests = defaultRequests
	}
	if !p.brief || c.Rate == 0 && c.Concurrency == 0 {
		p.estimate(c.PromptTokens+float64(c.PrefixTokens), c.OutputTokens)
	}
	if c.Rate == 0 && c.Concurrency == 0 {
		c.Rate = roundRate(float64(capacityShare * p.Summary.Capacity))
		p.note("rate %s/s: %.0f %% of the capacity for such lengths, about %.4g/s", strconv.FormatFloat(c.Rate, 'g', -1, 64), 100*capacityShare, p.Summary.Capacity)
	}
	synthetic := traffic.SyntheticConfig{
		Seed: workloadSeed(c), Rate: c.Rate, Requests: c.NumRequests, Arrival: draw.ProcessKind(c.Arrival), CV: c.CV,
		Input:        traffic.Normal{Mean: c.PromptTokens, Stdev: c.PromptTokensStdev, Min: c.PromptTokensMin, Max: c.PromptTokensMax},
		Output:       traffic.Normal{Mean: c.OutputTokens, Stdev: c.OutputTokensStdev, Min: c.OutputTokensMin, Max: c.OutputTokensMax},
		PrefixTokens: c.PrefixTokens, Timeout: c.Timeout, Users: c.Concurrency, Think: c.ThinkTime, Pause: c.RefusalPause,
	}
	if p.brief {
		return synthetic.Check()
	}
	source, err := traffic.NewSynthetic(synthetic)
	if err != nil {
		return err
	}
	p.Source = source
	p.warnOfTimeout("timeout", c.Timeout)
	p.Summary.Workload = fmt.Sprintf("%d requests, %s, %s tokens in, %s out", c.NumRequests, arrivalText(c),
		lengths(c.PromptTokens, c.PromptTokensStdev), lengths(c.OutputTokens, c.OutputTokensStdev))
	if c.PrefixTokens > 0 {
		p.Summary.Workload += fmt.Sprintf(", %d shared prefix tokens", c.PrefixTokens)
	}
	return nil
}

// warnOfTimeout warns of a timeout that is shorter than any answer; of says whether
// it is the setting's or a client's.
func (p *resolver) warnOfTimeout(of string, timeout vtime.Duration) {
	r := workload.NewRequest(0, 1, 1)
	if least := p.Alone(&r); timeout > 0 && timeout < least {
		p.warn("%s %v is shorter than one step: the shortest answer takes %v", of, timeout, least)
	}
}

// defaultRequests is the default number of requests.
const defaultRequests = 1000

// estimate keeps the largest number of requests per second, with the given mean
// tokens, that the cluster completes. How requests divide over deployments is not known: all
// are busy alike.
func (p *resolver) estimate(input, output float64) {
	p.Summary.Capacity = 0
	for i := range p.Deployments {
		d := &p.Deployments[i]
		rate, binds := d.Capacity(input, output, func(pool *Pool) float64 { return float64(pool.Instances * pool.Ranks.Ranks) })
		if i == 0 {
			p.Summary.Binds = binds
		}
		p.Summary.Capacity += rate
	}
}

// arrivalText says how requests arrive.
func arrivalText(c *Config) string {
	switch {
	case c.Concurrency == 0:
		return fmt.Sprintf("%s at %s/s", c.Arrival, strconv.FormatFloat(c.Rate, 'g', -1, 64))
	case c.ThinkTime == 0:
		return fmt.Sprintf("%d users", c.Concurrency)
	}
	return fmt.Sprintf("%d users who think %v", c.Concurrency, c.ThinkTime)
}

// roundRate keeps three digits, so that a derived rate is easy to type again.
func roundRate(rate float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(rate, 'g', 3, 64), 64)
	if err != nil {
		return rate
	}
	return r
}

func lengths(mean, stdev float64) string {
	if stdev == 0 {
		return strconv.FormatFloat(mean, 'g', -1, 64)
	}
	return fmt.Sprintf("%g ± %g", mean, stdev)
}

func workloadSeed(c *Config) uint64 {
	if c.WorkloadSeed != nil {
		return *c.WorkloadSeed
	}
	return c.Seed
}

// Loops reports whether requests of the workload follow from answers.
func (p *Plan) Loops() bool {
	l, ok := p.Source.(workload.ClosedLoop)
	return ok && l.Awaits()
}
