package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"blis/bundle"
	"blis/input"
	"blis/suggest"
	"blis/yamldoc"
)

// Overrides are settings of one pool that differ from those of the configuration, in the
// order given, each once. As text they are a mapping, {tp: 4, hardware: H200}, or one of
// them, tp=4. The zero value is none.
type Overrides struct{ list []Assignment }

// poolOnly are the settings, besides those of the engine, its CPU tier and its autoscaler,
// that a pool can have for itself.
const poolOnly = "hardware tp latency-model coefficients alpha-coeffs beta-coeffs preemption-ema-gamma enable-expert-parallel " +
	"policies routing-policy routing-scorers snapshot-refresh-interval signals in-flight prefix-index prefix-index-blocks kv-event-delay"

// settingScope is the settings that something smaller than a run can have for itself.
type settingScope struct {
	of   string // "a pool"
	list func() []Setting
}

// ofPool has the settings that a pool can have for itself, in the order of Config.
var ofPool = settingScope{"a pool", sync.OnceValue(func() (list []Setting) {
	of := strings.Fields(poolOnly)
	for _, s := range settingFields() {
		switch group := s.Tag.Get("group"); {
		case s.Name == "num-instances" || s.Name == "block-size-in-tokens":
		case group == "Instances" || group == "CPU tier" || group == "Autoscaling" || slices.Contains(of, s.Name):
			list = append(list, s)
		}
	}
	return list
})}

// find returns the setting of that name or alias, nil if it is not in the scope.
func (o *settingScope) find(name string) *Setting {
	list := o.list()
	for i := range list {
		if list[i].Name == name || slices.Contains(strings.Split(list[i].Tag.Get("aliases"), ","), name) {
			return &list[i]
		}
	}
	return nil
}

// PoolSettings returns the names of the settings X that a pool can have for itself, as
// --prefill-X and --decode-X.
func PoolSettings() []string {
	var names []string
	for _, s := range ofPool.list() {
		names = append(names, s.Name)
	}
	return names
}

// IsPoolSwitch reports whether a setting of a pool is on or off, and its flag needs no value.
func IsPoolSwitch(name string) bool {
	s := ofPool.find(name)
	return s != nil && isSwitch(s.Name)
}

// Set gives the pool a setting, or a field of the policy bundle, routing.params.queue-depth.
func (o *Overrides) Set(name, text string) error { return o.set(&ofPool, name, text) }

func (o *Overrides) set(scope *settingScope, name, text string) error {
	if section, _, isPath := strings.Cut(name, "."); isPath {
		if !slices.Contains(poolSections, section) {
			return fmt.Errorf("%s has no %s of its own: want a field of %s", scope.of, section, strings.Join(poolSections, ", "))
		}
		if err := bundle.CheckPath(name); err != nil {
			return err
		}
		o.put(Assignment{Name: name, Text: text})
		return nil
	}
	s := scope.find(name)
	if s == nil {
		return scope.none(name)
	}
	if s.Name == PoliciesSetting {
		var b bundle.Bundle
		if err := b.UnmarshalText([]byte(text)); err != nil {
			return err
		}
		return o.setPolicies(b)
	}
	scratch := *s
	scratch.Value = reflect.New(reflect.TypeFor[Config]().FieldByIndex(s.Index).Type).Elem()
	if err := scratch.set(text); err != nil {
		return err
	}
	o.put(Assignment{Name: s.Name, Text: valueText(scratch.Value)})
	return nil
}

// setPolicies gives the pool the sections of a bundle, beside those that it has already.
func (o *Overrides) setPolicies(b bundle.Bundle) error {
	if b.Admission.Type != "" || b.Priority.Type != "" {
		return fmt.Errorf("admission and priority are those of the run: want %s", strings.Join(poolSections, ", "))
	}
	for i, s := range []*bundle.Selection{&b.Routing, &b.Scheduler, &b.Autoscale.Selection} {
		if s.Type == "" && len(s.Params) > 0 {
			return fmt.Errorf("%s: params without a type: want the type of the policy too", poolSections[i])
		}
	}
	var all bundle.Bundle
	if i := slices.IndexFunc(o.list, func(a Assignment) bool { return a.Policies != nil }); i >= 0 {
		all = *o.list[i].Policies
	}
	overlay(&all, &b)
	o.put(Assignment{Name: PoliciesSetting, Policies: &all})
	return nil
}

// none is the error of a name that is not in the scope.
func (o *settingScope) none(name string) error {
	switch {
	case name == "num-instances":
		return fmt.Errorf("want replicas, the number of instances of %s", o.of)
	case slices.ContainsFunc(settingFields(), func(s Setting) bool {
		return s.Name == name || slices.Contains(strings.Split(s.Tag.Get("aliases"), ","), name)
	}):
		return fmt.Errorf("%s has no %s of its own: want --%s", o.of, name, name)
	}
	var names []string
	for _, s := range o.list() {
		names = append(names, s.Name)
	}
	return fmt.Errorf("no setting %q of %s%s", yamldoc.Clip(name), o.of, suggest.Hint(name, names))
}

// put adds a setting, or replaces its value. Others may share the list.
func (o *Overrides) put(a Assignment) {
	o.list = slices.DeleteFunc(slices.Clone(o.list), func(other Assignment) bool { return other.Name == a.Name })
	o.list = append(o.list, a)
}

// Get returns the value of a setting or a field, and whether it is there.
func (o Overrides) Get(name string) (text string, found bool) {
	for _, a := range o.list {
		if a.Name == name {
			return a.Text, true
		}
	}
	return "", false
}

// Equal reports whether two pools have the same settings for themselves, in the same order.
func (o Overrides) Equal(other Overrides) bool {
	return slices.EqualFunc(o.list, other.list, func(a, b Assignment) bool {
		return a.Name == b.Name && a.Text == b.Text && (a.Policies == nil) == (b.Policies == nil) && (a.Policies == nil || a.Policies.Equal(*b.Policies))
	})
}

// Names returns the names of the settings.
func (o Overrides) Names() (names []string) {
	for _, a := range o.list {
		names = append(names, a.Name)
	}
	return names
}

// Over returns the settings of o, and those of below that o does not have.
func (o Overrides) Over(below Overrides) Overrides {
	all := Overrides{below.list}
	for _, a := range o.list {
		all.put(a)
	}
	return all
}

// apply gives a configuration the settings. Its bundle must show all of its own.
func (o Overrides) apply(c *Config) error {
	list := slices.Clone(o.list)
	for i := range list {
		if own := list[i].Policies; own != nil {
			b := c.Policies
			overlay(&b, own)
			list[i].Policies = &b
		}
	}
	return c.Assign(list)
}

// flags returns the flags of the settings for the pool of that name: one for each, or with
// policies one for all.
func (o Overrides) flags(pool string) (flags []string) {
	for _, a := range o.list {
		if a.Policies != nil {
			return []string{"--" + pool + "=" + o.String()}
		}
		flags = append(flags, "--"+pool+"-"+a.Name+"="+a.Text)
	}
	return flags
}

// String is the settings as UnmarshalText reads them, empty if there are none.
func (o Overrides) String() string {
	if len(o.list) == 0 {
		return ""
	}
	text, err := o.MarshalJSON()
	if err != nil {
		panic(err) // its bundle was read
	}
	return string(text)
}

// MarshalJSON writes an object from the name of a setting to its text; the policies are an
// object, as everywhere.
func (o Overrides) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, a := range o.list {
		var value any = a.Text
		if a.Policies != nil {
			value = a.Policies
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", a.Name, text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads such an object.
func (o *Overrides) UnmarshalJSON(text []byte) error {
	*o = Overrides{}
	return o.UnmarshalText(text)
}

// overrideLimits are the limits of a mapping as text.
var overrideLimits = yamldoc.Options{Bytes: input.Settings, Depth: 40, Name: 128}

// UnmarshalText adds settings: those of a mapping, or one as name=value. A flag that is given
// again adds to what is there.
func (o *Overrides) UnmarshalText(text []byte) error {
	name, value, isPair := strings.Cut(string(text), "=")
	if isPair && !strings.ContainsAny(name, "{:\n") {
		return o.Add(strings.TrimSpace(name), value)
	}
	root, err := yamldoc.Read("settings", text, overrideLimits)
	if err != nil {
		return err
	}
	if root == nil {
		return nil
	}
	return o.Read("settings", yamldoc.Place{}, root)
}

// Add is Set, but that a storage tier joins those that are there.
func (o *Overrides) Add(name, text string) error {
	if before, found := o.Get(name); found && name == "kv-storage" {
		text = before + ";" + text
	}
	return o.Set(name, text)
}

// Read adds the settings of a mapping. Its errors are a *yamldoc.Error with their place.
func (o *Overrides) Read(file string, at yamldoc.Place, n *yamldoc.Node) error {
	switch n.Kind {
	case yamldoc.Null:
		return nil
	case yamldoc.Mapping:
	default:
		return at.Fault(file, "%s is not allowed, want settings of the pool, like {tp: 4, hardware: H200}", n.Describe())
	}
	for i := range n.Members {
		m := &n.Members[i]
		if err := o.ReadOne(m.Name, m.Value); err != nil {
			return at.Within(m.Name, m.Line).Fault(file, "%v", err)
		}
	}
	return nil
}

// ReadOne adds a setting of a mapping.
func (o *Overrides) ReadOne(name string, n *yamldoc.Node) error { return o.read(&ofPool, name, n) }

func (o *Overrides) read(scope *settingScope, name string, n *yamldoc.Node) error {
	name = strings.ReplaceAll(name, "_", "-")
	if n.Kind == yamldoc.Null {
		return nil // not given
	}
	if name == PoliciesSetting {
		b, err := bundle.Parse(PoliciesSetting, []byte(n.Format()))
		if err != nil {
			return err
		}
		return o.setPolicies(b)
	}
	if n.Kind == yamldoc.String || strings.Contains(name, ".") {
		return o.set(scope, name, n.Text)
	}
	s := scope.find(name)
	if s == nil {
		return scope.none(name)
	}
	text, want := ValueText(n, reflect.TypeFor[Config]().FieldByIndex(s.Index).Type)
	if want != "" {
		return fmt.Errorf("%s is not allowed, want %s", n.Describe(), want)
	}
	return o.set(scope, name, text)
}

// ofPoolSetting returns the overrides and the setting that a name like prefill-tp stands for; nil if it
// is no such name.
func ofPoolSetting(c *Config, name string) (o *Overrides, setting string) {
	for _, r := range roles {
		if setting, found := strings.CutPrefix(name, string(r)+"-"); found {
			return c.overridesOf(r), setting
		}
	}
	return nil, ""
}

func isPoolSetting(name string) bool {
	o, _ := ofPoolSetting(new(Config), name)
	return o != nil
}

// ReplacePoolFiles puts what replace returns in place of each path that a pool or a deployment of c has for
// itself. replace gets the name of the setting too: coefficients may be the name of a set. Of a file of
// deployments it sees what was read. Copies of c stay as they are.
func ReplacePoolFiles(c *Config, replace func(setting, path string) (string, error)) error {
	c.Deployments.list = slices.Clone(c.Deployments.list)
	pools := []*Overrides{&c.Prefill, &c.Decode}
	for i := range c.Deployments.list {
		d := &c.Deployments.list[i]
		pools = append(pools, &d.own, &d.prefill, &d.decode)
	}
	for _, o := range pools {
		o.list = slices.Clone(o.list)
		for i := range o.list {
			a := &o.list[i]
			s := ofDeployment.find(a.Name)
			if a.Text == "" || a.Name != "coefficients" && (s == nil || s.Tag.Get("type") != "path") {
				continue
			}
			text, err := replace(a.Name, a.Text)
			if err != nil {
				return err
			}
			a.Text = text
		}
	}
	return nil
}

// setOfPool sets what is no setting of Config: one of a pool.
func setOfPool(c *Config, name, text string) error {
	o, setting := ofPoolSetting(c, name)
	if o == nil {
		return inputErrorf("no setting --%s", name)
	}
	if err := o.Set(setting, text); err != nil {
		return inputErrorf("--%s: %v", name, err)
	}
	return nil
}

// checkPoolName is CheckName for a name that stands for a setting of a pool.
func checkPoolName(o *Overrides, name, setting string) error {
	scratch, s := *o, ofPool.find(setting)
	switch {
	case strings.Contains(setting, "."):
		if err := scratch.Set(setting, ""); err != nil {
			return inputErrorf("%s: %v", name, err)
		}
	case s == nil:
		return inputErrorf("%s: %v", name, ofPool.none(setting))
	case s.Name != setting:
		return inputErrorf("%s is another name of %s: want that", name, strings.TrimSuffix(name, setting)+s.Name)
	}
	return nil
}
