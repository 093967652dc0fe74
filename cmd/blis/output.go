package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
)

// output is a file being written.
type output struct {
	*bufio.Writer
	file *os.File
	by   string // the flag, or the argument, that names it
}

// create opens a file to be written, before the run, so that one that cannot
// be written costs nothing. Without a path there is none.
func create(flag, path string) (*output, error) {
	if path == "" {
		return nil, nil
	}
	return createBy(named{"--" + flag, path})
}

// createBy is create for a path that must be there.
func createBy(n named) (*output, error) {
	f, err := os.Create(n.path)
	if err != nil {
		return nil, &inputError{n.by + ": " + pathProblem(err)}
	}
	return &output{bufio.NewWriterSize(f, 1<<16), f, n.by}, nil
}

// close writes what is left. It returns the first thing that went wrong with
// the file, failed before all: a fault of the machine, not of what the user
// gave.
func (o *output) close(failed error) error {
	if o == nil {
		return nil
	}
	flushed, closed := o.Flush(), o.file.Close()
	if err := firstOf(failed, flushed, closed); err != nil {
		return fmt.Errorf("%s: %v", o.by, err)
	}
	return nil
}

// discard closes a file that came to nothing and removes it. What is no plain
// file, a device or a pipe or a link to something, was there before and stays.
func (o *output) discard() {
	if o == nil {
		return
	}
	o.file.Close()
	if info, err := os.Lstat(o.file.Name()); err == nil && info.Mode().IsRegular() {
		os.Remove(o.file.Name())
	}
}

// firstOf is the first error of several: what fails later often fails because
// of it.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// named is a file and the flag, or the argument, that names it.
type named struct{ by, path string }

// read lists the files that settings are read from.
func (s *settings) read() []named {
	return []named{
		{"--trace", s.Trace}, {"--config", s.File}, {"--policy-config", s.PolicyConfig},
		{"--hardware-config", s.HardwareConfig}, {"--model-config-folder", s.ModelConfigFolder},
	}
}

// written lists the files that run writes.
func (o *outputs) written() []named {
	return []named{
		{"--results-path", o.ResultsPath}, {"--requests-out", o.RequestsOut},
		{"--record", o.Record}, {"--trace-out", o.TraceOut},
	}
}

// apart reports an output that is also an input, which would be lost before it
// is read, or another output.
func apart(written, read []named) error {
	for i, w := range written {
		for _, other := range append(written[:i:i], read...) {
			if w.path != "" && other.path != "" && same(w.path, other.path) {
				return &inputError{fmt.Sprintf("%s: %s is the file of %s too: want another name", w.by, w.path, other.by)}
			}
		}
	}
	return nil
}

// same reports whether two paths are one file. Devices may be written by
// several.
func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	if errX == nil || errY == nil {
		return false
	}
	absX, errX := filepath.Abs(a)
	absY, errY := filepath.Abs(b)
	return errX == nil && errY == nil && absX == absY
}
