package cli

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"

	"blis/actors"
	"blis/report/plaintext"
	"blis/study"
	"blis/vtime"
)

// tempo is when progress is shown: a bar on a terminal once a run has taken a
// while, else a line now and then.
type tempo struct{ patience, bar, line time.Duration }

var usualTempo = tempo{patience: 500 * time.Millisecond, bar: 100 * time.Millisecond, line: 10 * time.Second}

// progress shows on standard error how far a run or a study has come. What is
// known of it is set by the run and shown by a goroutine of its own, so that it
// is also seen while a run is busy elsewhere.
type progress struct {
	console      *console
	what         string // requests, runs
	count, total atomic.Int64
	doing        atomic.Pointer[string] // what it is at; nil: only the numbers are shown
	once         sync.Once
	stop         chan struct{}
	stopped      chan struct{}
}

// show begins to show the progress of what is counted in what.
func (c *console) show(what string) *progress {
	p := &progress{console: c, what: what, stop: make(chan struct{}), stopped: make(chan struct{})}
	p.total.Store(-1)
	go p.watch(time.Now())
	return p
}

// progress makes a run show its progress.
func (c *console) progress(cfg *actors.Config) *progress {
	p := c.show("requests")
	next := cfg.Begin
	cfg.Begin = func(effective *actors.Config, setup *actors.Setup) {
		p.total.Store(totalOf(effective, setup))
		if next != nil {
			next(effective, setup)
		}
	}
	cfg.Progress = func(_ vtime.Time, requests int64) { p.count.Store(requests) }
	return p
}

// runs makes a study show how many of its runs are done.
func (c *console) runs(pool *study.Pool) *progress {
	collectRarely()
	p := c.show("runs")
	pool.Progress = func(done, all int) { p.set(int64(done), int64(all)) }
	return p
}

// set says how far it has come; a total of −1 is not known.
func (p *progress) set(count, total int64) {
	p.total.Store(total)
	p.count.Store(count)
}

// say says what it is at.
func (p *progress) say(text string) { p.doing.Store(&text) }

// totalOf is how many requests there will be, at most where it is cut short; −1
// where that is not known: sessions and drawn traces go on as they go.
func totalOf(cfg *actors.Config, setup *actors.Setup) int64 {
	switch {
	case setup.Requests > 0:
		return setup.Requests
	case cfg.Trace != "" || cfg.NumRequests == 0:
		return -1
	}
	return cfg.NumRequests
}

// watch shows the progress until it is stopped.
func (p *progress) watch(started time.Time) {
	defer close(p.stopped)
	tempo := p.console.tempo
	if tempo.line == 0 {
		tempo = usualTempo
	}
	every := tempo.line
	if p.console.errTerminal {
		every = tempo.bar
	}
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	var bar *progressbar.ProgressBar
	for {
		select {
		case <-p.stop:
			if bar != nil {
				bar.Clear()
			}
			return
		case <-ticks.C:
		}
		passed := time.Since(started)
		switch {
		case !p.console.errTerminal:
			p.console.note("%.0f s: %s%s", passed.Seconds(), p.words(), p.pace(passed))
		case passed >= tempo.patience:
			bar = p.draw(bar)
		}
	}
}

// words says how far it has come.
func (p *progress) words() string {
	done, total := p.count.Load(), p.total.Load()
	text := fmt.Sprintf("%s %s so far", plaintext.Grouped(done), p.what)
	if total >= 0 {
		text = fmt.Sprintf("%s of %s %s (%d %%)", plaintext.Grouped(done), plaintext.Grouped(total), p.what, 100*done/max(1, total))
	}
	if doing := p.doing.Load(); doing != nil {
		text += ": " + *doing
	}
	return text
}

// pace says how many come in a second and how long the rest takes, empty while that is
// not known.
func (p *progress) pace(passed time.Duration) string {
	done, total := p.count.Load(), p.total.Load()
	if done == 0 || total < done {
		return ""
	}
	left := time.Duration(float64(passed) / float64(done) * float64(total-done)).Round(time.Second)
	return fmt.Sprintf(", %.3g/s, %v left", float64(done)/passed.Seconds(), left)
}

// draw moves the bar, a new one if there is none.
func (p *progress) draw(bar *progressbar.ProgressBar) *progressbar.ProgressBar {
	total := p.total.Load()
	if bar == nil {
		bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.console.err), progressbar.OptionSetDescription(p.what),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
	}
	if total >= 0 && bar.GetMax64() != total { // known only now
		bar.ChangeMax64(total)
	}
	if doing := p.doing.Load(); doing != nil {
		bar.Describe(p.what + ", " + *doing)
	}
	bar.Set64(p.count.Load())
	return bar
}

// done takes the bar away; nothing is shown from then on. It may be called again.
func (p *progress) done() {
	p.once.Do(func() { close(p.stop) })
	<-p.stopped
}
