package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blis/input"
	"blis/yamldoc"
)

// vLLM says in other words what the flags of the CPU tier say: in the JSON of a KV
// connector, or as a size in GiB. The public simulator has a file. Each becomes flags.

// transferConfig is what --kv-transfer-config may have for the OffloadingConnector.
type transferConfig struct {
	Connector string      `yaml:"kv_connector"`
	Role      string      `yaml:"kv_role"`
	EngineID  string      `yaml:"engine_id"`              // a name
	OnFailure string      `yaml:"kv_load_failure_policy"` // no load fails
	Extra     extraConfig `yaml:"kv_connector_extra_config"`
}

// extraConfig is kv_connector_extra_config.
type extraConfig struct {
	offloadConfig
	StoreThreshold *int64 `yaml:"store_threshold"`
	SpecName       string `yaml:"spec_name"`
}

// offloadConfig is the file of --kv-offload-config, and a part of extraConfig. What is
// nil is not given.
type offloadConfig struct {
	CPUBytes   *int64  `yaml:"cpu_bytes_to_use"` // over all GPUs of an instance
	BlockSize  *int64  `yaml:"block_size"`       // in tokens
	Eviction   *string `yaml:"eviction_policy"`
	PromptOnly *bool   `yaml:"offload_prompt_only"`
}

const offloadingConnector = "OffloadingConnector"

// offloading is what a line says of the CPU tier in words of vLLM.
type offloading struct {
	begin int             // where its flags go, an index of translation.out
	given bool            // any of it
	parts []*yamldoc.Node // of --kv-transfer-config: mappings
	size  *int64          // of --kv-offloading-size, in bytes; vLLM puts it above cpu_bytes_to_use
}

// takeOffloading takes a flag about the CPU tier with its value. arg is the flag as
// it was given.
func (t *translation) takeOffloading(f *serveFlag, arg string, words []string) {
	if len(words) == 0 {
		t.refuse("--%s: want a value behind it", f.name)
		return
	}
	if o := &t.offloading; !o.given {
		o.given, o.begin = true, len(t.out)
	}
	var err error
	switch value := words[0]; f.name {
	case "kv-transfer-config":
		name, _, _ := strings.Cut(arg, "=")
		_, path, _ := strings.Cut(name, ".")
		err = t.offloading.addPart(path, value)
	case "kv-offloading-size":
		err = t.offloading.setSize(value)
	case "kv-offloading-backend":
		if value != "native" {
			err = fmt.Errorf("%s is not modelled, want native", strconv.Quote(yamldoc.Clip(value)))
		}
	case "kv-offload-config":
		var flags []string
		flags, err = offloadFile(value)
		t.out = append(t.out, flags...)
	}
	if err != nil {
		t.refuse("--%s: %v", f.name, err)
	}
}

// addPart adds JSON, or with a path like kv_connector_extra_config.block_size one value.
func (o *offloading) addPart(path, text string) error {
	if path != "" {
		if !json.Valid([]byte(text)) { // vLLM takes it as text
			quoted, err := json.Marshal(text)
			if err != nil {
				return err
			}
			text = string(quoted)
		}
		for _, name := range slices.Backward(strings.Split(path, ".")) {
			text = fmt.Sprintf("{%q: %s}", name, text)
		}
	}
	var any map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &any); err != nil || any == nil {
		return fmt.Errorf("%s is not a JSON object, want one like %s", strconv.Quote(yamldoc.Clip(text)), `{"kv_connector":"OffloadingConnector","kv_role":"kv_both","kv_connector_extra_config":{"cpu_bytes_to_use":68719476736}}`)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		return err
	}
	root, err := yamldoc.Read("", compact.Bytes(), yamldoc.Options{Bytes: input.Settings, Depth: 8, Name: 128})
	if err == nil && root != nil {
		o.parts = append(o.parts, root)
	}
	return withoutPlace(err)
}

// withoutPlace returns an error in JSON of the command line without file and line.
func withoutPlace(err error) error {
	fault, ok := err.(*yamldoc.Error)
	switch {
	case !ok:
		return err
	case fault.Field == "":
		return fmt.Errorf("%s", yamldoc.OneLine(fault.Problem))
	}
	return fmt.Errorf("%s: %s", yamldoc.OneLine(fault.Field), yamldoc.OneLine(fault.Problem))
}

// setSize reads GiB.
func (o *offloading) setSize(text string) error {
	gib, err := strconv.ParseFloat(text, 64)
	if err != nil || !(gib >= 0 && gib <= 1<<30) {
		return fmt.Errorf("%s is not allowed, want a number of GiB, 0 to 1073741824", strconv.Quote(yamldoc.Clip(text)))
	}
	n := int64(gib * (1 << 30))
	o.size = &n
	return nil
}

// finishOffloading puts the flags for what the line says of the CPU tier where it
// first says anything.
func (t *translation) finishOffloading() {
	o := &t.offloading
	flags, err := o.flags()
	if err != nil {
		t.refuse("--kv-transfer-config: %v", err)
		return
	}
	t.out = append(t.out[:o.begin:o.begin], append(flags, t.out[o.begin:]...)...)
}

// flags returns the flags for all but the backend.
func (o *offloading) flags() ([]string, error) {
	c := transferConfig{Role: "kv_both"}
	for _, part := range o.parts {
		if name := part.Get("kv_connector"); name != nil {
			c.Connector = name.Text
		}
	}
	asked := o.size != nil && *o.size > 0 // vLLM then takes its own connector
	switch {
	case len(o.parts) == 0:
	case c.Connector == "" && !asked:
		return nil, fmt.Errorf("kv_connector is missing, want %s or %s", offloadingConnector, nixlConnector)
	case c.Connector == nixlConnector && !asked:
		return nixlFlags(o.parts)
	case c.Connector == nixlConnector:
		return nil, fmt.Errorf("kv_connector: %s beside a CPU tier is not modelled for this line: want --architecture pd and --kv-cpu-size", nixlConnector)
	case c.Connector != offloadingConnector && c.Connector != "":
		return nil, fmt.Errorf("kv_connector: %s is not modelled yet, want %s or %s", strconv.Quote(yamldoc.Clip(c.Connector)), offloadingConnector, nixlConnector)
	}
	for _, part := range o.parts {
		if err := yamldoc.Decode("", yamldoc.Place{}, part, &c); err != nil {
			return nil, withoutPlace(err)
		}
	}
	if asked {
		c.Extra.CPUBytes = o.size
	}
	if len(o.parts) > 0 {
		if err := c.check(); err != nil {
			return nil, err
		}
	}
	flags := c.Extra.flags()
	if n := c.Extra.StoreThreshold; n != nil && *n >= 2 {
		flags = append(flags, fmt.Sprintf("--kv-store-threshold=%d", *n))
	}
	return flags, nil
}

// check checks values.
func (c *transferConfig) check() error {
	const extra = "kv_connector_extra_config."
	if c.Role != "kv_both" {
		return fmt.Errorf("kv_role: %s is not modelled, want kv_both", strconv.Quote(yamldoc.Clip(c.Role)))
	}
	if name := c.Extra.SpecName; name != "" && name != "CPUOffloadingSpec" {
		return fmt.Errorf("%sspec_name: %s is not modelled yet, want CPUOffloadingSpec", extra, strconv.Quote(yamldoc.Clip(name)))
	}
	if c.Extra.CPUBytes == nil {
		return fmt.Errorf("%scpu_bytes_to_use is missing, want the bytes of the CPU tier", extra)
	}
	if n := c.Extra.StoreThreshold; n != nil && (*n < 0 || *n > 1<<31-1) {
		return fmt.Errorf("%sstore_threshold: %d is not allowed, want 0 to 2147483647", extra, *n)
	}
	if key, problem := c.Extra.fault(); problem != "" {
		return fmt.Errorf("%s%s: %s", extra, key, problem)
	}
	return nil
}

// fault returns the key of a bad value and what is wrong with it, nothing if all are
// good.
func (c *offloadConfig) fault() (key, problem string) {
	switch {
	case c.CPUBytes != nil && (*c.CPUBytes < 1 || *c.CPUBytes > 1<<60):
		return "cpu_bytes_to_use", fmt.Sprintf("%d is not allowed, want 1 to %d", *c.CPUBytes, 1<<60)
	case c.BlockSize != nil && (*c.BlockSize < 1 || *c.BlockSize > 1<<20):
		return "block_size", fmt.Sprintf("%d is not allowed, want 1 to %d tokens", *c.BlockSize, 1<<20)
	case c.Eviction != nil && *c.Eviction != "lru" && *c.Eviction != "arc":
		return "eviction_policy", strconv.Quote(yamldoc.Clip(*c.Eviction)) + " is not allowed, want lru or arc"
	}
	return "", ""
}

// flags returns the flags that say the same.
func (c *offloadConfig) flags() []string {
	var flags []string
	if c.CPUBytes != nil {
		flags = append(flags, fmt.Sprintf("--kv-cpu-size=%d", *c.CPUBytes))
	}
	if c.BlockSize != nil {
		flags = append(flags, fmt.Sprintf("--kv-offload-block-size=%d", *c.BlockSize))
	}
	if c.Eviction != nil {
		flags = append(flags, "--kv-eviction="+*c.Eviction)
	}
	if c.PromptOnly != nil {
		flags = append(flags, fmt.Sprintf("--kv-offload-prompt-only=%t", *c.PromptOnly))
	}
	return flags
}

// offloadFile reads the file of --kv-offload-config, YAML or JSON.
func offloadFile(path string) ([]string, error) {
	text, err := input.ReadFile(path, input.Settings)
	if err != nil {
		return nil, err
	}
	root, err := yamldoc.Read(path, text, yamldoc.Options{Bytes: input.Settings, Depth: 8, Name: 128})
	if err != nil {
		return nil, err
	}
	var c offloadConfig
	if err := yamldoc.Decode(path, yamldoc.Place{}, root, &c); err != nil {
		return nil, err
	}
	if key, problem := c.fault(); problem != "" {
		return nil, yamldoc.Place{Line: root.Get(key).Line, Field: key}.Fault(path, "%s", problem)
	}
	return c.flags(), nil
}

// serveCPUTier returns the arguments of vllm serve for the CPU tier of an effective
// configuration; none without one, and with a policy or an eviction that vLLM does not have.
func serveCPUTier(c *Config) []string {
	d, err := c.Deployment()
	if c.KVCPUBlocks == 0 || err != nil || c.KVOffloadPolicy != WriteThrough || c.KVEviction != "lru" && c.KVEviction != "arc" {
		return nil
	}
	entry := c.entryTokens(c.BlockSizeInTokens)
	extra := map[string]any{"cpu_bytes_to_use": c.KVCPUBlocks * d.KVBytesPerToken() * int64(entry), "block_size": entry, "eviction_policy": c.KVEviction}
	if c.KVStoreThreshold > 0 {
		extra["store_threshold"] = c.KVStoreThreshold
	}
	text, err := json.Marshal(map[string]any{"kv_connector": offloadingConnector, "kv_role": "kv_both", "kv_connector_extra_config": extra})
	if err != nil {
		panic(err) // names and numbers
	}
	return []string{"--kv-transfer-config", string(text)}
}
