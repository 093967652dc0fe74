package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const flagsPage = "../docs/flags.md"

// TestFlagsPageHasEveryFlag compares docs/flags.md with the grammar of the
// command line. With -update it writes the page.
func TestFlagsPageHasEveryFlag(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Name("blis"), kong.ValueFormatter(helpOf), kong.NamedMapper("path", kong.MapperFunc(decodePath)))
	if err != nil {
		t.Fatal(err)
	}
	_, vllm, _ := strings.Cut(read(t, flagsPage), "\n## Flags of vLLM\n") // package setup writes this part
	want := writeFlagsPage(parser.Model.Node) + "\n## Flags of vLLM\n" + vllm
	if *update {
		if err := os.WriteFile(flagsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, flagsPage); got != want {
		t.Errorf("%s does not list the flags as they are: go test ./cli ./setup -run FlagsPage -update writes it anew", flagsPage)
	}
}

// writeFlagsPage is the page: the flags that make a run, and those that a
// command has of its own.
func writeFlagsPage(root *kong.Node) string {
	var b strings.Builder
	b.WriteString(`# Every flag

This page is generated from the command line: ` + "`go test ./cli ./setup -run FlagsPage -update`" + ` writes it, and tests compare it.

`)
	fmt.Fprintf(&b, "%s\n\nSizes read `8GiB` or `80GB`. Switches that are on are switched off by `--no-NAME`. "+
		"The flags of `vllm serve` stand [at the end](#flags-of-vllm).\n", settingsHelp)
	run := childOf(root, "run")
	b.WriteString("\n## blis run\n\n`verify`, `compare` and `workload` take those of them that they need.\n")
	writeFlagGroups(&b, "###", run.Flags)
	known := map[string]bool{"help": true}
	for _, f := range run.Flags {
		known[f.Name] = true
	}
	writeCommands(&b, root, known)
	return b.String()
}

// writeCommands lists the flags of the commands below node that are not known.
func writeCommands(b *strings.Builder, node *kong.Node, known map[string]bool) {
	for _, child := range node.Children {
		if child.Type != kong.CommandNode || child.Hidden || child.Name == "run" {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(child.Flags), func(f *kong.Flag) bool { return known[f.Name] })
		if len(own) > 0 {
			fmt.Fprintf(b, "\n## %s\n", child.FullPath())
			writeFlagTable(b, own)
		}
		writeCommands(b, child, known)
	}
}

// writeFlagGroups writes a table per group, in the order of their first flags.
func writeFlagGroups(b *strings.Builder, mark string, flags []*kong.Flag) {
	var groups []string
	byGroup := map[string][]*kong.Flag{}
	for _, f := range flags {
		name := "General"
		if f.Group != nil {
			name = f.Group.Title
		}
		if _, seen := byGroup[name]; !seen {
			groups = append(groups, name)
		}
		byGroup[name] = append(byGroup[name], f)
	}
	for _, name := range groups {
		fmt.Fprintf(b, "\n%s %s\n", mark, name)
		writeFlagTable(b, byGroup[name])
	}
}

func writeFlagTable(b *strings.Builder, flags []*kong.Flag) {
	b.WriteString("\n| flag | default | meaning |\n|---|---|---|\n")
	cell := func(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := "`--" + f.Name + "`"
		for _, alias := range f.Aliases {
			name += ", `--" + alias + "`"
		}
		value := ""
		if f.HasDefault && f.Default != "" && f.Default != "false" {
			value = "`" + f.Default + "`"
			if f.IsBool() {
				value = "on"
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, cell(value), cell(strings.TrimSuffix(f.Help, " (on).")))
	}
}
