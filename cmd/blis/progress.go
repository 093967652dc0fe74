package main

import (
	"time"

	"github.com/schollz/progressbar/v3"

	"blis/actors"
	"blis/study"
	"blis/vtime"
)

// patience is how long a run may take before it shows its progress.
const patience = 500 * time.Millisecond

// progress shows how far a run has come, on a terminal.
type progress struct {
	bar *progressbar.ProgressBar
}

// progress makes a run show its progress if somebody can see it.
func (c *console) progress(cfg *actors.Config) *progress {
	p := &progress{}
	if !c.errTerminal {
		return p
	}
	total := totalOf(cfg)
	started := time.Now()
	cfg.Progress = func(_ vtime.Time, requests int64) { p.show(c, "requests", started, requests, total) }
	return p
}

// totalOf is how many requests there will be; −1 where that is not known here:
// of traces and specifications, and if nobody said so.
func totalOf(cfg *actors.Config) int64 {
	if cfg.Trace != "" || cfg.NumRequests == 0 {
		return -1
	}
	return cfg.NumRequests
}

// show moves the bar, once that is worth while.
func (p *progress) show(c *console, what string, started time.Time, done, total int64) {
	if p.bar == nil {
		if time.Since(started) < patience {
			return
		}
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(c.err), progressbar.OptionSetDescription(what),
			progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	p.bar.Set64(done)
}

// runs makes a study show how many of its runs are done if somebody can see it.
func (c *console) runs(pool *study.Pool) *progress {
	p := &progress{}
	if c.errTerminal {
		started := time.Now()
		pool.Progress = func(done, all int) { p.show(c, "runs", started, int64(done), int64(all)) }
	}
	return p
}

// done removes the bar.
func (p *progress) done() {
	if p.bar != nil {
		p.bar.Clear()
	}
}
