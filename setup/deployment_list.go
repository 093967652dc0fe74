package setup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"blis/yamldoc"
)

// DeploymentList is the deployments of a run as they are set: the path of a file of them, or
// what stands in it. The zero value is none: the run is one deployment, which the other settings
// describe. Its text is the path, or a list in YAML.
type DeploymentList struct {
	path string // empty: what stands in it is in list
	list []deploymentSetting
	file string // that list was read from, if it was a file of its own
}

// deploymentSetting is a deployment as it is set.
type deploymentSetting struct {
	id              string
	own             Overrides // of ofDeployment
	prefill, decode Overrides
}

// deploymentOnly are the settings that a deployment can have for itself, besides those of a pool
// and of disaggregation.
const deploymentOnly = "model model-config-folder dtype quantization kv-cache-dtype block-size-in-tokens num-instances"

// ofDeployment has the settings that a deployment can have for itself.
var ofDeployment = settingScope{"a deployment", sync.OnceValue(func() (list []Setting) {
	own := append(strings.Fields(deploymentOnly), handOffSettings...)
	own = append(own, "architecture")
	for _, s := range settingFields() {
		if ofPool.find(s.Name) != nil || slices.Contains(own, s.Name) && s.Name != "prefill" && s.Name != "decode" && s.Name != "pd-ratio" {
			list = append(list, s)
		}
	}
	return list
})}

// Empty reports whether there are no deployments but that of the other settings.
func (l DeploymentList) Empty() bool { return l.path == "" && len(l.list) == 0 }

// File returns the path of the file of deployments, whether it was read or not; empty: there is none.
func (l DeploymentList) File() string { return cmp.Or(l.path, l.file) }

// disaggregates reports whether a deployment of the list has prefill and decode instances.
func (l DeploymentList) disaggregates() bool {
	return slices.ContainsFunc(l.list, func(d deploymentSetting) bool {
		architecture, _ := d.own.Get("architecture")
		return architecture == PD
	})
}

// ReplicaSettings returns the numbers of instances that the deployments of c have: chat/replicas,
// or chat/prefill-replicas and chat/decode-replicas. The file must have been read.
func ReplicaSettings(c *Config) (names []string) {
	for i := range c.Deployments.list {
		for _, s := range c.Deployments.list[i].replicaSettings() {
			names = append(names, c.Deployments.list[i].id+"/"+s)
		}
	}
	return names
}

// replicaSettings returns the names of the numbers of instances of the deployment.
func (d *deploymentSetting) replicaSettings() []string {
	if architecture, _ := d.own.Get("architecture"); architecture == PD {
		return []string{"prefill-replicas", "decode-replicas"}
	}
	return []string{"replicas"}
}

// ReplicasOf returns a number of instances of the deployment of that id, one of ReplicaSettings.
func ReplicasOf(c *Config, id, setting string) int {
	if setting == "replicas" {
		setting = "num-instances"
	}
	for _, d := range c.Deployments.list {
		if text, found := d.own.Get(setting); d.id == id && found {
			n, _ := strconv.Atoi(text) // it was read as a number
			return n
		}
	}
	return 0
}

// SetReplicas gives the deployment of that id a number of instances, one of ReplicaSettings. The
// file must have been read.
func SetReplicas(c *Config, id, setting string, n int) error {
	l := &c.Deployments
	i := slices.IndexFunc(l.list, func(d deploymentSetting) bool { return d.id == id })
	if i < 0 || !slices.Contains(l.list[i].replicaSettings(), setting) {
		return inputErrorf("--deployments: no number of instances %s/%s: want one of %s", id, setting, strings.Join(ReplicaSettings(c), ", "))
	}
	if setting == "replicas" {
		setting = "num-instances"
	}
	l.list = slices.Clone(l.list) // others share it
	return l.list[i].own.set(&ofDeployment, setting, strconv.Itoa(n))
}

// Equal reports whether two lists are set alike.
func (l DeploymentList) Equal(o DeploymentList) bool {
	return l.path == o.path && slices.EqualFunc(l.list, o.list, func(a, b deploymentSetting) bool {
		return a.id == b.id && a.own.Equal(b.own) && a.prefill.Equal(b.prefill) && a.decode.Equal(b.decode)
	})
}

// String is the list as UnmarshalText reads it.
func (l DeploymentList) String() string {
	if l.path != "" || len(l.list) == 0 {
		return l.path
	}
	text, err := json.Marshal(l.list)
	if err != nil {
		panic(err) // its bundles were read
	}
	return string(text)
}

// MarshalJSON writes the path, or a list of objects as they stand in a file.
func (l DeploymentList) MarshalJSON() ([]byte, error) {
	if l.path != "" || len(l.list) == 0 {
		return json.Marshal(l.path)
	}
	return json.Marshal(l.list)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *DeploymentList) UnmarshalJSON(text []byte) error {
	var path string
	if json.Unmarshal(text, &path) == nil {
		*l = DeploymentList{path: path}
		return nil
	}
	return l.UnmarshalText(text)
}

// UnmarshalText reads a path, or a list of deployments.
func (l *DeploymentList) UnmarshalText(text []byte) error {
	s := string(text)
	if trimmed := strings.TrimSpace(s); !strings.HasPrefix(trimmed, "[") && !strings.ContainsAny(trimmed, "\n{") {
		*l = DeploymentList{path: s}
		return nil
	}
	root, err := yamldoc.Read("deployments", text, deploymentLimits)
	if err != nil {
		return err
	}
	return l.Read("deployments", root)
}

var deploymentLimits = yamldoc.Options{Bytes: 1 << 20, Depth: 16, Name: 128, Values: 1 << 16}

// mostDeployments is the most deployments of a run.
const mostDeployments = 1000

var deploymentID = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Read reads the list of a file. Its errors are a *yamldoc.Error with their place.
func (l *DeploymentList) Read(file string, n *yamldoc.Node) error {
	at := yamldoc.Place{}.Within("deployments", n.Line)
	switch {
	case n.Kind != yamldoc.List || len(n.Items) == 0:
		return at.Fault(file, "%s is not allowed, want a list like [{id: chat, model: qwen/qwen3-14b, replicas: 4}]", n.Describe())
	case len(n.Items) > mostDeployments:
		return at.Fault(file, "%d deployments: want at most %d", len(n.Items), mostDeployments)
	}
	*l = DeploymentList{}
	for i, item := range n.Items {
		r := deploymentReader{file: file, at: at.Item(i, item.Line)}
		d, err := r.read(item)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(l.list, func(other deploymentSetting) bool { return other.id == d.id }) {
			return r.at.Fault(file, "deployment %s is given twice, want another id", d.id)
		}
		l.list = append(l.list, d)
	}
	return nil
}

// MarshalJSON writes the deployment as it stands in a file, under the names of flags.
func (d deploymentSetting) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	member := func(name string, value any) error {
		text, err := json.Marshal(value)
		if err == nil {
			if b.Len() > 1 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%q:%s", name, text)
		}
		return err
	}
	if err := member("id", d.id); err != nil {
		return nil, err
	}
	prefill, decode, pd := d.prefill, d.decode, Overrides{}
	for _, a := range d.own.list {
		var err error
		switch {
		case a.Policies != nil:
			err = member(a.Name, a.Policies)
		case a.Name == "num-instances":
			err = member("replicas", a.Text)
		case a.Name == "prefill-replicas":
			prefill.list = append([]Assignment{{Name: "replicas", Text: a.Text}}, prefill.list...)
		case a.Name == "decode-replicas":
			decode.list = append([]Assignment{{Name: "replicas", Text: a.Text}}, decode.list...)
		case slices.Contains(handOffSettings, a.Name):
			pd.list = append(pd.list, a)
		default:
			err = member(a.Name, a.Text)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, part := range []struct {
		name string
		of   Overrides
	}{{"prefill", prefill}, {"decode", decode}, {"pd", pd}} {
		if len(part.of.list) == 0 {
			continue
		}
		if err := member(part.name, part.of); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// config returns the configuration of a run with the deployment alone. Its errors are not
// located.
func (d *deploymentSetting) config(base *Config) (Config, error) {
	one := *base
	one.Deployments = DeploymentList{}
	if err := settlePolicies(&one); err != nil {
		return one, err
	}
	err := d.own.apply(&one)
	one.Prefill, one.Decode = d.prefill, d.decode
	return one, err
}
