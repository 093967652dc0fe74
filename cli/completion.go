package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"blis/latency"
	"blis/policy"
	"blis/setup"
	"blis/study"
	"blis/trace"
	"blis/workload/spec"
	"blis/workload/traces"
)

// completionCmd is blis completion.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is how to use the script.
func (*completionCmd) Help() string {
	return `Examples:

    source <(blis completion bash)
    source <(blis completion zsh)
    blis completion fish > ~/.config/fish/completions/blis.fish`
}

// Run carries the command out.
func (s *completionCmd) Run(c *console) error {
	_, err := fmt.Fprint(c.out, completionScripts[s.Shell])
	return err
}

// completeCmd is what the scripts call with the words so far. It prints how the
// last one may go on, a line each, and fileMark where a file may stand.
type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// fileMark tells a script to complete names of files.
const fileMark = "*files*"

// Run carries the command out.
func (w *completeCmd) Run(c *console) error {
	words := w.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	list, err := complete(words)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.out, strings.Join(append(list, ""), "\n"))
	return err
}

// complete lists how the last of the words behind blis may go on.
func complete(words []string) ([]string, error) {
	parser, err := kong.New(&commands{}, kong.Name("blis"), kong.NamedMapper("path", kong.MapperFunc(decodePath)))
	if err != nil {
		return nil, err
	}
	last, before := "", words
	if len(words) > 0 {
		last, before = words[len(words)-1], words[:len(words)-1]
	}
	node, pending := walk(parser.Model.Node, before)
	// bash breaks words at =, so that --flag=va arrives as --flag, =, va.
	if last == "=" && pending != nil {
		last = ""
	}
	name, value, split := strings.Cut(last, "=")
	switch {
	case pending != nil:
		return withPrefix("", last, flagValues(pending)), nil
	case split && strings.HasPrefix(name, "--"):
		if f := flagNamed(node, strings.TrimPrefix(name, "--")); f != nil {
			return withPrefix(name+"=", value, flagValues(f)), nil
		}
		return nil, nil
	case strings.HasPrefix(last, "-"):
		return withPrefix("", last, flagNames(node)), nil
	}
	return withPrefix("", last, argumentsOf(node)), nil
}

// walk follows words to the command that they name, and to the flag that waits
// for a value, if the last one does.
func walk(node *kong.Node, words []string) (_ *kong.Node, pending *kong.Flag) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case word == "help" && i == 0:
		case pending != nil && word == "=":
			continue
		case pending != nil:
			pending = nil
		case strings.HasPrefix(word, "--"):
			if f := flagNamed(node, word[2:]); f != nil && valueName(f) != "" {
				pending = f
			}
		default:
			if child := childOf(node, word); child != nil {
				node = child
			}
		}
	}
	return node, pending
}

// beginning are the names that begin with what was typed, with a prefix.
func withPrefix(prefix, typed string, names []string) []string {
	var list []string
	for _, name := range names {
		if name == fileMark || strings.HasPrefix(strings.ToLower(name), strings.ToLower(typed)) {
			if name != fileMark {
				name = prefix + name
			}
			list = append(list, name)
		}
	}
	return list
}

// flagNames are the flags of a command.
func flagNames(node *kong.Node) []string {
	list := []string{"--help"}
	for _, f := range node.Flags {
		if f.Hidden || f.Name == "help" {
			continue
		}
		list = append(list, "--"+f.Name)
		if f.Tag.Negatable != "" {
			list = append(list, "--no-"+f.Name)
		}
	}
	if len(node.Flags) > fewFlags {
		list = append(list, "--help-all")
	}
	if node.Parent == nil {
		list = append(list, "--version")
	}
	return list
}

// argumentsOf are the words that may stand behind a command: those below it, and
// values of its argument.
func argumentsOf(node *kong.Node) []string {
	var list []string
	for _, child := range node.Children {
		if !child.Hidden {
			list = append(list, child.Name)
		}
	}
	if node.Parent == nil {
		list = append(list, "help")
	}
	switch strings.TrimPrefix(node.FullPath(), "blis ") {
	case "compare":
		return append(policyNames(policy.RoutingKind), fileMark)
	case "policies":
		for _, t := range policy.Templates() {
			if !slices.Contains(list, string(t.Kind)) {
				list = append(list, string(t.Kind))
			}
			list = append(list, t.Name)
		}
	case "models show":
		return append(modelNames(), fileMark)
	case "workload scenarios":
		return scenarioNames()
	case "completion":
		return []string{"bash", "zsh", "fish"}
	}
	for _, arg := range node.Positional {
		if arg.Tag.Type == "path" {
			list = append(list, fileMark)
		}
	}
	return list
}

// flagValues are the values that a flag may have, as far as they have names.
func flagValues(f *kong.Flag) []string {
	if f.Name == "preemption-policy" {
		return preemptions()
	}
	if path, ok := strings.CutSuffix(f.Name, "-policy"); ok && f.Enum == "" {
		return policyNames(policy.Kind(path))
	}
	switch f.Name {
	case "model":
		return modelNames()
	case "hardware":
		var list []string
		for _, g := range latency.AllHardware() {
			list = append(list, g.Name)
		}
		return list
	case "scenario":
		return scenarioNames()
	case "scheduler":
		return policyNames(policy.SchedulerKind)
	case "strategy", "summarize-trace":
		var list []string
		for _, s := range trace.Strategies() {
			list = append(list, string(s))
		}
		return list
	case "workload":
		return setup.WorkloadNames()
	case "trace-format":
		return traces.Formats()
	case "coefficients":
		list := []string{fileMark}
		for _, s := range latency.PhysicsSets() {
			list = append(list, s.Name)
		}
		return list
	case "objectives", "measures", "fitness-weights", "check":
		var list []string
		for _, m := range study.Measures() {
			list = append(list, m.Name)
		}
		return list
	}
	switch {
	case f.Enum != "":
		return f.EnumSlice()
	case f.Tag.Type == "path", f.Name == "deployments":
		return []string{fileMark}
	case f.Target.Kind() == reflect.Bool:
		return []string{"true", "false"}
	}
	return nil
}

// preemptions are the choices of the parameter that schedulers have.
func preemptions() []string {
	for _, t := range policy.Templates() {
		for i := range t.Parameters {
			if t.Kind == policy.SchedulerKind && t.Parameters[i].Name == "preemption" {
				return t.Parameters[i].Choices
			}
		}
	}
	return nil
}

func policyNames(kind policy.Kind) []string {
	var list []string
	for _, t := range policy.Templates() {
		if t.Kind == kind {
			list = append(list, t.Name)
		}
	}
	return list
}

// modelNames are the models without their owners, as they are mostly typed.
func modelNames() []string {
	var list []string
	for _, m := range latency.AllModels() {
		list = append(list, m.Name[strings.LastIndexByte(m.Name, '/')+1:])
	}
	slices.Sort(list)
	return list
}

func scenarioNames() []string {
	var list []string
	for _, s := range spec.Scenarios() {
		list = append(list, s.Name)
	}
	return list
}

// completionScripts are what shells read. Each asks the command itself how a
// word may go on, so that names come from the binary that is called.
var completionScripts = map[string]string{
	"bash": strings.ReplaceAll(`_blis() {
    local words=("${COMP_WORDS[@]:1:COMP_CWORD}") line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == "FILES" ]]; then
            compopt -o filenames 2>/dev/null
            COMPREPLY+=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]#=}"))
        else
            COMPREPLY+=("$line")
        fi
    done < <("${COMP_WORDS[0]}" __complete -- "${words[@]}" 2>/dev/null)
}
complete -F _blis blis
`, "FILES", fileMark),
	"zsh": strings.ReplaceAll(`#compdef blis
_blis() {
    local -a list
    local line files=
    while IFS= read -r line; do
        if [[ $line == "FILES" ]]; then files=1; else list+=("$line"); fi
    done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( $#list )) && compadd -- "${list[@]}"
    [[ -n $files ]] && _files
}
compdef _blis blis
`, "FILES", fileMark),
	"fish": strings.ReplaceAll(`function __blis_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program $words[1]
    for line in ($program __complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = "FILES"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c blis -f -a '(__blis_complete)'
`, "FILES", fileMark),
}
