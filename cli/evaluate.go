package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"blis/input"
	"blis/latency"
	"blis/report"
	"blis/study/confine"
	"blis/study/evaluate"
	"blis/study/evaluator"
	"blis/vtime"
)

// evaluateCmd is blis evaluate.
type evaluateCmd struct {
	Policy string `placeholder:"FILE" group:"Evaluation" help:"Candidate: a bundle of policies in YAML, or a program in Starlark (.star); - is standard input."`
	Batch  string `placeholder:"FILE" group:"Evaluation" help:"Candidates as JSON Lines, {\"id\": …, \"policy\": \"…\"}; - is standard input. Answers come in the same order, one per line."`
	Serve  string `placeholder:"ADDRESS" group:"Evaluation" help:"Answer GEPA's engines over HTTP at this address of this machine, as localhost:8080; port 0 is a free one."`
	Budget int    `group:"Evaluation" help:"With --serve: evaluations of a candidate in a scenario before every further one is refused with status 429; 0: no limit."`

	suiteFlags
	limitFlags

	Format string `default:"json" enum:"json,text" group:"Output" help:"Form of the answer to --policy: json or text."`
}

// suiteFlags say what candidates are evaluated in.
type suiteFlags struct {
	Suite     string   `placeholder:"FILE|NAME" group:"Evaluation" help:"Scenarios and a baseline: a file, or the name of a shipped suite; not given: standard."`
	Stage     string   `default:"full" enum:"full,smoke" group:"Evaluation" help:"Scenarios that count: full, all; smoke, those marked smoke."`
	Scenarios []string `placeholder:"NAME,…" group:"Evaluation" help:"Only these scenarios count."`
	HeldOut   bool     `name:"held-out" group:"Evaluation" help:"Run the held-out scenarios too: the answer has them apart, and its score and feedback do not depend on them."`
}

// limitFlags bound the work of one candidate.
type limitFlags struct {
	MaxWall   vtime.Duration `default:"30s" group:"Limits" help:"Longest time for one candidate; 0: no limit."`
	MaxMemory latency.Bytes  `default:"1GiB" group:"Limits" help:"Most memory for the data of one candidate; 0: no limit."`
	MaxSteps  float64        `default:"1e8" group:"Limits" help:"Most steps of a program that decides, for all decisions of a run; 0: no limit but that of a decision."`
	MaxEvents int64          `default:"50000000" group:"Limits" help:"Most requests and steps of instances in a run; 0: no limit."`
	Workers   int            `group:"Limits" help:"Candidates at a time; 0: one per core."`
}

// Help is what blis evaluate does, with examples.
func (*evaluateCmd) Help() string {
	return `Scores a candidate against the baseline of a suite, for programs that search for better policies: OpenEvolve, GEPA, ShinkaEvolve or your own. The baseline has the score 0.5; better candidates have more, and never 1. A candidate runs in a process of its own with limits on time, memory and steps; one that fails has the score 0 and says why, and the exit code is 0 all the same. Every request that arrived counts: one that was refused or lost is infinitely late. docs/search.md has the formats and how to write a suite.

Examples:

    blis evaluate --policy candidate.yaml
    blis evaluate --policy candidate.star --suite mine.yaml --stage smoke
    blis evaluate --policy candidate.yaml --held-out --format text
    blis evaluate --batch candidates.jsonl > answers.jsonl
    blis evaluate --serve localhost:8080 --budget 500`
}

// Run carries the command out.
func (r *evaluateCmd) Run(ctx context.Context, c *console) error {
	given := 0
	for _, way := range []string{r.Policy, r.Batch, r.Serve} {
		if way != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return inputError("want one of --policy FILE, --batch FILE and --serve ADDRESS")
	case r.Budget < 0:
		return inputErrorf("--budget is %d: want 0 or more", r.Budget)
	case r.Budget > 0 && r.Serve == "":
		return inputError("--budget has no effect without --serve: want both or none")
	case r.Format != "json" && r.Policy == "":
		return inputError("--format text is of one candidate: want --policy with it")
	}
	switch {
	case r.Policy != "":
		return r.one(ctx, c)
	case r.Batch != "":
		return r.batch(ctx, c)
	}
	return r.serve(ctx, c)
}

// evaluator makes what evaluates in the suite of the flags; children is how many candidates at a time, workers how many
// runs of one.
func (r *evaluateCmd) evaluator(ctx context.Context, c *console, children, workers int) (*evaluator.Evaluator, error) {
	suite, err := suiteFile(r.Suite)
	if err != nil {
		return nil, err
	}
	return r.limitFlags.evaluator(ctx, c, suite, &r.suiteFlags, children, workers)
}

// evaluator makes what evaluates in a suite.
func (l *limitFlags) evaluator(ctx context.Context, c *console, suite evaluator.SuiteFile, s *suiteFlags, children, workers int) (*evaluator.Evaluator, error) {
	cfg := evaluator.Config{Suite: suite, Children: children}
	var err error
	if cfg.Options, cfg.Limits, err = l.limits(s); err != nil {
		return nil, err
	}
	cfg.Options.Workers = workers
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cfg.Program = []string{program, evaluateChild}
	c.begun.Store(true)
	return evaluator.New(ctx, cfg)
}

// limits are the options and limits that the flags say.
func (l *limitFlags) limits(s *suiteFlags) (o evaluate.Options, limits confine.Limits, err error) {
	switch {
	case l.MaxWall < 0:
		err = inputErrorf("--max-wall is %v: want 0 or more", l.MaxWall)
	case l.MaxMemory != 0 && l.MaxMemory < leastMemory:
		err = inputErrorf("--max-memory is %d bytes: want at least %d MiB, which a run without a candidate takes", int64(l.MaxMemory), leastMemory>>20)
	case !(l.MaxSteps >= 0 && l.MaxSteps <= 1e15):
		err = inputErrorf("--max-steps is %v: want from 0 to 1e15", l.MaxSteps)
	case l.MaxEvents < 0:
		err = inputErrorf("--max-events is %d: want 0 or more", l.MaxEvents)
	case l.Workers < 0 || l.Workers > 4096:
		err = inputErrorf("--workers is %d: want 1 to 4096, 0 for one per core", l.Workers)
	}
	o = evaluate.Options{Stage: evaluate.Stage(s.Stage), HeldOut: s.HeldOut, Scenarios: s.Scenarios, MaxEvents: l.MaxEvents, MaxSteps: int64(l.MaxSteps)}
	return o, confine.Limits{Wall: time.Duration(l.MaxWall) * time.Microsecond, Memory: int64(l.MaxMemory)}, err
}

// leastMemory is what a child takes at least, in bytes.
const leastMemory = 128 << 20

// suiteFile reads the file of a suite; a name without a folder or extension is a shipped suite.
func suiteFile(name string) (evaluator.SuiteFile, error) {
	if name == "" || filepath.Ext(name) == "" && filepath.Base(name) == name {
		return evaluator.SuiteFile{Name: name}, nil
	}
	text, err := input.ReadFile(name, input.Specification)
	if err != nil {
		return evaluator.SuiteFile{}, inputError("--suite: " + pathProblem(err))
	}
	return evaluator.SuiteFile{Name: name, Text: text}, nil
}

// one evaluates one candidate.
func (r *evaluateCmd) one(ctx context.Context, c *console) error {
	text, err := readInput(r.Policy, c, input.Settings)
	if err != nil {
		return inputError("--policy: " + pathProblem(err))
	}
	e, err := r.evaluator(ctx, c, 1, r.Workers)
	if err != nil {
		return err
	}
	defer e.Close()
	a, err := e.Evaluate(ctx, evaluator.Candidate(r.Policy, string(text)), nil)
	if err != nil {
		return err
	}
	return c.print(&report.Evaluation{Answer: a, Suite: e.Suite().Name}, r.Format)
}

// readInput reads a file, or standard input for -.
func readInput(name string, c *console, limit int64) ([]byte, error) {
	if name == "-" {
		return input.ReadAll("standard input", c.in, limit)
	}
	return input.ReadFile(name, limit)
}

// batch evaluates many candidates.
func (r *evaluateCmd) batch(ctx context.Context, c *console) error {
	in := c.in
	if r.Batch != "-" {
		file, err := os.Open(r.Batch)
		if err != nil {
			return inputError("--batch: " + pathProblem(err))
		}
		defer file.Close()
		in = file
	}
	e, err := r.evaluator(ctx, c, r.Workers, 1)
	if err != nil {
		return err
	}
	defer e.Close()
	bar := c.show("candidates")
	defer bar.done()
	count := int64(0)
	return e.Batch(ctx, in, c.out, func() {
		count++
		bar.set(count, -1)
	})
}

// serve answers over HTTP until it is interrupted.
func (r *evaluateCmd) serve(ctx context.Context, c *console) error {
	listener, err := listen(r.Serve)
	if err != nil {
		return err
	}
	e, err := r.evaluator(ctx, c, r.Workers, 1)
	if err != nil {
		listener.Close()
		return err
	}
	defer e.Close()
	server := &http.Server{Handler: &evaluator.Server{Evaluator: e, Budget: r.Budget}, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	fmt.Fprintf(c.out, "http://%s\n", listener.Addr())
	c.note("answers at http://%s until Ctrl-C", listener.Addr())
	if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return ctx.Err()
}

// listen opens an address of this machine alone.
func listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, inputErrorf("--serve: %v: want an address like localhost:8080", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, inputErrorf("--serve: %s is not of this machine alone: want localhost, since whoever reaches it runs policies here", address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, inputErrorf("--serve: %v", err)
	}
	return listener, nil
}

// evaluateChild is the command of a process that evaluates one candidate.
const evaluateChild = "__evaluate"

// evaluateChildCmd is the command of such a process.
type evaluateChildCmd struct {
	MaxMemory int64
	MaxWall   time.Duration
}

// Run carries the command out.
func (r *evaluateChildCmd) Run(ctx context.Context, c *console) error {
	return evaluator.Child(ctx, c.in, c.out, confine.Limits{Wall: r.MaxWall, Memory: r.MaxMemory})
}
