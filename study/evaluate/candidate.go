package evaluate

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"blis/bundle"
	"blis/policy"
	"blis/script"
)

// Candidate is the policies that are scored.
type Candidate struct {
	// File is the name of the file that has them. Only its extension counts: .star is a
	// program in Starlark, anything else a policy bundle in YAML. No answer names the file, as
	// search programs write each candidate to another one.
	File string
	Text []byte
}

// name is what faults call the candidate.
func (c *Candidate) name() string {
	if filepath.Ext(c.File) == ".star" {
		return "policy.star"
	}
	return "policy.yaml"
}

// policies are the policies of a candidate.
type policies struct {
	id     string
	bundle bundle.Bundle // what belongs to the cluster is left out
}

// read reads the policies of a candidate for some scenarios, which have a cluster in common or
// not. maxSteps is that of Options.
func (c *Candidate) read(s *Suite, list []*Scenario, maxSteps int64) (*policies, *Fault) {
	if len(c.Text) > maxCandidate {
		return nil, &Fault{Kind: PolicyFault, Message: "the candidate has more than 64 KiB, want at most that", Repeatable: true}
	}
	b, err := c.parse(s)
	if err != nil {
		return nil, faultOf(err)
	}
	if _, err := b.Complete(); err != nil {
		return nil, faultOf(b.Locate(err))
	}
	for _, one := range list {
		if err := checkCluster(&b, one); err != nil {
			return nil, faultOf(b.Locate(err))
		}
	}
	p := &policies{bundle: b}
	leaveOutCluster(&p.bundle)
	if p.id, err = p.bundle.ID(); err != nil {
		return nil, faultOf(err)
	}
	if maxSteps > 0 {
		if err := capSteps(&p.bundle, maxSteps); err != nil {
			return nil, faultOf(err)
		}
	}
	return p, nil
}

// maxCandidate is the longest text of a candidate, in bytes: that of a bundle.
const maxCandidate = 64 << 10

// parse reads the text of a candidate. What a program does not decide the baseline does.
func (c *Candidate) parse(s *Suite) (bundle.Bundle, error) {
	if filepath.Ext(c.File) == ".star" {
		return c.program(s)
	}
	b, err := bundle.Parse(c.name(), c.Text)
	if err != nil {
		return b, err
	}
	return b, b.Read(func(path string) ([]byte, error) {
		return nil, fmt.Errorf("%q: a candidate is one text and reads no file, want the program in source", clip(path, maxName))
	})
}

// program is the policies of a program.
func (c *Candidate) program(s *Suite) (bundle.Bundle, error) {
	b := s.Baseline
	leaveOutCluster(&b)
	kinds, err := script.Kinds(c.name(), string(c.Text))
	for _, kind := range kinds {
		for _, field := range []struct{ path, value string }{
			{".type", "starlark"}, {".params.file", c.name()}, {".params.source", string(c.Text)},
		} {
			if err == nil {
				err = b.Set(string(kind)+field.path, field.value)
			}
		}
	}
	return b, err
}

// checkCluster refuses a bundle that says otherwise than a scenario what its cluster can do.
func checkCluster(b *bundle.Bundle, c *Scenario) error {
	bad := func(path, problem string) error { return &policy.Error{Field: path, Problem: problem} }
	if given := b.Autoscale.Type; !c.scales && given != "" && given != noAutoscaler {
		return bad("autoscale.type", "the number of instances is fixed in scenario "+c.Name+": want none, or no autoscale")
	}
	for _, path := range b.Fields() {
		if !belongsToCluster(path) || !c.scales && strings.HasPrefix(path, "autoscale.") { // without effect
			continue
		}
		if has := c.cluster.Get(path); b.Get(path) != has {
			return bad(path, "a property of the cluster, which is "+strconv.Quote(has)+" in scenario "+c.Name+": want it left out, a policy decides what is done with the cluster")
		}
	}
	return nil
}

// leaveOutCluster leaves out of a bundle what belongs to the cluster, and what has no effect.
func leaveOutCluster(b *bundle.Bundle) {
	a := &b.Autoscale
	*a = bundle.AutoscaleSelection{Selection: a.Selection, Interval: a.Interval, Trigger: a.Trigger}
	if a.Type == "" || a.Type == noAutoscaler {
		*a = bundle.AutoscaleSelection{}
	}
	b.Observability, b.Metadata = bundle.Observability{}, nil
}

// with gives policies what belongs to the cluster of a scenario.
func (p *policies) with(c *Scenario) bundle.Bundle {
	b, of := p.bundle, &c.settings.Policies
	a := of.Autoscale
	a.Selection, a.Interval, a.Trigger = b.Autoscale.Selection, b.Autoscale.Interval, b.Autoscale.Trigger
	b.Autoscale, b.Observability = a, of.Observability
	return b
}

// capSteps lowers the parameter max_steps of the policies that have it.
func capSteps(b *bundle.Bundle, most int64) error {
	for _, kind := range policy.Kinds {
		name := b.Get(string(kind) + ".type")
		if name == "" {
			continue
		}
		t, err := policy.Find(kind, name)
		if err != nil {
			return err
		}
		p := t.Parameter("max_steps")
		if p == nil {
			continue
		}
		path := string(kind) + ".params.max_steps"
		text := b.Get(path)
		if text == "" {
			text = p.Default
		}
		if now, err := strconv.ParseFloat(text, 64); err == nil && now <= float64(most) {
			continue
		}
		if err := b.Set(path, strconv.FormatInt(most, 10)); err != nil {
			return err
		}
	}
	return nil
}
