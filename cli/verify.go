package cli

import (
	"context"
	"fmt"
	"runtime"

	"blis/actors"
)

// verifyCmd is blis verify.
type verifyCmd struct {
	settings
}

// leastWorkers is up to how many workers verify goes at least: more than the
// machine has is as good a test.
const leastWorkers = 8

// Help is the examples of blis verify --help.
func (*verifyCmd) Help() string {
	return `A result may not depend on how it was computed. This runs the configuration one event at a time and step by step, then on 1, 2, 4, … workers (--workers sets the most), and compares the digests of everything that happened. On a difference it names the process and the stamp of the first message that differs, and exits with 1.

Examples:

    blis verify --num-requests 2000 --routing-policy least-loaded
    blis verify --config run.yaml`
}

// Run carries the command out.
func (v *verifyCmd) Run(ctx context.Context, c *console) error {
	c.warnOfVariables()
	if err := v.warmUp(ctx, c); err != nil {
		return err
	}
	if v.Print {
		return v.printConfig(c.out)
	}
	v.Config.Open = new(pipes).open
	most := v.Workers
	if most == 0 {
		most = max(leastWorkers, runtime.NumCPU())
	}
	_, failed := fmt.Fprintf(c.out, "%-36s%-18s%s\n", "executor", "digest", "equal")
	c.warnOfSize(&v.Config)
	c.begun.Store(true)
	equal, err := actors.Verify(ctx, v.Config, actors.Executors(most), func(x actors.Verification) {
		verdict := "yes"
		if !x.Equal {
			verdict = "NO: " + x.Where
		}
		_, err := fmt.Fprintf(c.out, "%-36s%-18s%s\n", x.Executor, x.Digest, verdict)
		failed = firstOf(failed, err)
	})
	if err == nil && !equal {
		err = errCheck
	}
	return firstOf(err, failed)
}
