package evaluate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"blis/actors"
	"blis/latency"
	"blis/setup"
	"blis/study"
	"blis/suggest"
	"blis/workload"
	"blis/workload/spec"
	"blis/yamldoc"
)

// ids are hashes of what decides a score, besides policies and seeds: what decides the
// traffic, and all the rest. Both are of an effective configuration with the policies of the
// baseline.
type ids struct{ workload, cluster string }

// hash is the SHA-256 of text in hexadecimal digits, as bundle.ID has it.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// join is the hash of the hashes of several scenarios.
func join(list []*Scenario, of func(*Scenario) string) string {
	var text []byte
	for _, c := range list {
		text = fmt.Appendf(text, "%s %s\n", c.Name, of(c))
	}
	return hash(text)
}

// version is of what, besides the ids and the seeds, an answer depends on.
func version() string {
	return fmt.Sprintf("semantics %d, data %s (%s)", actors.SemanticsVersion, latency.DataDate, latency.DataSum)
}

// ofTraffic reports whether a setting decides what arrives.
func ofTraffic(name, group string) bool { return group == "Workload" || name == "horizon" }

// check checks a scenario with the policies of the baseline, as far as that goes without its
// run, and takes from its plan what is known before.
func (d *document) check(at yamldoc.Place, c *Scenario) error {
	if c.trace.text != nil && (c.workload.text != nil || c.settings.Scenario != "") {
		return d.fault(at, "has a trace and another workload: want one of them")
	}
	if c.workload.text != nil {
		if err := d.checkWorkload(at, c); err != nil {
			return err
		}
	}
	cfg, err := c.config(c.settings.Policies)
	if err != nil {
		return d.fault(at, "%v", err)
	}
	plan, err := setup.Resolve(seeded(cfg, c.Seeds[0]))
	if err != nil {
		if strings.HasPrefix(err.Error(), d.file+":") { // with its line
			return err
		}
		return d.fault(at, "%v", err)
	}
	if err := d.checkClasses(at, c, plan.Source.Labels()); err != nil {
		return err
	}
	c.cluster = plan.Config.Policies
	c.scales = c.cluster.Autoscale.Type != noAutoscaler
	c.accuracy = accuracy(&plan.Summary)
	c.unused = unused(plan.Summary.Notes)
	c.ids, err = c.hashes(plan)
	return err
}

// checkClasses refuses a weight for the requests of a class or a tenant that does not come.
func (d *document) checkClasses(at yamldoc.Place, c *Scenario, labels *workload.Labels) error {
	for i := range c.Measures {
		w := &c.Measures[i]
		for _, of := range []struct {
			what, name string
			known      []string
		}{{"class", w.Class, labels.Classes.List()}, {"tenant", w.Tenant, labels.Tenants.List()}} {
			if w.Weight > 0 && of.name != "" && !slices.Contains(of.known, of.name) {
				return d.fault(at, "measure %s: no request is of %s %q%s (there are: %s)", w.key(), of.what, of.name, suggest.Hint(of.name, of.known), strings.Join(of.known, ", "))
			}
		}
	}
	return nil
}

// checkWorkload refuses a specification that names files.
func (d *document) checkWorkload(at yamldoc.Place, c *Scenario) error {
	if given := c.settings.Scenario; given != "" {
		return d.fault(at, "has a workload and the setting scenario: want one of them")
	}
	s, err := spec.Parse(c.workload.path, c.workload.text)
	if err != nil {
		return err
	}
	if files := s.Files(); len(files) > 0 {
		return d.fault(at, "the workload names the file %s: a suite stands alone, want a specification without files", files[0])
	}
	return nil
}

// hashes computes the ids from a plan.
func (c *Scenario) hashes(plan *setup.Plan) (of ids, err error) {
	cfg := plan.Config
	cfg.WorkloadSpec, cfg.Trace, cfg.Failures = "", "", "" // their content counts
	text, err := study.AppendSettings(nil, &cfg, ofTraffic)
	if err != nil {
		return of, err
	}
	text = fmt.Appendf(text, "specification %q\n", c.workload.line)
	if c.trace.text != nil {
		text = fmt.Appendf(text, "trace %q\n", c.trace.line)
	}
	if strings.Contains(c.workload.line, `"utilization"`) || strings.Contains(c.workload.line, `"scenario"`) || cfg.Scenario != "" {
		text = fmt.Appendf(text, "capacity %v\n", plan.Summary.Capacity) // the rate is a share of it
	}
	of.workload = hash(fmt.Appendf(text, "seeds %v\n", c.Seeds))

	text, err = study.AppendSettings(nil, &cfg, func(name, group string) bool { return !ofTraffic(name, group) })
	if err != nil {
		return of, err
	}
	for i := range c.Measures {
		text = fmt.Appendf(text, "measure %s %v\n", c.Measures[i].key(), c.Measures[i].Weight)
	}
	text = fmt.Appendf(text, "failures %q\n", c.failures.line)
	of.cluster = hash(fmt.Appendf(text, "weight %v\n", c.Weight))
	return of, nil
}

// key is of a scenario with everything that decides what the baseline yields there.
func (c *Scenario) key() string {
	return hash(fmt.Appendf(nil, "%s\n%s\n%s\n%s\n", c.Name, c.ids.workload, c.ids.cluster, version()))
}

// seedsOf lists the seeds of scenarios, each once, in their order.
func seedsOf(list []*Scenario) []uint64 {
	seeds := []uint64{}
	for _, c := range list {
		for _, seed := range c.Seeds {
			if !slices.Contains(seeds, seed) {
				seeds = append(seeds, seed)
			}
		}
	}
	return seeds
}

// accuracy says what is known of the error of the latency model of a run.
func accuracy(s *setup.Summary) string {
	a := s.Accuracy
	if a == nil || a.Stated == nil {
		return fmt.Sprintf("the error of the latency model (%s) is not stated for such a run", s.LatencyModel)
	}
	var list []string
	for _, m := range []struct {
		name string
		of   *latency.Deviation
	}{{"E2E", a.Stated.E2E}, {"TPOT", a.Stated.TPOT}, {"TTFT", a.Stated.TTFT}} {
		if m.of != nil {
			list = append(list, fmt.Sprintf("%s %.3g %%", m.name, m.of.Expected))
		}
	}
	text := fmt.Sprintf("expected error of the latency model (%s): %s", s.LatencyModel, strings.Join(list, ", "))
	for i, u := range a.NotMeasured {
		if i == 0 {
			text += "; not measured: "
		} else {
			text += ", "
		}
		text += u.Text
	}
	return text
}
