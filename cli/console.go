package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/term"

	"blis/actors"
	"blis/report"
	"blis/report/plaintext"
	"blis/setup"
	"blis/suggest"
)

// console is where a command reads its environment and writes.
type console struct {
	in          io.Reader // standard input
	out, err    io.Writer
	outTerminal bool // out is a terminal: colour
	errTerminal bool // err is one: progress
	width       int  // columns of out, 0 if it is no terminal
	tempo       tempo
	lookup      func(name string) (string, bool)
	environ     func() []string

	begun atomic.Bool // a command has read its input: from here on it ends by itself when interrupted
}

func processConsole() *console {
	return &console{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		outTerminal: terminal(os.Stdout), errTerminal: terminal(os.Stderr), width: widthOf(os.Stdout), tempo: usualTempo,
		lookup: os.LookupEnv, environ: os.Environ,
	}
}

// terminal reports whether a person reads f.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// widthOf is the number of columns of a terminal, 0 for what is none.
func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// columns is how wide the lines of a result may be: as wide as the terminal, 80
// at least, and 80 where no terminal is, so that files do not depend on one.
func (c *console) columns() int { return max(c.width, plaintext.Narrowest) }

// note writes one line that is no result.
func (c *console) note(format string, args ...any) {
	fmt.Fprintf(c.err, "blis: "+format+"\n", args...)
}

// style is how text results look.
func (c *console) style() plaintext.Style {
	return plaintext.Style{Width: c.columns(), Colour: c.colour()}
}

// colour is whether results may be coloured.
func (c *console) colour() bool {
	_, refused := c.lookup("NO_COLOR")
	return c.outTerminal && !refused
}

// print writes a result to standard output, in the form text or json.
func (c *console) print(result report.Document, form string) error {
	w := bufio.NewWriter(c.out)
	var err error
	if form == "json" {
		err = result.JSON(w)
	} else {
		err = result.Text(w, c.style())
	}
	return firstOf(err, w.Flush())
}

// warnOfSize says what many instances cost before they have done anything.
func (c *console) warnOfSize(cfg *actors.Config) {
	if text := report.SizeWarning(cfg); text != "" {
		c.note("warning: %s", text)
	}
}

// warnOfVariables names variables that look like settings and are none: a
// misspelt one would be ignored without a word.
func (c *console) warnOfVariables() {
	var given []string
	for _, pair := range c.environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "BLIS_") {
			given = append(given, name)
		}
	}
	if given == nil {
		return // what would be known need not be listed
	}
	known := map[string]bool{"BLIS_DEBUG": true, "BLIS_LONG": true, "BLIS_CASES": true, "BLIS_LEDGERS": true, "BLIS_CONFORMANCE": true, "BLIS_CONFIG": true}
	var names []string
	for name := range settingTypes() {
		known[variable(name)] = true
		names = append(names, variable(name))
	}
	for _, name := range setup.PoolSettings() {
		for _, pool := range pools {
			known[variable(pool+"-"+name)] = true
			names = append(names, variable(pool+"-"+name))
		}
	}
	slices.Sort(names) // of two that are equally near the first is named
	for _, name := range []string{"format", "results-path", "requests-out", "check", "record", "stats", "print-config", "policy-config", "workload", "set", "seeds", "intervals", "margin", "objectives", "measures", "out", "slo", "share", "precision", "confidence", "window", "warmup", "max-windows", "over", "among", "max-gpus", "prices"} {
		known[variable(name)] = true
	}
	for _, name := range given {
		if !known[name] && !strings.HasPrefix(name, "BLIS_EQUALITY_") { // which the tests read
			c.note("warning: %s is no setting%s", name, suggest.Hint(name, names))
		}
	}
}

// form is the flag of the commands that list things.
type form struct {
	Format string `default:"text" enum:"text,json" help:"Form of the list: text or json."`
}

// list prints items as JSON, or what table writes, in columns parted by tabs. On
// a narrow terminal the columns named by drop are left out, the first one first.
func (f *form) list(c *console, items any, table func(w io.Writer), drop ...string) error {
	if f.Format == "json" {
		return report.WriteIndented(c.out, items)
	}
	var text strings.Builder
	table(&text)
	_, err := io.WriteString(c.out, plaintext.Columns(text.String(), c.columns(), drop...))
	return err
}
