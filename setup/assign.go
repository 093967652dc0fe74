package setup

import (
	"slices"
	"strings"

	"blis/bundle"
	"blis/suggest"
)

// Assignment gives one setting a value: an axis of a sweep has a list of them.
type Assignment struct {
	// Name is the name of a setting, as its flag has it without dashes, or the path of
	// a field of the policy bundle, like routing.params.queue-depth.
	Name string
	Text string // as the flag has it

	Policies *bundle.Bundle // of the setting policies, in place of Text
}

// PoliciesSetting is the name of the setting whose value is a policy bundle.
const PoliciesSetting = "policies"

// Assign makes assignments in an order in which none undoes another: a bundle first, then
// what chooses a policy, then its parameters, whatever the order of the list. The
// receiver's bundle is not shared afterwards. Its errors are an *InputError.
func (c *Config) Assign(list []Assignment) error {
	var edits []Edit
	for _, a := range list {
		if a.Policies != nil {
			if err := c.UseBundle(*a.Policies); err != nil {
				return err
			}
		}
	}
	for _, a := range list {
		switch {
		case a.Policies != nil:
		case settingOf(a.Name) != nil:
			edits = append(edits, Edit{Flag: a.Name, Text: a.Text, Origin: FromFlag, Where: a.Name})
		case strings.Contains(a.Name, ".") && !isPoolSetting(a.Name):
			edits = append(edits, Edit{Text: a.Name + "=" + a.Text, Origin: FromSet, Where: "bundle field"})
		default:
			if err := c.Set(a.Name, a.Text); err != nil {
				return err
			}
		}
		if a.Name == "seed" {
			c.SeedGiven = true
		}
	}
	if edits == nil {
		return nil
	}
	if err := ApplyEdits(&c.Policies, edits); err != nil {
		return err
	}
	return c.UseBundle(c.Policies)
}

// CheckName reports a name that is neither a setting nor the path of a field of the
// bundle as an *InputError with the nearest name.
func CheckName(name string) error {
	var names []string
	defaults := DefaultConfig()
	for s := range defaults.Settings() {
		if s.Name == name {
			return nil
		}
		if slices.Contains(strings.Split(s.Tag.Get("aliases"), ","), name) {
			return inputErrorf("%s is another name of %s: want %s", name, s.Name, s.Name)
		}
		names = append(names, s.Name)
	}
	if o, setting := ofPoolSetting(&defaults, name); o != nil {
		return checkPoolName(o, name, setting)
	}
	if strings.Contains(name, ".") {
		if err := bundle.CheckPath(name); err != nil {
			return inputErrorf("%v", err)
		}
		return nil
	}
	return inputErrorf("unknown setting %q%s", name, suggest.Hint(name, names))
}
