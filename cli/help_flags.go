package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"blis/latency"
	"blis/setup"
	"blis/suggest"
	"blis/vtime"
)

const (
	fewFlags   = 25 // a command with more of them shows the usual ones
	flagColumn = 30 // where the text of a flag begins
)

// settingsHelp says where else flags may stand.
const settingsHelp = `Every flag that makes a run can also stand in a YAML file (--config) under its name, or in the environment: BLIS_NUM_INSTANCES is --num-instances. A flag wins over the environment, the environment over the file. Durations read 50ms, 1.5s, 2m, or a number of microseconds.`

// usual are the flags that most runs are made of, in the order of the page. With
// the page's frame they fit on a screen of 80 × 40: a text is at most 50 columns
// wide.
var usual = []struct{ name, text string }{
	{"model", "model to serve, see blis models"},
	{"hardware", "GPU, see blis hardware (default: H100)"},
	{"tp", "GPUs per instance, tensor parallel (default: 1)"},
	{"num-instances", "instances, vLLM servers (default: 4)"},
	{"max-num-seqs", "most requests in a batch (default: as vLLM)"},
	{"max-num-batched-tokens", "most tokens in a step (default: as vLLM)"},
	{"routing-policy", "who gets a request (default: round-robin)"},
	{"autoscale-policy", "how instances are added (default: none)"},
	{"rate", "requests per second (default: 80 % of capacity)"},
	{"num-requests", "how many requests (default: 1000)"},
	{"prompt-tokens", "mean prompt length (default: 512)"},
	{"output-tokens", "mean output length (default: 256)"},
	{"scenario", "built-in traffic, see blis workload scenarios"},
	{"workload-spec", "traffic as a specification in YAML"},
	{"trace", "traffic as a trace to replay (CSV, JSON lines, …)"},
	{"slo-targets", "like ttft=500ms,tpot=50ms"},
	{"check", "fail unless e.g. p99_ttft<500ms holds"},
	{"seed", "seed of everything random (default: 42)"},
	{"config", "take flags from a YAML file, or from a result"},
	{"format", "text or json (default: text)"},
}

// usualFlags lists the flags of a command that are its own, and the usual ones.
func (p *helpPage) usualFlags(node *kong.Node) {
	p.gap()
	shared := sharedFlags()
	own := false
	for _, f := range node.Flags {
		if !slices.Contains(shared[f.Name], f.Target.Type()) && !strings.HasPrefix(f.Name, "help") && !f.Hidden {
			first, _, _ := strings.Cut(f.Help, ". ")
			p.flag(f, strings.TrimSuffix(first, ".")+".")
			own = true
		}
	}
	if own {
		p.gap()
	}
	for _, u := range usual {
		if f := flagNamed(node, u.name); f != nil {
			p.flag(f, u.text)
		}
	}
}

// sharedFlags are the flags of run with their types: commands that share its settings add to
// them. A flag of another type is another flag: --otlp of train takes a list.
func sharedFlags() map[string][]reflect.Type {
	names := map[string][]reflect.Type{}
	add := func(name string, t reflect.Type) { names[name] = append(names[name], t) }
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			switch name := f.Tag.Get("json"); {
			case f.Anonymous && f.Type.Kind() == reflect.Struct:
				visit(f.Type)
			case f.Tag.Get("name") != "":
				add(f.Tag.Get("name"), f.Type)
			case name != "" && name != "-":
				add(name, f.Type)
			default:
				add(kongName(f.Name), f.Type)
			}
		}
	}
	visit(reflect.TypeFor[runCmd]())
	return names
}

// kongName is the name that a flag gets from its field: ResultsPath is
// results-path.
func kongName(field string) string {
	var b strings.Builder
	for i, r := range field {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}

// flagNamed is the flag of that name, nil if the command has none.
func flagNamed(node *kong.Node, name string) *kong.Flag {
	for _, f := range node.Flags {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// moreFlags says how to see the other flags.
func (p *helpPage) moreFlags(node *kong.Node) {
	p.gap()
	p.prose(fmt.Sprintf("Every flag: %s --help-all. Flags about TOPIC: blis help %s TOPIC, a word like kv or prefix, or one of the groups %s.",
		node.FullPath(), strings.TrimPrefix(node.FullPath(), "blis "), strings.Join(groupsOf(node), ", ")))
}

// groupsOf are the groups of a command's flags, in small letters.
func groupsOf(node *kong.Node) []string {
	var list []string
	for _, f := range node.Flags {
		if f.Group != nil && !slices.Contains(list, strings.ToLower(f.Group.Title)) {
			list = append(list, strings.ToLower(f.Group.Title))
		}
	}
	return list
}

// allFlags lists the flags of a command by groups.
func (p *helpPage) allFlags(node *kong.Node) {
	p.group(node, "Flags:", func(f *kong.Flag) bool { return f.Group == nil && f.Name != "help" })
	seen := map[string]bool{}
	for _, f := range node.Flags {
		if f.Group == nil || seen[f.Group.Title] {
			continue
		}
		title := f.Group.Title
		seen[title] = true
		p.group(node, title+":", func(f *kong.Flag) bool { return f.Group != nil && f.Group.Title == title })
	}
}

// group lists the flags that belong under a title, if there are any.
func (p *helpPage) group(node *kong.Node, title string, belongs func(*kong.Flag) bool) (any bool) {
	for _, f := range node.Flags {
		if f.Hidden || !belongs(f) {
			continue
		}
		if !any {
			fmt.Fprintf(p, "\n%s\n", title)
		}
		any = true
		p.flag(f, helpOf(f.Value))
	}
	return any
}

// topic is the page of a group of flags, or of those that have a word in their
// name or help.
func (p *helpPage) topic(node *kong.Node) error {
	topic := strings.ToLower(p.asked.topic)
	fmt.Fprintf(p, "Flags of %s about %s\n", node.FullPath(), topic)
	found := p.group(node, "Of this group:", func(f *kong.Flag) bool {
		return f.Group != nil && strings.HasPrefix(strings.ToLower(f.Group.Title), topic)
	})
	if !found {
		found = p.group(node, "With this word:", func(f *kong.Flag) bool {
			text := strings.ToLower(f.Name + " " + f.Help)
			return f.Name != "help" && (strings.Contains(f.Name, topic) || slices.Contains(strings.FieldsFunc(text, noLetter), topic))
		})
	}
	if !found {
		groups := groupsOf(node)
		return inputErrorf("help: no flag of %s is about %q%s (groups: %s)", node.FullPath(), p.asked.topic, suggest.Hint(topic, groups), strings.Join(groups, ", "))
	}
	return nil
}

func noLetter(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
}

// flag writes one flag.
func (p *helpPage) flag(f *kong.Flag, text string) {
	name := "--" + f.Name
	if f.Tag.Negatable != "" {
		name = "--[no-]" + f.Name
	}
	if value := valueName(f); value != "" {
		name += " " + value
	}
	p.columns(flagColumn, name, text)
}

// valueNames are the values that have a form of their own.
var valueNames = map[string]string{
	"slo-targets": "TARGETS", "fitness-weights": "WEIGHTS", "routing-scorers": "SCORERS", "force-routing": "CHOICES",
}

// valueName stands for the value of a flag; switches have none.
func valueName(f *kong.Flag) string {
	t := f.Target.Type()
	switch {
	case f.IsBool() || t == reflect.TypeFor[*bool]():
		return ""
	case f.PlaceHolder != "":
		return f.PlaceHolder
	case valueNames[f.Name] != "":
		return valueNames[f.Name]
	case f.Tag.Type == "path":
		return "FILE"
	case t == reflect.TypeFor[vtime.Duration](), t == reflect.TypeFor[setup.RandomDuration]():
		return "DURATION"
	case t == reflect.TypeFor[latency.Bytes]():
		return "BYTES"
	case t == reflect.TypeFor[latency.Rate](), t == reflect.TypeFor[setup.PullBandwidth]():
		return "RATE"
	case t.Kind() == reflect.Slice:
		return "X,…"
	case t.Kind() == reflect.Float64:
		return "X"
	case t.Kind() == reflect.String && f.Enum != "":
		return "WORD"
	case t.Kind() == reflect.String:
		return "NAME"
	}
	return "N"
}

// helpOf is the help text of a flag with its default.
func helpOf(v *kong.Value) string {
	text := strings.TrimSuffix(v.Help, ".")
	switch on, err := strconv.ParseBool(v.Default); {
	case v.IsBool() && err == nil && on:
		return text + " (default: on)."
	case v.IsBool(), v.Default == "", v.Default == "0", v.HasDefault && v.Default == "SHARE":
		return v.Help
	}
	return fmt.Sprintf("%s (default: %s).", text, v.Default)
}
