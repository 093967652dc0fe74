package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"blis/policy"
	"blis/report/plaintext"
)

// helpCommands are all commands of the grammar, as they are typed.
func helpCommands(t *testing.T) []string {
	t.Helper()
	parser, err := kong.New(&commands{}, kong.Name("blis"), kong.NamedMapper("path", kong.MapperFunc(decodePath)))
	if err != nil {
		t.Fatal(err)
	}
	list := []string{""}
	var visit func(n *kong.Node)
	visit = func(n *kong.Node) {
		for _, child := range n.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				list = append(list, strings.TrimPrefix(child.FullPath(), "blis "))
				visit(child)
			}
		}
	}
	visit(parser.Model.Node)
	return list
}

// Every spelling of help gives the page of the command, on standard output, no
// line wider than 80 columns.
func TestHelpOfEveryCommand(t *testing.T) {
	for _, command := range helpCommands(t) {
		words := strings.Fields(command)
		page := done(t, append(slices.Clone(words), "--help")...)
		if !strings.HasPrefix(page.out, "Usage: blis "+command) || page.err != "" {
			t.Errorf("%s --help prints %.60q, %q", command, page.out, page.err)
		}
		if other := done(t, append([]string{"help"}, words...)...); other.out != page.out {
			t.Errorf("help %s is not %s --help", command, command)
		}
		all := done(t, append(slices.Clone(words), "--help-all")...).out
		for line := range strings.Lines(page.out + all) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > plaintext.Narrowest {
				t.Errorf("%s: %d columns: %s", command, n, line)
			}
		}
	}
}

// A new user types the name alone, and wants to know what there is: rows 34 and
// 35 of what new users ran into. Like kubectl and docker it is no error.
func TestTheNameAloneShowsUsage(t *testing.T) {
	s := done(t)
	for _, want := range []string{"Usage: blis COMMAND", "run  ", "compare", "blis help COMMAND"} {
		if !strings.Contains(s.out, want) {
			t.Errorf("no %q in\n%s", want, s.out)
		}
	}
	if s.out != done(t, "help").out || s.out != done(t, "--help").out {
		t.Error("blis, blis help and blis --help differ")
	}
	if bare := done(t, "workload"); bare.out != done(t, "workload", "--help").out {
		t.Error("blis workload is not its help")
	}
}

// Acceptance: the twenty usual flags fit on one screen of 80 × 40, with the
// prompt that follows.
func TestTwentyUsualFlagsFitOnOneScreen(t *testing.T) {
	page := done(t, "run", "--help").out
	if lines := strings.Count(page, "\n"); lines > 39 {
		t.Errorf("%d lines", lines)
	}
	flags := regexp.MustCompile(`(?m)^  --[a-z-]+ \S+  +\S.*$`).FindAllString(page, -1)
	if len(flags) != 20 || len(usual) != 20 {
		t.Errorf("%d flags on a line of their own, %d usual ones", len(flags), len(usual))
	}
}

// What a usual flag says of its default is its default.
func TestDefaultsOnTheUsualPage(t *testing.T) {
	parser, err := kong.New(&runOnly{}, kong.Name("blis"), kong.NamedMapper("path", kong.MapperFunc(decodePath)))
	if err != nil {
		t.Fatal(err)
	}
	node := childOf(parser.Model.Node, "run")
	for _, u := range usual {
		f := flagNamed(node, u.name)
		if f == nil {
			t.Errorf("run has no flag --%s", u.name)
			continue
		}
		said := regexp.MustCompile(`\(default: ([^)%]*)\)$`).FindStringSubmatch(u.text)
		if said != nil && said[1] != "as vLLM" && said[1] != f.Default && !(u.name == "num-requests" && said[1] == "1000") {
			t.Errorf("--%s: the page says %s, the default is %q", u.name, said[1], f.Default)
		}
		if n := utf8.RuneCountInString(u.text); n > plaintext.Narrowest-flagColumn {
			t.Errorf("--%s: %d columns", u.name, n)
		}
	}
}

func TestAllFlagsAreInGroups(t *testing.T) {
	run := done(t, "run", "--help-all").out
	if run != done(t, "help", "run", "all").out {
		t.Error("help run all is not run --help-all")
	}
	for _, want := range []string{"\nInstances:\n", "--num-instances N", "Serving instances (default: 4).", "--[no-]enable-prefix-caching", "(default: on)", "--slow-within-class", "BLIS_NUM_INSTANCES"} {
		if !strings.Contains(run, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(run, "INT-64") || strings.Contains(run, "STRING") {
		t.Error("names of Go types")
	}
}

func TestHelpAboutATopic(t *testing.T) {
	for topic, want := range map[string][2]string{ // a flag that belongs, and one that does not
		"kv":        {"--total-kv-blocks", "--seed"},
		"instances": {"--max-num-seqs", "--rate"},
		"Prefix":    {"--prefix-index", "--rate"},
		"decision":  {"--trace-level", "--hardware"},
	} {
		page := done(t, "help", "run", topic).out
		if !strings.Contains(page, want[0]+" ") || strings.Contains(page, want[1]+" ") {
			t.Errorf("%s: want %s and no %s in\n%s", topic, want[0], want[1], page)
		}
	}
}

func TestVersion(t *testing.T) {
	text := done(t, "--version").out
	if text != done(t, "version").out || !regexp.MustCompile(`^blis, commit \S+.*\ndata of \d{4}-\d\d-\d\d `).MatchString(text) {
		t.Errorf("prints %q", text)
	}
	v := resultOf(t, done(t, "version", "--format", "json").out)
	setup := resultOf(t, done(t, small("--format", "json")...).out)["setup"].(map[string]any)["version"].(map[string]any)
	for _, name := range []string{"commit", "modified", "data"} {
		if v[name] != setup[name] || v[name] == nil {
			t.Errorf("%s: %v, in a result %v", name, v[name], setup[name])
		}
	}
}

// What a shell asks is answered with names of this binary.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		line string // the last word may be empty: it ends with a blank then
		want string
	}{
		{"ru", "run"},
		{"run --routing-policy ", routingPolicies()},
		{"run --routing-policy=pre", "--routing-policy=prefix-affinity"},
		{"run --routing-policy = pre", "prefix-affinity"},
		{"run --scheduler pri", "priority-fcfs"},
		{"run --autoscale-policy thr", "threshold"},
		{"run --model qwen2.5-7", "Qwen2.5-7B Qwen2.5-7B-Instruct"},
		{"run --hardware H", "H100 H200"},
		{"run --format ", "text json"},
		{"run --trace ", fileMark},
		{"run --scenario san", "sanity"},
		{"run --seed 3 --trace-sp", "--trace-speedup"},
		{"run --no-enable-ch", "--no-enable-chunked-prefill"},
		{"compare least", "least-loaded " + fileMark},
		{"workload sh", "show"},
		{"policies rou", "round-robin routing"},
		{"completion ", "bash zsh fish"},
		{"help mod", "models"},
		{"help models s", "sets show"},
		{"--ver", "--version"},
		{"run --rate ", ""},
	} {
		got, err := complete(strings.Split(c.line, " "))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(c.want)
		if strings.HasPrefix(c.line, "policies") || strings.HasPrefix(c.line, "run --model") {
			slices.Sort(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", c.line, got, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if s := done(t, "completion", shell); !strings.Contains(s.out, "__complete -- ") {
			t.Errorf("%s: %s", shell, s.out)
		}
	}
	if s := done(t, "__complete", "--", "run", "--hardware", "L"); s.out != "L40S\n" {
		t.Errorf("printed %q", s.out)
	}
}

// routingPolicies lists the names of all, with blanks between.
func routingPolicies() string {
	var names []string
	for _, t := range policy.OfKind(policy.RoutingKind) {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}
