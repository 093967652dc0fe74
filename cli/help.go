package cli

import (
	"fmt"
	"go/doc/comment"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"blis/report/plaintext"
	"blis/suggest"
)

// helpRequest is what a command line asks for in words that the grammar does
// not have: help, and how much of it.
type helpRequest struct {
	args  []string // for the grammar
	all   bool     // --help-all: every flag
	topic string   // of blis help COMMAND TOPIC: a group of flags, or a word
}

// readHelpRequest reads the spellings of help and version that the grammar does
// not have: no argument at all, help COMMAND TOPIC, --help-all, --version.
func readHelpRequest(args []string) (*helpRequest, error) {
	a := &helpRequest{args: slices.Clone(args)}
	end := slices.Index(a.args, "--")
	if end < 0 {
		end = len(a.args)
	}
	if i := slices.Index(a.args[:end], "--help-all"); i >= 0 {
		a.args[i], a.all = "--help", true
	}
	switch {
	case len(args) == 0:
		a.args = []string{"--help"}
	case len(args) == 1 && (args[0] == "workload" || args[0] == "trace"): // they do nothing without a command below them
		a.args = append(a.args, "--help")
	case args[0] == "--version":
		a.args[0] = "version"
	case args[0] == "help":
		return a, a.readHelp(args[1:])
	}
	return a, nil
}

// readHelp takes the words behind blis help: a command and a topic of it.
func (a *helpRequest) readHelp(words []string) error {
	parser, err := kong.New(&commands{}, kong.Name("blis"))
	if err != nil {
		return err
	}
	node, used := parser.Model.Node, 0
	for _, word := range words {
		child := childOf(node, word)
		if child == nil {
			break
		}
		node, used = child, used+1
	}
	a.args = append(slices.Clone(words[:used]), "--help")
	switch rest := words[used:]; {
	case len(rest) == 0:
		return nil
	case used == 0 && !strings.HasPrefix(rest[0], "-"):
		return inputErrorf("help: there is no command %s%s", rest[0], hintOfCommands(node, rest[0]))
	case len(rest) == 1 && rest[0] == "all":
		a.all = true
	case len(rest) == 1 && !strings.HasPrefix(rest[0], "-"):
		a.topic = rest[0]
	case !slices.Equal(rest, []string{"--help"}) && !slices.Equal(rest, []string{"-h"}):
		return inputError("help: want a command and at most one topic, like blis help run kv")
	}
	return nil
}

// childOf is the command of that name below node, nil if there is none.
func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Type == kong.CommandNode && child.Name == name {
			return child
		}
	}
	return nil
}

// helpPage writes one page of help.
type helpPage struct {
	strings.Builder
	width int
	asked *helpRequest
}

// printHelp is the kong.HelpPrinter of a command line.
func (c *console) printHelp(a *helpRequest) kong.HelpPrinter {
	return func(_ kong.HelpOptions, ctx *kong.Context) error {
		p := &helpPage{width: c.columns(), asked: a}
		node := ctx.Selected()
		var err error
		switch {
		case node == nil:
			p.application(ctx.Model.Node)
		case a.topic != "":
			err = p.topic(node)
		default:
			p.command(node)
		}
		if err != nil {
			return err
		}
		_, err = io.WriteString(c.out, p.String())
		return err
	}
}

// application is what blis says of itself.
func (p *helpPage) application(root *kong.Node) {
	fmt.Fprintf(p, "Usage: blis COMMAND [flags]\n\n")
	p.prose("BLIS simulates clusters of LLM inference servers in virtual time: the same scheduler, KV cache and routing as vLLM with a gateway in front, without GPUs.")
	fmt.Fprintf(p, "\nStart with \"blis run\". Commands:\n\n")
	p.children(root)
	fmt.Fprintf(p, `
blis help COMMAND          usage of a command and its usual flags (or --help)
blis COMMAND --help-all    every flag; "blis help run kv": those about a topic
blis --version             commit, and date of the shipped data
`)
}

// children lists the commands below a node.
func (p *helpPage) children(node *kong.Node) {
	left := 0
	for _, child := range node.Children {
		left = max(left, len(child.Name))
	}
	for _, child := range node.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			p.columns(left+4, child.Name, child.Help)
		}
	}
}

// command is the page of one command.
func (p *helpPage) command(node *kong.Node) {
	fmt.Fprintf(p, "Usage: %s\n\n", usageOf(node))
	p.prose(node.Help)
	if hasCommands(node) {
		fmt.Fprintf(p, "\nCommands:\n\n")
		p.children(node)
	}
	short := !p.asked.all && len(node.Flags) > fewFlags
	if !short {
		p.detail(node.Detail)
	}
	if len(node.Positional) > 0 {
		fmt.Fprintf(p, "\nArguments:\n")
		for _, arg := range node.Positional {
			p.columns(flagColumn, arg.Summary(), arg.Help)
		}
	}
	if short {
		p.usualFlags(node)
		p.detail(node.Detail)
		p.moreFlags(node)
		return
	}
	p.allFlags(node)
	if len(node.Flags) > fewFlags {
		p.gap()
		p.prose(settingsHelp)
	}
}

// usageOf is the synopsis of a command.
func usageOf(node *kong.Node) string {
	usage := node.FullPath()
	for _, arg := range node.Positional {
		usage += " " + arg.Summary()
	}
	if hasCommands(node) {
		usage += " [COMMAND]"
	}
	return usage + " [flags]"
}

func hasCommands(node *kong.Node) bool {
	return slices.ContainsFunc(node.Children, func(n *kong.Node) bool { return n.Type == kong.CommandNode && !n.Hidden })
}

func (p *helpPage) gap() { p.WriteByte('\n') }

// prose writes a paragraph.
func (p *helpPage) prose(text string) { p.columns(0, "", text) }

// detail writes what a command says of itself in paragraphs and examples.
func (p *helpPage) detail(text string) {
	if text == "" {
		return
	}
	p.gap()
	var parser comment.Parser
	printer := comment.Printer{TextWidth: min(p.width, plaintext.WidestProse), TextCodePrefix: "  "}
	p.Write(printer.Text(parser.Parse(text)))
}

// columns writes left, and right from a column on, wrapped at blanks.
func (p *helpPage) columns(column int, left, right string) {
	indent := 2
	if column == 0 {
		indent = 0
	}
	line := strings.Repeat(" ", indent) + left
	used := utf8.RuneCountInString(line)
	if column > 0 && used > column-2 && right != "" {
		p.WriteString(line + "\n")
		line, used = "", 0
	}
	if right == "" {
		p.WriteString(line + "\n")
		return
	}
	line += strings.Repeat(" ", column-used)
	for _, part := range plaintext.Wrap(right, min(p.width-column, plaintext.WidestProse)) {
		p.WriteString(line + part + "\n")
		line = strings.Repeat(" ", column)
	}
}

// hintOfCommands suggests a command below node.
func hintOfCommands(node *kong.Node, name string) string {
	var names []string
	for _, child := range node.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return suggest.Hint(name, names)
}
