package main

import (
	"fmt"
	"io"
	"os"
)

// console is where a command reads its environment and writes.
type console struct {
	out, err    io.Writer
	outTerminal bool // out is a terminal: colour
	errTerminal bool // err is one: progress
	lookup      func(name string) (string, bool)
	environ     func() []string
}

func processConsole() *console {
	return &console{
		out: os.Stdout, err: os.Stderr,
		outTerminal: terminal(os.Stdout), errTerminal: terminal(os.Stderr),
		lookup: os.LookupEnv, environ: os.Environ,
	}
}

// terminal reports whether a person reads f.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// note writes one line that is no result.
func (c *console) note(format string, args ...any) {
	fmt.Fprintf(c.err, "blis: "+format+"\n", args...)
}

// colour is whether results may be coloured.
func (c *console) colour() bool {
	_, refused := c.lookup("NO_COLOR")
	return c.outTerminal && !refused
}
