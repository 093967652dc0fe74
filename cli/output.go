package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"blis/input"
	"blis/setup"
)

// output is a file being written. See destination for when it stands under its name.
type output struct {
	*bufio.Writer
	to *destination
	by string // the flag, or the argument, that names it
}

// create begins a file, before the run, so that one that cannot be written
// costs nothing. Without a path there is none.
func create(ctx context.Context, flag, path string) (*output, error) {
	if path == "" {
		return nil, nil
	}
	return createBy(ctx, named{"--" + flag, path})
}

// createBy is create for a path that must be there.
func createBy(ctx context.Context, n named) (*output, error) {
	to, err := openDestination(ctx, n.path)
	if err != nil {
		return nil, inputError(n.by + ": " + pathProblem(err))
	}
	return &output{bufio.NewWriterSize(to, 1<<16), to, n.by}, nil
}

// finish writes what is left and gives the file its name. It returns the first
// thing that went wrong with the file, failed before all: a fault of the
// machine, not of what the user gave. Then what there is keeps its partial name.
func (o *output) finish(failed error) error {
	if o == nil {
		return nil
	}
	if err := firstOf(failed, o.Flush()); err != nil {
		o.to.keep()
		return o.fault(err)
	}
	return o.fault(o.to.take())
}

// finishWhole is finish for a file of which a part is worth nothing: where
// writing failed, none is left.
func (o *output) finishWhole(failed error) error {
	if o == nil {
		return nil
	}
	if err := firstOf(failed, o.Flush()); err != nil {
		o.to.discard()
		return o.fault(renamed(err, o.to.path))
	}
	return o.fault(o.to.take())
}

// save is finishWhole of a file with this content.
func (o *output) save(content []byte) error {
	if o == nil {
		return nil
	}
	o.Write(content) // an error shows at the end
	return o.finishWhole(nil)
}

// keep writes what is left of an output that is not whole and never will be. It
// has its partial name from then on, which is returned; none for a device or a
// pipe.
func (o *output) keep(failed error) (string, error) {
	if o == nil {
		return "", nil
	}
	err := firstOf(failed, o.Flush(), o.to.begin(), o.to.keep())
	return o.to.partial, o.fault(err)
}

// fault names the flag in an error.
func (o *output) fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", o.by, err)
}

// zips reports whether the name of a file asks for gzip.
func zips(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".gz") }

// writeZipped writes what write writes, as gzip.
func writeZipped(to io.Writer, write func(io.Writer) error) error {
	zip, _ := gzip.NewWriterLevel(to, zipLevel) // the level is one
	return firstOf(write(zip), zip.Close())
}

// zipLevel is the level of gzip: results shrink to a tenth, and it is no slower than what makes them.
const zipLevel = 3

// discard leaves things as they were before create, but for a device or a pipe
// that has been written to.
func (o *output) discard() {
	if o != nil {
		o.to.discard()
	}
}

// end is finish, one of the two, of an output that is whole, and keep of one that
// is not, whose name is added to kept.
func (o *output) end(failed error, whole bool, kept *[]string, finish func(*output, error) error) error {
	if whole || o == nil {
		return finish(o, failed)
	}
	name, err := o.keep(failed)
	if name != "" {
		*kept = append(*kept, name)
	}
	return err
}

// lateErrorWriter is a writer that never returns an error: the error shows when
// the output ends, and the run goes on until then.
type lateErrorWriter struct{ o *output }

// Write implements io.Writer.
func (l lateErrorWriter) Write(p []byte) (int, error) {
	l.o.Write(p)
	return len(p), nil
}

// firstOf returns the first error: later ones are often its consequences.
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
	list := []named{
		{"--trace", s.Trace}, {"--config", s.File}, {"--policy-config", s.PolicyConfig},
		{"--hardware-config", s.HardwareConfig}, {"--model-config-folder", s.ModelConfigFolder},
		{"--workload-spec", s.WorkloadSpec}, {"--coefficients", s.Coefficients},
		{"--failures", s.Failures}, {"--deployments", s.Deployments.File()},
	}
	c := s.Config.Config
	for _, path := range c.Policies.Files() {
		list = append(list, named{"a policy", path})
	}
	setup.ReplacePoolFiles(&c, func(setting, path string) (string, error) { // which cannot fail
		list = append(list, named{setting + " of a pool", path})
		return path, nil
	})
	return list
}

// written lists the files that run writes.
func (o *outputs) written() []named {
	return []named{
		{"--results-path", o.ResultsPath}, {"--requests-out", o.RequestsOut},
		{"--record", o.Record}, {"--trace-out", o.TraceOut}, {"--timeseries", o.Timeseries}, {"--metrics-out", o.MetricsOut}, {"--otlp", o.OTLP}, {"--chrome-trace", o.ChromeTrace},
		{"--report", o.Report},
	}
}

// checkDistinct returns an error if an output is also an input, which would be
// lost before it is read, or another output. The partial names of outputs count
// too.
func checkDistinct(written, read []named) error {
	for i, w := range written {
		for _, other := range append(written[:i:i], read...) {
			if w.path == "" || other.path == "" {
				continue
			}
			if sameFile(w.path, other.path) {
				return inputErrorf("%s: %s is the file of %s too: want another name", w.by, w.path, other.by)
			}
			for _, pair := range [][2]string{{w.path + partialEnd, other.path}, {w.path, other.path + partialEnd}} {
				if sameFile(pair[0], pair[1]) {
					return inputErrorf("%s: %s is the file of %s too until the output is whole: want another name", w.by, pair[0], other.by)
				}
			}
		}
	}
	return nil
}

// sameFile reports whether two paths are one regular file. Several outputs may
// go to one device.
func sameFile(a, b string) bool {
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

// pipes opens files for commands that read them more than once: what a pipe
// gives is kept.
type pipes struct {
	mu   sync.Mutex
	kept map[string][]byte
}

// longestPipe is how much of a pipe is kept.
const longestPipe = 1 << 30

// open is os.Open, but for pipes.
func (p *pipes) open(path string) (io.ReadCloser, error) {
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() || info.IsDir() {
		return os.Open(path)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text, found := p.kept[path]
	if !found {
		var err error
		if text, err = input.ReadFile(path, longestPipe); err != nil {
			return nil, err
		}
		if p.kept == nil {
			p.kept = map[string][]byte{}
		}
		p.kept[path] = text
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

// errTaken says that another command has begun the same output meanwhile.
var errTaken = errors.New("another command writes the same file: what this one wrote is lost")

// asyncWriter writes on a goroutine of its own, so that a run does not wait for
// the system. Write takes the piece and gives back a spare one (free).
type asyncWriter struct {
	free, full chan []byte
	failed     chan error // the first error, when all is written
	stop       chan struct{}
}

// pieces is the number of pieces that may wait to be written.
const pieces = 4

// newAsyncWriter starts to write to w.
func newAsyncWriter(w io.Writer) *asyncWriter {
	b := &asyncWriter{make(chan []byte, pieces), make(chan []byte, pieces), make(chan error, 1), make(chan struct{})}
	for range pieces {
		b.free <- nil
	}
	go func() {
		var first error
		for piece := range b.full {
			if first == nil {
				if _, first = w.Write(piece); first != nil {
					close(b.stop)
				}
			}
			b.free <- piece
		}
		b.failed <- first
	}()
	return b
}

// errStopped says that an earlier piece could not be written; close says why.
var errStopped = errors.New("writing has failed")

// Write implements io.Writer. An error shows with a later piece.
func (b *asyncWriter) Write(p []byte) (int, error) {
	select {
	case <-b.stop:
		return 0, errStopped
	default:
	}
	b.full <- append((<-b.free)[:0], p...)
	return len(p), nil
}

// close waits until all is written and returns the first error.
func (b *asyncWriter) close() error {
	close(b.full)
	return <-b.failed
}
