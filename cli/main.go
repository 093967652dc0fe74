package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	cmap "github.com/orcaman/concurrent-map"

	_ "blis/script" // its policies are in bundles and lists
	"blis/setup"
)

// commands is the grammar of the command line.
type commands struct {
	Run                runCmd                `cmd:"" help:"Simulate a cluster and print the result."`
	Verify             verifyCmd             `cmd:"" help:"Run a configuration on many executors and compare digests."`
	Compare            compareCmd            `cmd:"" help:"Run several policy bundles under the same traffic and say which is better in what."`
	Capacity           capacityCmd           `cmd:"" help:"Find the highest load, or the smallest cluster, that keeps SLOs, with an error probability."`
	Sweep              sweepCmd              `cmd:"" help:"Run one configuration with many values of some settings; resumable, on many machines."`
	Size               sizeCmd               `cmd:"" help:"Find the smallest cluster that keeps SLOs under given traffic: GPU, TP, token budget and instances."`
	Workload           workloadCmd           `cmd:"" help:"Look at what arrives, without a run; write it as a trace."`
	Evaluate           evaluateCmd           `cmd:"" help:"Score policies against a baseline, for programs that search for better ones."`
	GEPAEvaluate       gepaEvaluateCmd       `cmd:"" name:"gepa-evaluate" help:"Score policies under one workload, as blis evaluate does."`
	OpenEvolveEvaluate openevolveEvaluateCmd `cmd:"" name:"openevolve-evaluate" help:"Score policies given as numbers by dotted names, as blis evaluate does."`
	Report             reportCmd             `cmd:"" help:"Make one HTML page of stored results."`
	Trace              traceCmd              `cmd:"" help:"Summarize a decision trace that a run has written."`
	Export             policyExportCmd       `cmd:"" help:"Write policies for llm-d: one, or the best of a comparison."`
	Ranking            rankingCmd            `cmd:"" help:"Compare the order of policies as simulated with their order as measured."`
	Policies           policiesCmd           `cmd:"" help:"List the policies with their parameters."`
	Models             modelsCmd             `cmd:"" help:"List the built-in models, or show what one costs and where it fits."`
	Hardware           hardwareCmd           `cmd:"" help:"List the built-in GPUs."`
	Train              trainCmd              `cmd:"" help:"Fit the physics latency model to measured servers."`
	Validate           validateCmd           `cmd:"" help:"Compare latency models with measured servers."`
	Bench              benchCmd              `cmd:"" help:"Measure how fast runs are on this machine."`

	Completion completionCmd `cmd:"" help:"Print a script that completes blis commands in a shell."`
	Version    versionCmd    `cmd:"" help:"Say which commit this is and of which day its data are."`

	Child    evaluateChildCmd `cmd:"" name:"__evaluate" hidden:"" help:"Evaluate one candidate; the work of a process that blis evaluate starts."`
	Complete completeCmd      `cmd:"" name:"__complete" hidden:"" help:"Print how the last word may go on; for the scripts of completion."`
}

// runOnly is the part of the grammar that the main job needs.
type runOnly struct {
	Run runCmd `cmd:"" help:"Simulate a cluster and print the result."`
}

// grammarOf is the part of the grammar that a command line needs, by its first word: that
// of one command, or all of it. Building all of it would take longer than a short run.
func grammarOf(word string) any {
	if word == "run" {
		return &runOnly{} // a type that need not be made
	}
	all := reflect.TypeFor[commands]()
	for i := range all.NumField() {
		f := all.Field(i)
		if name := cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)); name == word && word != "complete" {
			return reflect.New(reflect.StructOf([]reflect.StructField{f})).Interface()
		}
	}
	return &commands{}
}

// Main carries out the command line of the process and ends the process.
func Main() {
	tuneGC()
	os.Exit(execute(context.Background(), os.Args[1:], processConsole()))
}

// execute carries out one command line and returns its exit code.
func execute(ctx context.Context, args []string, c *console) int {
	ctx, stop := signal.NotifyContext(ctx, endingSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	if !c.wantsJSON(args) {
		return c.fail(dispatch(ctx, args, c))
	}
	out := &counted{Writer: c.out}
	c.out = out
	err := dispatch(ctx, args, c)
	code := c.fail(err)
	if err != nil && !errors.Is(err, errCheck) && !out.any.Load() {
		errorObject(out, err, errorLine(err))
	}
	return code
}

// dispatch parses a command line and runs its command.
func dispatch(ctx context.Context, args []string, c *console) error {
	if len(args) > 0 && slices.Contains([]string{"run", "verify", "compare", "capacity", "size"}, args[0]) {
		rest := args[1:]
		if args[0] == "size" {
			rest = takeLists(rest)
		}
		flags, notes, err := setup.TranslateServe(rest)
		if err != nil {
			return err
		}
		for _, text := range notes {
			c.note("%s", text)
		}
		args = append(args[:1:1], flags...)
	}
	return c.runUntilSignal(ctx, func() error {
		command, err := parse(summarizeBare(args), c)
		if err == nil && command != nil {
			command.BindTo(ctx, (*context.Context)(nil))
			err = command.Run(c)
		}
		return err
	})
}

// graceAfterSignal is the time that a command has to end by itself after a
// signal.
const graceAfterSignal = 500 * time.Millisecond

// runUntilSignal runs work. When ctx ends, work that has begun ends by itself
// with a partial result, and runUntilSignal waits for it. Work that has not
// begun may wait for input that never comes, and there is nothing to save:
// runUntilSignal returns without it.
func (c *console) runUntilSignal(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(graceAfterSignal):
	}
	if !c.begun.Load() {
		return ctx.Err()
	}
	select {
	case err := <-done:
		return err
	case <-time.After(2 * graceAfterSignal):
		c.note("interrupted: the partial result is being computed; a second Ctrl-C ends at once")
	}
	return <-done
}

// endingSignals are the signals after which a command writes its partial result and
// ends: SIGINT (Ctrl-C), SIGTERM (kill), and SIGHUP (the terminal goes away),
// unless the process was started to ignore it (nohup).
func endingSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// parse reads the command line into a fresh grammar. The result is nil when
// help was asked for and printed.
func parse(args []string, c *console) (*kong.Context, error) {
	helped := false
	asked, err := readHelpRequest(args)
	if err != nil {
		return nil, err
	}
	l := &settingSources{lookup: c.lookup}
	if asked.args, l.flags, err = takePoolFlags(asked.args); err != nil {
		return nil, err
	}
	parser, err := newParser(grammarOf(asked.args[0]), l,
		kong.Writers(c.out, c.err),
		kong.Exit(func(int) { helped = true }),
		kong.Help(c.printHelp(asked)),
	)
	if err != nil {
		return nil, err
	}
	command, err := parser.Parse(asked.args)
	if helped {
		return nil, nil
	}
	if err == nil {
		err = applyPolicySettings(command, l)
	}
	return command, err
}

// newParser is the parser of a grammar whose flags may also come from elsewhere.
func newParser(grammar any, l *settingSources, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(grammar, append(more,
		kong.Name("blis"),
		kong.NamedMapper("path", kong.MapperFunc(decodePath)),
		kong.NamedMapper("timeout", kong.MapperFunc(decodeTimeout)),
		kong.NamedMapper("warmup", kong.MapperFunc(decodeWarmup)),
		kong.Resolvers(l),
	)...)
}

// A study is thousands of short runs, each a process. What follows sets up
// the process for that; libraries must not, so package actors does not. It
// changes no result.

// firstCollection is the size of the heap at which garbage is collected for
// the first time, in percent of the Go runtime's usual 4 MiB: 16 MiB.
const firstCollection = 400

// tuneGC makes a short run cheap to start: fewer shards in protoactor's
// registry, and a later first garbage collection.
func tuneGC() {
	// protoactor registers processes in 1,024 concurrent maps of SHARD_COUNT
	// shards. The usual 32 cost more than a short run; here actors are
	// registered one after another, so that 1 is as good. It must be set
	// before the first map is made.
	cmap.SHARD_COUNT = 1
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		collectLate()
	}
}

// collectLate puts the first garbage collection off: a run of a few thousand
// requests never needs it. Later collections come as usual, because memory that
// is reused is cheaper than new memory.
func collectLate() {
	usual := debug.SetGCPercent(firstCollection)
	witness := new(*byte) // holds a pointer, so that it shares its allocation with nothing that lives on
	runtime.AddCleanup(witness, func(percent int) { debug.SetGCPercent(percent) }, usual)
}

// mostGarbage is how much garbage may come together before it is collected, where what
// lives is less.
const mostGarbage = 128 << 20

// collectRarely lets the garbage of many short runs grow to four times what lives, as long
// as that is little: collections hold up all cores, and two cores were hardly faster than
// one. It holds for the rest of the process.
var collectRarely = sync.OnceFunc(func() {
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		watchHeap(firstCollection)
	}
})

// watchHeap looks at the size of the heap after every collection.
func watchHeap(percent int) {
	debug.SetGCPercent(percent)
	witness := new(*byte) // the next collection takes it
	runtime.AddCleanup(witness, func(int) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		const usual = 100 // Go's default
		watchHeap(int(max(usual, min(firstCollection, mostGarbage*100/max(m.HeapAlloc, 1)))))
	}, 0)
}
