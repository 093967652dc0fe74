package setup

import (
	"fmt"
	"slices"
	"strings"

	"blis/bundle"
	"blis/input"
	"blis/yamldoc"
)

// The file of --deployments.

// OpenDeployments reads the file of deployments, if there is one, and puts what stands in it in
// place of its path. What reads the file by itself then does not: the file may be a pipe.
func OpenDeployments(c *Config) error {
	path := c.Deployments.path
	if path == "" {
		return nil
	}
	text, err := readFile(c, path, input.Settings)
	if err != nil {
		return fileError("deployments", err)
	}
	root, err := yamldoc.Read(path, text, deploymentLimits)
	if err != nil {
		return &InputError{err.Error()}
	}
	var doc struct {
		Deployments *yamldoc.Node `yaml:"deployments"`
		NodePools   *yamldoc.Node `yaml:"node_pools"`
		Admission   *yamldoc.Node `yaml:"admission"`
	}
	if root == nil {
		root = &yamldoc.Node{Kind: yamldoc.Mapping}
	}
	err = yamldoc.Decode(path, yamldoc.Place{}, root, &doc)
	switch {
	case err != nil:
	case doc.Deployments == nil:
		err = yamldoc.Place{}.Fault(path, "want deployments, a list like [{id: chat, model: qwen/qwen3-14b, replicas: 4}]")
	default:
		err = c.Deployments.Read(path, doc.Deployments)
		c.Deployments.file = path
		if err == nil {
			err = openSections(c, path, doc.NodePools, doc.Admission)
		}
	}
	if err != nil {
		return &InputError{err.Error()}
	}
	return nil
}

// deploymentReader reads a deployment of a file.
type deploymentReader struct {
	file string
	at   yamldoc.Place // of the deployment
	d    deploymentSetting
}

func (r *deploymentReader) read(n *yamldoc.Node) (deploymentSetting, error) {
	if n.Kind != yamldoc.Mapping {
		return r.d, r.at.Fault(r.file, "%s is not allowed, want a deployment like {id: chat, model: qwen/qwen3-14b, replicas: 4}", n.Describe())
	}
	given := map[string]bool{}
	for i := range n.Members {
		m := &n.Members[i]
		if given[m.Name] = true; m.Value.Kind == yamldoc.Null {
			continue
		}
		if err := r.member(m); err != nil {
			return r.d, err
		}
	}
	return r.d, r.check(given)
}

// member reads a member of a deployment.
func (r *deploymentReader) member(m *yamldoc.Member) error {
	at := r.at.Within(m.Name, m.Line)
	switch m.Name {
	case "id":
		if r.d.id = m.Value.Text; m.Value.Kind != yamldoc.String && m.Value.Kind != yamldoc.Number || !deploymentID.MatchString(r.d.id) || r.d.id == "node" {
			return at.Fault(r.file, "%s is not allowed, want small letters, digits and dashes, at most 63, like chat", m.Value.Describe())
		}
		return nil
	case "prefill":
		return r.pool(at, &r.d.prefill, "prefill-replicas", m.Value)
	case "decode":
		return r.pool(at, &r.d.decode, "decode-replicas", m.Value)
	case "pd":
		return r.handOff(at, m.Value)
	case "admission":
		return at.Fault(r.file, "a deployment has no admission section: the policy is --admission-policy, and admission: {scope: deployment} beside deployments makes one for each")
	}
	return r.setting(at, &ofDeployment, &r.d.own, "num-instances", m)
}

// check looks at a deployment as a whole.
func (r *deploymentReader) check(given map[string]bool) error {
	own := &r.d.own
	architecture, found := own.Get("architecture")
	if !found {
		if err := own.set(&ofDeployment, "architecture", "monolithic"); err != nil {
			return err
		}
	}
	_, hasModel := own.Get("model")
	_, hasFolder := own.Get("model-config-folder")
	_, instances := own.Get("num-instances")
	_, prefill := own.Get("prefill-replicas")
	_, decode := own.Get("decode-replicas")
	problem := ""
	switch two := architecture == PD; {
	case r.d.id == "":
		problem = "want id, a name of the deployment, like chat"
	case !hasModel && !hasFolder:
		problem = "want model, the model that it serves"
	case two && !prefill:
		problem = "want prefill with replicas, the number of prefill instances: architecture is pd"
	case two && !decode:
		problem = "want decode with replicas, the number of decode instances: architecture is pd"
	case two && instances:
		problem = "replicas are those of prefill and decode: architecture is pd"
	case !two && (given["prefill"] || given["decode"] || given["pd"]):
		problem = "prefill, decode and pd are for architecture: pd"
	case !two && !instances:
		problem = "want replicas, the number of instances"
	default:
		return nil
	}
	return r.at.Fault(r.file, "%s", problem)
}

// pool reads the settings of a pool. instances is the setting of its number of instances.
func (r *deploymentReader) pool(at yamldoc.Place, o *Overrides, instances string, n *yamldoc.Node) error {
	if n.Kind != yamldoc.Mapping {
		return at.Fault(r.file, "%s is not allowed, want settings of the pool, like {gpu: H100, tp: 4, replicas: 2}", n.Describe())
	}
	for i := range n.Members {
		m := &n.Members[i]
		if err := r.setting(at.Within(m.Name, m.Line), &ofPool, o, instances, m); err != nil {
			return err
		}
	}
	return nil
}

// shortNames are the names in files of settings that have another name as flags.
var shortNames = map[string]string{"gpu": "hardware", "routing": "routing-policy", "autoscale": "autoscale-policy"}

// setting reads a setting of a pool or a deployment into o.
func (r *deploymentReader) setting(at yamldoc.Place, scope *settingScope, o *Overrides, instances string, m *yamldoc.Member) error {
	name, n := strings.ReplaceAll(m.Name, "_", "-"), m.Value
	switch {
	case name == "replicas" || name == "instances":
		if n.Kind == yamldoc.Null {
			return nil
		}
		x, ok := n.Whole()
		if text := strings.TrimSpace(n.Text); n.Kind == yamldoc.String { // as results have it
			x, ok = yamldoc.Word(text, n.Line).Whole()
		}
		if !ok || x < 1 || x > MostInstances {
			return at.Fault(r.file, "%s is not allowed, want 1 to %d", n.Describe(), MostInstances)
		}
		o, scope, name, n = &r.d.own, &ofDeployment, instances, yamldoc.Word(fmt.Sprint(x), n.Line)
	case name == "kv-offload":
		return r.offload(at, scope, o, n)
	case slices.Contains(poolSections, name) && n.Kind == yamldoc.Mapping:
		return r.section(at, o, m)
	case shortNames[name] != "":
		name = shortNames[name]
	}
	if err := o.read(scope, name, n); err != nil {
		return at.Fault(r.file, "%v", err)
	}
	return nil
}

// section reads a section of a policy bundle.
func (r *deploymentReader) section(at yamldoc.Place, o *Overrides, m *yamldoc.Member) error {
	root := yamldoc.Node{Kind: yamldoc.Mapping, Line: m.Line, Column: 1, Members: []yamldoc.Member{*m}}
	b, err := bundle.Parse(r.file, []byte(root.Format()))
	if err != nil {
		return err
	}
	if err := o.setPolicies(b); err != nil {
		return at.Fault(r.file, "%v", err)
	}
	return nil
}

// offloadNames are the fields of kv_offload by the names of their flags.
var offloadNames = map[string]string{
	"cpu": "kv-cpu-size", "blocks": "kv-cpu-blocks", "policy": "kv-offload-policy", "threshold": "kv-offload-threshold", "block-size": "kv-offload-block-size",
	"eviction": "kv-eviction", "store-threshold": "kv-store-threshold", "prompt-only": "kv-offload-prompt-only", "bandwidth": "kv-transfer-bandwidth",
	"latency": "kv-transfer-latency", "storage": "kv-storage", "idle-poll": "kv-idle-poll", "idle-release": "kv-idle-release",
}

// offload reads the CPU tier of a pool.
func (r *deploymentReader) offload(at yamldoc.Place, scope *settingScope, o *Overrides, n *yamldoc.Node) error {
	return r.named(at, "want a CPU tier, like {cpu: 64GiB, eviction: arc}", offloadNames, scope, o, n)
}

// named reads a mapping whose names stand for settings.
func (r *deploymentReader) named(at yamldoc.Place, want string, settings map[string]string, scope *settingScope, o *Overrides, n *yamldoc.Node) error {
	if n.Kind != yamldoc.Mapping {
		return at.Fault(r.file, "%s is not allowed, %s", n.Describe(), want)
	}
	for i := range n.Members {
		m := &n.Members[i]
		at, name := at.Within(m.Name, m.Line), strings.ReplaceAll(m.Name, "_", "-")
		setting := settings[name]
		if setting == "" && slices.ContainsFunc(scope.list(), func(s Setting) bool { return s.Name == name }) {
			setting = name // as results have it
		}
		if setting == "" {
			var names []string
			for short := range settings {
				names = append(names, strings.ReplaceAll(short, "-", "_"))
			}
			slices.Sort(names)
			return at.Fault(r.file, "%s", yamldoc.Unknown("field", m.Name, names))
		}
		if err := o.read(scope, setting, m.Value); err != nil {
			return at.Fault(r.file, "%v", err)
		}
	}
	return nil
}

// handOffNames are the fields of pd by the names of their flags.
var handOffNames = map[string]string{
	"decider": "pd-decider", "prefix-threshold": "pd-prefix-threshold", "direct-decode-threshold": "pd-direct-decode-threshold", "decode-choice": "pd-decode-choice",
	"bandwidth": "pd-transfer-bandwidth", "base": "pd-transfer-latency", "kv-bytes-per-token": "pd-kv-bytes-per-token", "handoff-latency": "pd-handoff-latency",
	"notify-latency": "pd-notify-latency", "link": "pd-link", "pipeline": "pd-pipeline", "max-held": "pd-max-held", "backpressure-threshold": "pd-backpressure-threshold",
	"hold-timeout": "pd-hold-timeout", "failure-rate": "pd-failure-rate", "load-failure-policy": "kv-load-failure-policy",
}

// handOff reads how the pools share the work. A decider may have its threshold beside it:
// {type: prefix-threshold, tokens: 512}.
func (r *deploymentReader) handOff(at yamldoc.Place, n *yamldoc.Node) error {
	rest := *n
	for i, m := range n.Members {
		if m.Name != "decider" || m.Value.Kind != yamldoc.Mapping {
			continue
		}
		if err := r.decider(at.Within(m.Name, m.Line), m.Value); err != nil {
			return err
		}
		rest.Members = slices.Delete(slices.Clone(n.Members), i, i+1)
		break
	}
	return r.named(at, "want how the pools share the work, like {bandwidth: 35GB/s}", handOffNames, &ofDeployment, &r.d.own, &rest)
}

func (r *deploymentReader) decider(at yamldoc.Place, n *yamldoc.Node) error {
	var v struct {
		Type   *yamldoc.Node `yaml:"type"`
		Tokens *yamldoc.Node `yaml:"tokens"`
	}
	if err := yamldoc.Decode(r.file, at, n, &v); err != nil {
		return err
	}
	if v.Type == nil {
		return at.Fault(r.file, "want type, which requests are disaggregated, like {type: prefix-threshold, tokens: 512}")
	}
	if err := r.d.own.read(&ofDeployment, "pd-decider", v.Type); err != nil {
		return at.Within("type", v.Type.Line).Fault(r.file, "%v", err)
	}
	if v.Tokens == nil {
		return nil
	}
	threshold := map[string]string{DecidePrefixThreshold: "pd-prefix-threshold", DecideDirect: "pd-direct-decode-threshold"}[v.Type.Text]
	tokens := at.Within("tokens", v.Tokens.Line)
	if threshold == "" {
		return tokens.Fault(r.file, "goes with type %s or %s", DecidePrefixThreshold, DecideDirect)
	}
	if err := r.d.own.read(&ofDeployment, threshold, v.Tokens); err != nil {
		return tokens.Fault(r.file, "%v", err)
	}
	return nil
}
