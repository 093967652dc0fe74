package evaluator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"blis/bundle"
	"blis/policy"
	"blis/setup"
	"blis/study/evaluate"
	"blis/suggest"
	"blis/yamldoc"
)

// The commands gepa-evaluate and openevolve-evaluate of the public simulator's plan take a workload in place
// of a suite, and candidates that are numbers by dotted names.

// documents are the limits of a workload and of a candidate.
var documents = yamldoc.Options{Bytes: evaluate.MaxBytes, Depth: 40, Name: 256, Values: 1 << 20}

// WorkloadSuite is a suite of one scenario: a workload specification in a cluster of these settings, with least-loaded
// as its baseline. It is scored by shares and p90s, which are finite although some requests do not complete. Errors name the
// line of the specification; those in the settings stand in its first line, in SettingsField.
func WorkloadSuite(file string, specification []byte, settingsFile string, settings []byte) (SuiteFile, error) {
	n, err := yamldoc.Read(file, specification, documents)
	if err == nil && n == nil {
		err = fmt.Errorf("%s: is empty: want a workload specification", file)
	}
	if err != nil {
		return SuiteFile{}, &setup.InputError{Text: err.Error()}
	}
	cluster, err := yamldoc.Read(settingsFile, settings, documents)
	if err != nil {
		return SuiteFile{}, &setup.InputError{Text: err.Error()}
	}
	if cluster == nil {
		cluster = &yamldoc.Node{Kind: yamldoc.Mapping}
	}
	text := fmt.Sprintf(`{schema: %s, about: one workload, baseline: {routing: {type: least-loaded}}, measures: {completed_share: 1, p90_ttft: 2, p90_e2e: 2, p90_tpot: 1, throughput: 0, jain: 0, cache_hit_rate: 0}, settings: %s, scenarios: [{name: workload, smoke: true, seeds: [1, 2], workload: %s}]}`,
		evaluate.Schema, cluster.At(1).Format(), n.Format())
	return SuiteFile{file, []byte(text)}, nil
}

// SettingsField is where settings stand in a WorkloadSuite.
const SettingsField = "settings"

// Dotted is a candidate from numbers by dotted names, {routing.cache_affinity_weight: 0.7}, as a bundle. ok is
// false for a text that is none, which is a candidate as it is. A kind without a type has that of the suite's baseline if
// it takes these parameters, else the first template that does.
func Dotted(suite *evaluate.Suite, text string) (c evaluate.Candidate, ok bool, err error) {
	n, unreadable := yamldoc.Read("policy.yaml", []byte(text), documents)
	if unreadable != nil || n == nil || n.Kind != yamldoc.Mapping || len(n.Members) == 0 ||
		slices.ContainsFunc(n.Members, func(m yamldoc.Member) bool { return !strings.Contains(m.Name, ".") }) {
		return c, false, nil
	}
	sections := map[string]*dotted{}
	for i := range n.Members {
		m := &n.Members[i]
		kind, name, _ := strings.Cut(m.Name, ".")
		if !slices.Contains(policy.Kinds, policy.Kind(kind)) {
			return c, true, fmt.Errorf("policy.yaml:%d: %s: unknown kind %q%s (there are: %v)", m.Line, m.Name, kind, suggest.Hint(kind, kindNames()), policy.Kinds)
		}
		if sections[kind] == nil {
			sections[kind] = &dotted{kind: kind}
		}
		sections[kind].add(name, m)
	}
	var whole strings.Builder
	for _, kind := range kindNames() {
		if s := sections[kind]; s != nil {
			part, err := s.section(suite)
			if err != nil {
				return c, true, err
			}
			whole.WriteString(part)
		}
	}
	return evaluate.Candidate{File: "policy.yaml", Text: []byte(whole.String())}, true, nil
}

func kindNames() (names []string) {
	for _, k := range policy.Kinds {
		names = append(names, string(k))
	}
	return names
}

// dotted is the part of such a candidate that is of one kind.
type dotted struct {
	kind, policy string // policy: empty, it was not named
	params       []string
}

// add takes in one name with its value.
func (d *dotted) add(name string, m *yamldoc.Member) {
	if name == "type" || name == "policy" {
		d.policy = m.Value.Text
		return
	}
	value := strings.TrimLeft(m.Value.Format(), "\n")
	quoted, _ := json.Marshal(strings.TrimPrefix(name, "params.")) // a string has no error
	d.params = append(d.params, fmt.Sprintf("%s: %s", quoted, value))
}

// section is the section of a bundle. The error is that of the first type that could be meant.
func (d *dotted) section(suite *evaluate.Suite) (string, error) {
	types := []string{d.policy}
	if d.policy == "" {
		types = []string{suite.Baseline.Get(d.kind + ".type")}
		for _, t := range policy.OfKind(policy.Kind(d.kind)) {
			types = append(types, t.Name)
		}
		types = slices.DeleteFunc(types, func(name string) bool { return name == "" })
	}
	var first error
	for _, name := range types {
		quoted, _ := json.Marshal(name) // a string has no error
		text := fmt.Sprintf("%s: {type: %s, params: {%s}}\n", d.kind, quoted, strings.Join(d.params, ", "))
		_, err := bundle.Parse("policy.yaml", []byte(text))
		if err == nil {
			return text, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}
