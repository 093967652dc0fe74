package spec

import (
	"testing"

	"blis/workload"
	"blis/workload/traffic"
)

// defaults are those of a small cluster: 10 requests per second of 1000 tokens.
func defaults() Defaults {
	return Defaults{Seed: 42, Requests: 1000, Capacity: func(input, output float64) float64 { return 10_000 / (input + output) }}
}

// build parses a specification and makes its traffic.
func build(t testing.TB, text string) (traffic.Config, Notes) {
	t.Helper()
	s, err := Parse("w.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return trafficOf(t, s)
}

func trafficOf(t testing.TB, s *Spec) (traffic.Config, Notes) {
	t.Helper()
	c, notes, err := s.Traffic(defaults())
	if err != nil {
		t.Fatal(err)
	}
	if err := acceptable(&c); err != nil {
		t.Fatalf("%s: %v", s.Name(), err)
	}
	return c, notes
}

// clientOf is the one of that id.
func clientOf(t testing.TB, c *traffic.Config, id string) *traffic.Client {
	t.Helper()
	for i := range c.Clients {
		if c.Clients[i].ID == id {
			return &c.Clients[i]
		}
	}
	var ids []string
	for i := range c.Clients {
		ids = append(ids, c.Clients[i].ID)
	}
	t.Fatalf("no client %q among %q", id, ids)
	return nil
}

const (
	lengths = "input_distribution: {type: constant, params: {value: 100}}, output_distribution: {type: constant, params: {value: 10}}"
)

// acceptable is what package traffic wants of a configuration.
func acceptable(c *traffic.Config) error {
	var bad workload.Faults
	if c.Requests < 0 || c.Horizon < 0 || c.Horizon > workload.Latest {
		bad.Add("requests, horizon", [2]int64{c.Requests, int64(c.Horizon)}, "want from 0")
	}
	if len(c.Clients) == 0 || len(c.Clients) > maxClients {
		bad.Add("clients", len(c.Clients), "want from 1 to %d", maxClients)
	}
	ids := map[string]bool{}
	for i := range c.Clients {
		k := &c.Clients[i]
		if ids[k.ID] {
			bad.Add("id", k.ID, "want unique ids")
		}
		ids[k.ID] = true
		checkClient(&bad, k)
	}
	return bad.Err("")
}

func checkClient(bad *workload.Faults, c *traffic.Client) {
	ways := 0
	if c.Rate.Pieces != nil {
		ways++
		c.Rate.Check(bad, c.ID+" rate ")
		c.Law.Check(bad, c.ID+" law ")
		if len(c.Changes) > 0 && len(c.Changes) != len(c.Rate.Windows) {
			bad.Add(c.ID+" changes", len(c.Changes), "want one for each window")
		}
	}
	if c.Times != nil {
		ways++
	}
	if c.Users > 0 {
		ways++
	}
	if ways != 1 {
		bad.Add(c.ID, ways, "want one way to send")
	}
	if c.Requests < 0 || c.MaxOutput < 0 || c.Timeout < 0 || c.Class == "" {
		bad.Add(c.ID, *c, "want requests, limits and timeouts from 0, and a class")
	}
	checkLength(bad, c.ID+" input", &c.Input.Min, &c.Input.Max, 1, maxTokens)
	checkLength(bad, c.ID+" output", &c.Output.Min, &c.Output.Max, 0, maxTokens)
	if c.MaxOutput > 0 && c.Output.Max > c.MaxOutput {
		bad.Add(c.ID+" output", c.Output.Max, "want at most max output %d", c.MaxOutput)
	}
	p := &c.Prefix
	if p.Length < 0 || p.Length > 0 && (p.Group == "" || !(p.Share >= 0 && p.Share <= 1) || p.Count < 1) {
		bad.Add(c.ID+" prefix", *p, "want a group, share and count")
	}
	if p.Count > 1 {
		checkLength(bad, c.ID+" pick", &p.Pick.Min, &p.Pick.Max, 0, p.Count-1)
	}
	sum := 0.0
	for i := range c.Kinds {
		k := &c.Kinds[i]
		sum += k.Share
		if k.Input != nil {
			checkLength(bad, c.ID+" kind input", &k.Input.Min, &k.Input.Max, 1, maxTokens)
		}
		if k.Session != nil {
			checkSession(bad, c.ID, k.Session)
		}
	}
	if len(c.Kinds) > 0 && (sum < 1-1e-9 || sum > 1+1e-9) {
		bad.Add(c.ID+" shares", sum, "want 1")
	}
}

func checkLength(bad *workload.Faults, name string, from, to *int32, least, most int32) {
	if *from < least || *to < *from || *to > most {
		bad.Add(name, [2]int32{*from, *to}, "want rising, within %d and %d", least, most)
	}
}

func checkSession(bad *workload.Faults, id string, s *traffic.Session) {
	if s.Growth == traffic.Bounded && s.Limit < 1 {
		bad.Add(id+" limit", s.Limit, "want from 1")
	}
	if s.Graph == nil {
		checkLength(bad, id+" rounds", &s.Rounds.Min, &s.Rounds.Max, 1, 100_000)
	}
	names := map[string]bool{}
	for i := range s.Graph {
		n := &s.Graph[i]
		if names[n.Name] {
			bad.Add(id+" node", n.Name, "want unique names")
		}
		names[n.Name] = true
		for _, j := range n.After {
			if j < 0 || j >= i {
				bad.Add(id+" after", j, "want an earlier node")
			}
		}
	}
	if t := s.Tools; t != nil {
		if !(t.Probability >= 0 && t.Probability <= 1) || t.Result.Min < 1 || t.Calls.Min < 0 {
			bad.Add(id+" tools", *t, "want a probability and results of tokens")
		}
	}
}
