package llmd

import (
	"bytes"

	"github.com/goccy/go-yaml"
)

// Version is the release of llm-d-router (the former llm-d-inference-scheduler) whose
// plugins and parameters Export uses.
const Version = "v0.10.0"

// APIVersions are the values of apiVersion that Version reads, the usual one first. The
// second is that of releases up to v0.8 and of the Gateway API Inference Extension;
// Version reads it with a warning.
var APIVersions = []string{"llm-d.ai/v1alpha1", "inference.networking.x-k8s.io/v1alpha1"}

// Config is an EndpointPickerConfig, as far as Export writes one.
type Config struct {
	APIVersion  string       `json:"apiVersion" yaml:"apiVersion"` // one of APIVersions
	Kind        string       `json:"kind" yaml:"kind"`             // EndpointPickerConfig
	Plugins     []Plugin     `json:"plugins" yaml:"plugins"`
	DataLayer   *DataLayer   `json:"dataLayer,omitempty" yaml:"dataLayer,omitempty"`     // nil: the default
	FlowControl *FlowControl `json:"flowControl,omitempty" yaml:"flowControl,omitempty"` // nil: the default
	Profiles    []Profile    `json:"schedulingProfiles" yaml:"schedulingProfiles"`
}

// Plugin is a plugin that the endpoint picker makes.
type Plugin struct {
	Name       string         `json:"name,omitempty" yaml:"name,omitempty"` // empty: the type is its name
	Type       string         `json:"type" yaml:"type"`
	Parameters map[string]any `json:"parameters,omitempty" yaml:"parameters,omitempty"` // nil: the defaults
}

// name returns the name by which others refer to the plugin.
func (p *Plugin) name() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Type
}

// Profile is a way to choose an endpoint: filters, scorers with weights and a picker.
type Profile struct {
	Name    string `json:"name" yaml:"name"`
	Plugins []Ref  `json:"plugins" yaml:"plugins"`
}

// Ref is a plugin in a profile.
type Ref struct {
	Plugin string   `json:"pluginRef" yaml:"pluginRef"`
	Weight *float64 `json:"weight,omitempty" yaml:"weight,omitempty"` // of a scorer; nil: it is none
}

// DataLayer says where the data of endpoints come from.
type DataLayer struct {
	Sources []Source `json:"sources" yaml:"sources"`
}

// Source is a source of data with those who read it.
type Source struct {
	Plugin     string `json:"pluginRef" yaml:"pluginRef"`
	Extractors []Ref  `json:"extractors" yaml:"extractors"`
}

// FlowControl is the part about admission.
type FlowControl struct {
	Detector Ref `json:"saturationDetector" yaml:"saturationDetector"`
}

// YAML returns the export as a file for the endpoint picker. What the reader has to know
// stands above it as comments.
func (e *Export) YAML() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# EndpointPickerConfig of llm-d-router " + Version + ", by blis export llm-d (docs/llm-d.md)\n")
	b.WriteString("# policy_id: " + e.PolicyID + "\n")
	if e.Model != "" {
		b.WriteString("# model: " + e.Model + "\n")
	}
	comments(&b, "needs", e.Needs)
	var list []string
	for _, d := range e.Differences {
		list = append(list, d.String())
	}
	comments(&b, "otherwise in llm-d", list)
	text, err := yaml.MarshalWithOptions(&e.Config, yaml.IndentSequence(false))
	b.Write(text)
	return b.Bytes(), err
}

// comments writes a list of lines under a title.
func comments(b *bytes.Buffer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("# " + title + ":\n")
	for _, line := range lines {
		b.WriteString("# - " + line + "\n")
	}
}
