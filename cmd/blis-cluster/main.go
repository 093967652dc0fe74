// Command blis-cluster runs the points of a sweep on many machines: serve hands them out
// and keeps their rows, work runs them, status says how far it is. It is a program of its
// own so that blis does not carry the message server that it needs.
//
//	main.go   the command line, errors and exit codes
//	serve.go  serve: the sweep, its folder, and the coordinator
//	work.go   work, point and status
//	sweep.go  the points of a sweep for package cluster
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	cmap "github.com/orcaman/concurrent-map"

	"blis/cluster"
	"blis/latency"
	"blis/report"
	"blis/setup"
)

// Exit codes. Those below 4 and 130 are as those of blis.
const (
	exitDone          = 0
	exitFailed        = 1 // a point, or something that is no fault of the input
	exitInput         = 2
	exitFit           = 3 // the model fits nowhere in the sweep
	exitContradiction = 4 // two workers found different results for a point
	exitInterrupted   = 130
)

// commands is the grammar of the command line.
type commands struct {
	Serve  serveCmd  `cmd:"" help:"Hand out the points of a sweep and keep their rows."`
	Work   workCmd   `cmd:"" help:"Run points for a coordinator until the sweep has ended."`
	Status statusCmd `cmd:"" help:"Say how far a sweep is and who works on it."`
	Point  pointCmd  `cmd:"" hidden:"" help:"Run one point that a worker gives on standard input."`
}

func main() { os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

// console is where a command writes.
type console struct{ out, err io.Writer }

// note writes one line that is no result.
func (c *console) note(text string) { fmt.Fprintln(c.err, "blis-cluster: "+text) }

// execute carries out a command line and returns its exit code.
func execute(ctx context.Context, args []string, out, err io.Writer) int {
	cmap.SHARD_COUNT = 1 // see package cli: a short run is cheaper so
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	c := &console{out, err}
	return c.fail(dispatch(ctx, args, c))
}

func dispatch(ctx context.Context, args []string, c *console) error {
	helped := false
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parser, err := kong.New(&commands{}, kong.Name("blis-cluster"), kong.Writers(c.out, c.err), kong.Exit(func(int) { helped = true }),
		kong.Description("Runs the points of a sweep on many machines. docs/cluster.md has an example."))
	if err != nil {
		return err
	}
	command, err := parser.Parse(args)
	if helped || err != nil {
		return err
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return command.Run(c)
}

// errPoints ends a sweep of which points failed. Their rows say why.
type errPoints struct{ failed int }

// Error implements error.
func (e *errPoints) Error() string { return fmt.Sprintf("%d points failed", e.failed) }

// fail says in one line what went wrong, if anything, and returns the exit code.
func (c *console) fail(err error) int {
	var (
		usage *kong.ParseError
		input *setup.InputError
		path  *fs.PathError
		fit   *latency.DoesNotFit
		wrong *cluster.Contradiction
	)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		c.note("interrupted")
		return exitInterrupted
	}
	c.note(strings.Join(strings.Fields(report.ErrorLine(err)), " "))
	switch {
	case errors.As(err, &wrong):
		return exitContradiction
	case errors.As(err, &fit):
		return exitFit
	case errors.As(err, &path) && path.Op == "write":
		return exitFailed
	case errors.As(err, &usage), errors.As(err, &input), errors.As(err, &path):
		return exitInput
	}
	return exitFailed
}

// server is how a command reaches a server in another process.
type server struct {
	Creds string        `placeholder:"FILE" help:"File with the credential: DIR/creds/worker.nk of the coordinator, or the credentials file of a NATS account. Only its owner may be able to read it."`
	TLSCA string        `name:"tls-ca" placeholder:"FILE" help:"PEM file of the authority that signed the server's certificate; not given: those of the system."`
	Wait  time.Duration `default:"10m" help:"How long to wait for a server or coordinator that is not there."`
}

func (s *server) remote(url string) *cluster.Remote {
	return &cluster.Remote{URL: url, Creds: s.Creds, CA: s.TLSCA, Wait: s.Wait}
}
