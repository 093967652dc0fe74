package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"blis/report"
	"blis/setup"
	"blis/study"
	"blis/study/certify"
	"blis/vtime"
)

// capacityCmd is blis capacity.
type capacityCmd struct {
	settings
	searchFlags

	Over string `placeholder:"NAME=RANGE" group:"Capacity" help:"Setting to search over, with its range: rate=20..600, num-instances=1..64, concurrency=1..500 or tp=1,2,4,8; prefill-replicas or decode-replicas with --architecture pd; chat/replicas=1..16 of a deployment."`

	Sweep    string `arg:"" optional:"" type:"path" help:"Sweep file with the configurations of --frontier."`
	Frontier string `enum:",cost" default:"" placeholder:"cost" group:"Capacity" help:"cost: search the capacity of every configuration of a sweep file, and mark those that no other beats in load and cost."`

	Format string `default:"text" enum:"text,json" group:"Output" help:"Form of the result on standard output: text or json."`
	Report string `type:"path" placeholder:"FILE" group:"Output" help:"Write a page of the result as HTML; as FILE.md or FILE.csv its tables alone."`

	given []string // flags for settings
}

// searchFlags are the flags of capacity and size that say what a window is and when it passes.
type searchFlags struct {
	SLO        []string `name:"slo" sep:"none" placeholder:"BOUND,…" group:"Capacity" help:"Bounds that a window of requests must keep, all of them: p99_ttft=500ms,p99_tpot=50ms, slo_attainment=0.99 with --slo-targets, or of one class: batch:p99_e2e=30s. With commas, or the flag several times."`
	Share      float64  `default:"0.9" group:"Capacity" help:"Share of windows that must pass."`
	Precision  string   `default:"3%" placeholder:"SHARE" group:"Capacity" help:"How near the rates that are tried lie: 3% or 0.03."`
	Confidence float64  `default:"0.95" group:"Capacity" help:"Probability that both ends of the answer are right, at least."`
	Window     string   `placeholder:"N|DURATION" group:"Capacity" help:"Length of a window: a number of requests, or a time. Not given: chosen by a pilot; the answer says it."`
	Warmup     string   `default:"auto" placeholder:"auto|DURATION" group:"Capacity" help:"Time before a window whose requests do not count; auto: five times the mean E2E of a pilot."`
	MaxWindows int      `default:"2000" group:"Capacity" help:"Most windows to run; with fewer than needed the answer is not certified."`
}

// Help is what blis capacity does, with examples.
func (*capacityCmd) Help() string {
	return `Searches the highest rate, or the fewest instances, at which a share of all windows of traffic keeps every SLO, and certifies both ends on fresh traffic: the one that holds and the next that does not. The chance that either claim is wrong is at most 5 % (--confidence). A trace that is the same every time is run once for each load, and the answer is exact for it. Exit codes: 5, no load of the range holds; 6, every load does; 7, an end could not be certified. docs/capacity.md has the method.

Examples:

    blis capacity --slo p99_ttft=100ms --over rate=20..600
    blis capacity --slo p99_ttft=500ms --over num-instances=1..64 --rate 100
    blis capacity --slo p99_ttft=1s --over num-instances=1..9 --trace requests.csv`
}

// Exit codes of blis capacity and blis size.
const (
	exitNoLoad       = 5
	exitEveryLoad    = 6
	exitNotCertified = 7
)

// answered ends a command that has printed an answer which is not the one that was asked for.
type answered struct {
	code int
	text string
}

// Error is one line.
func (a *answered) Error() string { return a.text }

// capacity is the search that the flags ask for.
func (f *searchFlags) capacity(c *study.Capacity) error {
	for _, text := range f.SLO {
		slos, err := study.ParseSLOs(text)
		if err != nil {
			return err
		}
		c.SLOs = append(c.SLOs, slos...)
	}
	c.Share, c.Confidence, c.MaxWindows = f.Share, f.Confidence, f.MaxWindows
	var err error
	if c.Precision, err = f.precision(); err != nil {
		return err
	}
	if c.Length, err = windowLength(f.Window); err != nil {
		return err
	}
	c.Warmup = -1
	if f.Warmup != "auto" {
		if c.Warmup, err = vtime.ParseDuration(f.Warmup); err != nil || c.Warmup < 0 {
			return inputErrorf("--warmup: %q: want auto, or a duration like 20s", f.Warmup)
		}
	}
	return nil
}

// precision reads --precision.
func (f *searchFlags) precision() (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(f.Precision), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		x /= 100
	}
	if err != nil || math.IsNaN(x) {
		return 0, inputErrorf("--precision: %q: want a share like 3%% or 0.03", f.Precision)
	}
	if !(x >= 0.0001 && x <= 0.5) {
		return 0, inputErrorf("--precision is %s: want from 0.01%% to 50%%", f.Precision)
	}
	return x, nil
}

// windowLength reads --window.
func windowLength(text string) (l study.WindowLength, err error) {
	if text == "" {
		return l, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n < 10 || n > 1e9 {
			return l, inputErrorf("--window is %d: want 10 requests to 1000000000", n)
		}
		l.Requests = n
		return l, nil
	}
	if l.Time, err = vtime.ParseDuration(text); err != nil || l.Time <= 0 {
		return l, inputErrorf("--window: %q: want a number of requests like 20000, or a duration like 5m", text)
	}
	return l, nil
}

// Run carries the command out.
func (r *capacityCmd) Run(ctx context.Context, c *console) error {
	c.warnOfVariables()
	if r.Print {
		return r.printConfig(c.out)
	}
	search := study.NewCapacity(r.Config, study.SearchAxis{})
	if err := r.capacity(&search); err != nil {
		return err
	}
	if r.Over == "" {
		return inputError("--over: want a setting and its range, like rate=20..600")
	}
	axis, err := study.ParseSearchAxis(r.Over, search.Precision)
	if err != nil {
		return err
	}
	search.Over, search.Pool.Workers = axis, r.Workers
	if r.Sweep != "" || r.Frontier != "" {
		return r.frontier(ctx, c, search)
	}
	search.Base.Open = new(pipes).open
	page, err := r.page(ctx)
	if err != nil {
		return err
	}
	bar := c.windows(&search)
	defer bar.done()
	c.begun.Store(true)
	result, err := search.Find(ctx)
	bar.done()
	if result == nil {
		page.discard()
		return err
	}
	return firstOf(r.write(c, page, &report.Capacity{CapacityResult: result, Asked: search}, err == nil), err, outcomeError(result))
}

// page begins the file of --report.
func (r *capacityCmd) page(ctx context.Context) (*output, error) {
	read := r.read()
	if r.Sweep != "" {
		read = append(read, named{"the sweep file", r.Sweep})
	}
	if err := checkDistinct([]named{{"--report", r.Report}}, read); err != nil {
		return nil, err
	}
	return create(ctx, "report", r.Report)
}

// write prints a result and writes its page.
func (r *capacityCmd) write(c *console, page *output, result report.Document, whole bool) error {
	var kept []string
	failed := errors.Join(c.print(result, r.Format), savePage(page, result, r.command(), whole, &kept))
	c.noteKept(kept)
	return failed
}

// command are the words that repeat the search.
func (r *capacityCmd) command() []string {
	words := []string{"blis", "capacity"}
	if r.Sweep != "" {
		words = append(words, "--frontier="+r.Frontier, r.Sweep)
	} else {
		words = append(words, setup.Flags(&r.Config.Config)...)
	}
	for _, text := range r.SLO {
		words = append(words, "--slo="+text)
	}
	words = append(words, "--over="+r.Over, fmt.Sprintf("--share=%v", r.Share), "--precision="+r.Precision, fmt.Sprintf("--confidence=%v", r.Confidence))
	if r.Window != "" {
		words = append(words, "--window="+r.Window)
	}
	return append(words, "--warmup="+r.Warmup, fmt.Sprintf("--max-windows=%d", r.MaxWindows))
}

// windows shows the progress of a search for a capacity.
func (c *console) windows(search *study.Capacity) *progress {
	collectRarely()
	p := c.show("windows")
	p.set(0, -1)
	search.Pool.Progress = func(done, _ int) { p.set(int64(done), -1) }
	phases := map[certify.Phase]string{certify.Searching: "search", certify.LowerEnd: "certifying the end that holds", certify.UpperEnd: "certifying the end that does not", certify.Stability: "testing longer windows"}
	search.Observe = func(o study.CapacityProgress) {
		p.say(phases[o.Phase] + ", " + o.Load)
	}
	return p
}

// outcomeError ends the command with the exit code of an outcome.
func outcomeError(r *study.CapacityResult) error {
	switch r.Outcome {
	case study.NoLoadHolds:
		return &answered{exitNoLoad, "no load of the range holds: want lower rates or more instances in --over, or other bounds"}
	case study.EveryLoadHolds:
		return &answered{exitEveryLoad, "every load of the range holds: want a wider range in --over"}
	case study.CapacityNotKnown:
		return &answered{exitNotCertified, "an end could not be certified: want more --max-windows, a wider range, or a lower --confidence"}
	}
	return nil
}
