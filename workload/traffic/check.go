package traffic

import (
	"fmt"
	"math"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// maxClients and maxSessions are what the numbers of requests leave room for.
const (
	maxClients = 1 << (64 - numberBits)
	maxUsers   = 1 << 24
	maxGroups  = 1 << 20
)

// Check reports what is wrong with the configuration in one line: the first
// client that has a fault, and all of that client's.
func (c *Config) Check() error {
	var bad workload.Faults
	if len(c.Clients) == 0 || len(c.Clients) > maxClients {
		bad.Add("clients", len(c.Clients), "want from 1 to %d", maxClients)
	}
	if c.Requests < 0 {
		bad.Add("requests", c.Requests, "want at least 1, 0 for no limit")
	}
	if c.Horizon < 0 || c.Horizon > workload.Latest {
		bad.Add("horizon", int64(c.Horizon), "want from 1 µs to %d, 0 for none", int64(workload.Latest))
	}
	if err := bad.Err(""); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range c.Clients {
		k := &c.Clients[i]
		if seen[k.ID] {
			return fmt.Errorf("client %q: there are two of this name: want different names, as they name random streams", k.ID)
		}
		seen[k.ID] = true
		if err := k.check(c); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) check(all *Config) error {
	var bad workload.Faults
	c.checkArrivals(all, &bad)
	checkLength(&bad, "input", &c.Input, 1)
	checkLength(&bad, "output", &c.Output, 0)
	if c.MaxOutput < 0 {
		bad.Add("max_output", c.MaxOutput, "want at least 1, 0 for none")
	}
	if c.Timeout < 0 {
		bad.Add("timeout", c.Timeout, "want 0 (none) or more")
	}
	if math.IsNaN(c.Hint) || math.IsInf(c.Hint, 0) {
		bad.Add("hint", c.Hint, "want a finite number")
	}
	if len(c.Changes) > 0 && len(c.Rate.Pieces) == 0 {
		bad.Add("changes", len(c.Changes), "want none without a rate, of whose windows they are")
	} else if len(c.Changes) > len(c.Rate.Windows) {
		bad.Add("changes", len(c.Changes), "want at most one for each of the %d windows", len(c.Rate.Windows))
	}
	for i := range c.Changes {
		checkOptional(&bad, fmt.Sprintf("changes[%d].input", i), c.Changes[i].Input, 1)
		checkOptional(&bad, fmt.Sprintf("changes[%d].output", i), c.Changes[i].Output, 0)
	}
	c.Prefix.check(&bad)
	c.checkPrompts(&bad)
	c.checkKinds(&bad)
	return bad.Err(fmt.Sprintf("client %q: ", c.ID))
}

// checkArrivals: one way to send, and an end to it.
func (c *Client) checkArrivals(all *Config, bad *workload.Faults) {
	ways := 0
	for _, given := range []bool{len(c.Rate.Pieces) > 0, c.Stages != nil, c.Times != nil, c.Users != 0} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		bad.Add("arrivals", ways, "want exactly one of rate, stages, times and users")
	}
	if c.Users < 0 || c.Users > maxUsers {
		bad.Add("users", c.Users, "want from 1 to %d", maxUsers)
	}
	if len(c.Rate.Pieces) > 0 {
		c.Process.Check(bad, "")
		c.Rate.Check(bad, "rate.")
	}
	if !(c.BurstSize >= 0 && c.BurstSize <= 1) || c.BurstSize > 0 && len(c.Rate.Pieces) == 0 {
		bad.Add("burst_size", c.BurstSize, "want from 0 to 1, and 0 without a rate")
	}
	draw.CheckStages(bad, "", c.Stages)
	for i, t := range c.Times {
		if t < 0 || t > workload.Latest || i > 0 && t < c.Times[i-1] {
			bad.Add(fmt.Sprintf("times[%d]", i), int64(t), "want times from 0 to %d, in order", int64(workload.Latest))
			break
		}
	}
	if c.Requests < 0 {
		bad.Add("requests", c.Requests, "want at least 1, 0 for no limit")
	}
	ends := c.Requests > 0 || c.Stages != nil || c.Times != nil || len(c.Rate.Pieces) > 0 && c.Rate.Ends()
	if !ends && all.Horizon == 0 && (c.Users > 0 || all.Requests == 0) {
		bad.Add("requests", 0, "want a number of requests or a horizon, as nothing else ends them")
	}
	checkDelay(bad, "think", &c.Think)
	checkDelay(bad, "pause", &c.Pause)
	if c.Pause.Max != 0 && c.Pause.Least() < LeastPause {
		bad.Add("pause", c.Pause.Least(), "want at least %v", LeastPause)
	}
}

// checkPrompts: wherever the input of a single request comes from, the prefix
// fits before it. Of sessions each prompt is checked when it is known.
func (c *Client) checkPrompts(bad *workload.Faults) {
	fits := func(l *draw.Length, from string, at ...any) bool {
		if l == nil || int64(c.Prefix.Length)+int64(l.Max) <= math.MaxInt32 {
			return true
		}
		bad.Add("prefix.length", c.Prefix.Length, "want at most %d beside inputs of up to %d (%s)", math.MaxInt32-int64(l.Max), l.Max, fmt.Sprintf(from, at...))
		return false
	}
	if !fits(&c.Input, "input") {
		return
	}
	for i := range c.Changes {
		if !fits(c.Changes[i].Input, "changes[%d].input", i) {
			return
		}
	}
	for i := range c.Kinds {
		if k := &c.Kinds[i]; k.Session == nil && !fits(k.Input, "kinds[%d].input", i) {
			return
		}
	}
}

func (p *Prefix) check(bad *workload.Faults) {
	if p.Length < 0 {
		bad.Add("prefix.length", p.Length, "want 0 (none) or more tokens")
	}
	if p.Length == 0 {
		return
	}
	if p.Group == "" {
		bad.Add("prefix.group", `""`, "want a name for the content")
	}
	if !(p.Share >= 0 && p.Share <= 1) {
		bad.Add("prefix.share", p.Share, "want from 0 to 1")
	}
	if p.Count < 0 || p.Count > maxGroups {
		bad.Add("prefix.count", p.Count, "want from 1 to %d", maxGroups)
	}
	if p.Count > 1 {
		checkLength(bad, "prefix.pick", &p.Pick, 0)
	}
}

func (c *Client) checkKinds(bad *workload.Faults) {
	sum := 0.0
	for i := range c.Kinds {
		k := &c.Kinds[i]
		name := fmt.Sprintf("kinds[%d].", i)
		if !(k.Share >= 0 && k.Share <= 1) {
			bad.Add(name+"share", k.Share, "want from 0 to 1")
		}
		sum += k.Share
		checkOptional(bad, name+"input", k.Input, 1)
		checkOptional(bad, name+"output", k.Output, 0)
		if k.Session != nil {
			k.Session.check(bad, name+"session.", c.Users > 0)
		}
	}
	if len(c.Kinds) > 0 && !(math.Abs(sum-1) < 1e-6) {
		bad.Add("kinds", sum, "want shares that add up to 1")
	}
}

func (s *Session) check(bad *workload.Faults, name string, users bool) {
	if len(s.Graph) == 0 {
		checkLength(bad, name+"rounds", &s.Rounds, 1)
	}
	checkDelay(bad, name+"think", &s.Think)
	checkOptional(bad, name+"follow", s.Follow, 1)
	if s.Growth == Bounded && s.Limit < 1 {
		bad.Add(name+"limit", s.Limit, "want at least 1 token")
	}
	if s.Open && users {
		bad.Add(name+"open", s.Open, "want false: users wait for answers")
	}
	if s.Persists && len(s.Graph) > 0 {
		bad.Add(name+"persists", s.Persists, "want false with a graph, whose nodes need the answers")
	}
	steps := int64(s.Rounds.Max)
	if t := s.Tools; t != nil {
		if !(t.Probability >= 0 && t.Probability <= 1) {
			bad.Add(name+"tools.probability", t.Probability, "want from 0 to 1")
		}
		checkLength(bad, name+"tools.calls", &t.Calls, 0)
		checkDelay(bad, name+"tools.latency", &t.Latency)
		checkLength(bad, name+"tools.result", &t.Result, 1)
		steps *= 1 + int64(t.Calls.Max)
	}
	if r := s.Reasoning; r != nil {
		checkLength(bad, name+"reasoning.steps", &r.Steps, 0)
		checkLength(bad, name+"reasoning.tokens", &r.Tokens, 0)
	}
	if steps > maxSteps {
		bad.Add(name+"rounds", s.Rounds.Max, "want at most %d requests of a session, calls of tools included", maxSteps)
	}
	s.checkGraph(bad, name)
}

func (s *Session) checkGraph(bad *workload.Faults, name string) {
	if len(s.Graph) > maxSteps {
		bad.Add(name+"graph", len(s.Graph), "want at most %d nodes", maxSteps)
		return
	}
	if len(s.Graph) > 0 && (s.Open || s.Tools != nil || s.Growth != Linear) {
		bad.Add(name+"graph", len(s.Graph), "want none with open, tools or growth")
	}
	for i := range s.Graph {
		n, field := &s.Graph[i], fmt.Sprintf("%sgraph[%d].", name, i)
		checkDelay(bad, field+"wait", &n.Wait)
		checkOptional(bad, field+"input", n.Input, 1)
		checkOptional(bad, field+"output", n.Output, 0)
		seen := map[int]bool{}
		for _, a := range n.After {
			if a < 0 || a >= i || seen[a] {
				bad.Add(field+"after", a, "want different nodes before %d", i)
			}
			seen[a] = true
		}
	}
}

func checkOptional(bad *workload.Faults, name string, l *draw.Length, least int32) {
	if l != nil {
		checkLength(bad, name, l, least)
	}
}

func checkLength(bad *workload.Faults, name string, l *draw.Length, least int32) {
	if l.Min < least || l.Max < l.Min {
		bad.Add(name, fmt.Sprintf("%d to %d", l.Min, l.Max), "want a range of tokens from %d", least)
	}
}

func checkDelay(bad *workload.Faults, name string, d *draw.Delay) {
	if d.Min < 0 || d.Max < d.Min || vtime.Time(d.Max) > workload.Latest {
		bad.Add(name, fmt.Sprintf("%v to %v", d.Min, d.Max), "want a range of times from 0 to %d", int64(workload.Latest))
	}
}
