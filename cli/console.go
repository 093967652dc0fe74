package cli

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/term"
)

// console is where a command reads its environment and writes.
type console struct {
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
		out: os.Stdout, err: os.Stderr,
		outTerminal: terminal(os.Stdout), errTerminal: terminal(os.Stderr), width: widthOf(os.Stdout), tempo: usualTempo,
		lookup: os.LookupEnv, environ: os.Environ,
	}
}

// terminal reports whether a person reads f.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// narrowest is how wide lines may be on any terminal and in files.
const narrowest = 80

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
func (c *console) columns() int { return max(c.width, narrowest) }

// note writes one line that is no result.
func (c *console) note(format string, args ...any) {
	fmt.Fprintf(c.err, "blis: "+format+"\n", args...)
}

// style is how text results look.
func (c *console) style() style { return style{c.columns(), c.colour()} }

// colour is whether results may be coloured.
func (c *console) colour() bool {
	_, refused := c.lookup("NO_COLOR")
	return c.outTerminal && !refused
}
