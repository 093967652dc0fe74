package llmd

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"blis/setup"
)

// Export is the policies of a deployment for llm-d.
type Export struct {
	PolicyID string // bundle.ID of the policies of the run
	Model    string // Hugging Face id of the model that the deployment serves
	Config   Config
	// Needs are what the user has to provide beside the file.
	Needs []string
	// Differences are what llm-d does otherwise with this file, and what of the policies
	// has no place in it. Nothing is left out in silence.
	Differences []Difference
}

// Difference is something that the exported file does otherwise than the run.
type Difference struct {
	Profile string `json:"profile"` // prefill or decode; empty: all profiles
	Field   string `json:"field"`   // path in the bundle, or the name of a setting
	Text    string `json:"text"`    // what is otherwise, and what comes near
}

// String returns the difference in one line.
func (d *Difference) String() string {
	text := d.Field + ": " + d.Text
	if d.Profile != "" {
		text = d.Profile + ": " + text
	}
	return text
}

// exporter makes an Export.
type exporter struct {
	plan       *setup.Plan
	deployment *setup.Deployment
	Export
	profile *Profile    // that is being made
	pool    *setup.Pool // that it chooses from
	scrapes bool        // a scorer of the profile reads metrics of the servers
}

// New exports the policies for a deployment of a plan. apiVersion is one of APIVersions. A
// policy to which nothing in llm-d comes near is a *setup.InputError.
func New(p *setup.Plan, d *setup.Deployment, apiVersion string) (*Export, error) {
	if !slices.Contains(APIVersions, apiVersion) {
		return nil, inputErrorf("--api-version is %q: want %s", apiVersion, strings.Join(APIVersions, " or "))
	}
	custom := &p.Config.Custom
	if custom.Admission != nil || custom.Routing != nil {
		return nil, inputErrorf("a policy of your own, in Go, has no form that llm-d reads: want one of those that blis policies lists")
	}
	id, err := p.Config.Policies.ID()
	if err != nil {
		return nil, err
	}
	e := &exporter{plan: p, deployment: d}
	e.PolicyID, e.Model = id, d.Serving.Model.Name
	e.Config = Config{APIVersion: apiVersion, Kind: "EndpointPickerConfig"}
	if err := e.profiles(); err != nil {
		return nil, err
	}
	if err := e.elsewhere(); err != nil {
		return nil, err
	}
	e.others()
	return &e.Export, nil
}

// profiles makes the profile, or those of prefill and decode, and who runs them.
func (e *exporter) profiles() error {
	d := e.deployment
	if d.PD == nil {
		e.add(Plugin{Type: "single-profile-handler"})
		return e.addProfile("default", d.Serving, "")
	}
	handler := Plugin{Type: "disagg-profile-handler"}
	if decider := e.decider(); decider != "" {
		handler.Parameters = map[string]any{"deciders": map[string]any{"prefill": decider}}
	}
	e.add(handler)
	e.need("prefill and decode pods with the label llm-d.ai/role: prefill or decode, and llm-d's routing sidecar on the decode pods")
	if d.PD.AtHandOver {
		e.differ("pd-decode-choice", "handoff chooses the decode instance when the prefill has ended; llm-d chooses it first, as arrival does")
	}
	if err := e.addProfile("prefill", d.Prefill, "prefill-filter"); err != nil {
		return err
	}
	return e.addProfile("decode", d.Serving, "decode-filter")
}

// decider makes the plugin that says which requests are disaggregated, and returns its
// name; empty: none are.
func (e *exporter) decider() string {
	const byPrefix = "prefix-based-pd-decider"
	switch d := e.deployment.PD; d.Decider {
	case setup.DecideNever:
		return ""
	case setup.DecidePrefixThreshold:
		// Here more than the threshold must be missing, there as much.
		if e.deployment.Serving.Observability.IndexEvents {
			e.differ("pd-decider", byPrefix+" looks at the prompts that were routed (approx-prefix-cache-producer), not at KV events")
		}
		return e.add(Plugin{Type: byPrefix, Parameters: map[string]any{"nonCachedTokens": int(d.PrefixThreshold) + 1}})
	case setup.DecideDirect:
		e.differ("pd-decider", byPrefix+" leaves a long prompt to the decode instance that has all of it in cache; direct-to-decode looks at its length alone")
		return e.add(Plugin{Type: byPrefix, Parameters: map[string]any{"nonCachedTokens": 1, "promptTokens": int(d.DirectThreshold)}})
	}
	return e.add(Plugin{Type: "always-disagg-pd-decider"})
}

// addProfile makes the profile of a pool.
func (e *exporter) addProfile(name string, pool *setup.Pool, filter string) error {
	e.Config.Profiles = append(e.Config.Profiles, Profile{Name: name})
	e.profile, e.pool, e.scrapes = &e.Config.Profiles[len(e.Config.Profiles)-1], pool, false
	defer func() { e.profile, e.pool = nil, nil }()
	if filter != "" {
		e.refer(Plugin{Type: filter})
	}
	if err := e.route(&pool.Routing); err != nil {
		return err
	}
	e.signals()
	return nil
}

// add makes a plugin and returns its name. One that is there already is used again; one of
// the same type with other parameters gets the name of the profile too.
func (e *exporter) add(p Plugin) string {
	for i := range e.Config.Plugins {
		if o := &e.Config.Plugins[i]; o.Type == p.Type && reflect.DeepEqual(o.Parameters, p.Parameters) {
			return o.name()
		}
	}
	if slices.ContainsFunc(e.Config.Plugins, func(o Plugin) bool { return o.name() == p.Type }) {
		p.Name = p.Type + "-" + e.profile.Name
	}
	e.Config.Plugins = append(e.Config.Plugins, p)
	return p.name()
}

// refer puts a plugin into the profile.
func (e *exporter) refer(p Plugin) {
	e.profile.Plugins = append(e.profile.Plugins, Ref{Plugin: e.add(p)})
}

// score puts a scorer into the profile. Weights of the same scorer add up.
func (e *exporter) score(p Plugin, weight float64) {
	name := e.add(p)
	for i := range e.profile.Plugins {
		if r := &e.profile.Plugins[i]; r.Plugin == name {
			*r.Weight += weight
			return
		}
	}
	e.profile.Plugins = append(e.profile.Plugins, Ref{name, &weight})
}

// need notes what the user has to provide.
func (e *exporter) need(text string) {
	if !slices.Contains(e.Needs, text) {
		e.Needs = append(e.Needs, text)
	}
}

// differ notes a difference. One of both profiles stands once.
func (e *exporter) differ(field, format string, args ...any) {
	d := Difference{Field: field, Text: fmt.Sprintf(format, args...)}
	if e.profile != nil && e.profile.Name != "default" {
		d.Profile = e.profile.Name
	}
	for i := range e.Differences {
		if o := &e.Differences[i]; o.Field == d.Field && o.Text == d.Text {
			if o.Profile != d.Profile {
				o.Profile = ""
			}
			return
		}
	}
	e.Differences = append(e.Differences, d)
}

// others names deployments that would stand in the same pool of llm-d.
func (e *exporter) others() {
	for i := range e.plan.Deployments {
		if o := &e.plan.Deployments[i]; o != e.deployment && o.Serving.Model.Name == e.Model {
			e.differ("deployments", "%s serves the same model: here one policy chooses among the instances of all of them, in llm-d those of one InferencePool", o.ID)
		}
	}
}

func inputErrorf(format string, args ...any) error {
	return &setup.InputError{Text: fmt.Sprintf(format, args...)}
}
