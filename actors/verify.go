package actors

import (
	"context"
	"fmt"

	"blis/lookahead"
)

// Inspection asks a run to record marks along its digests.
type Inspection struct {
	Trace  lookahead.Trace
	Result []lookahead.ProcessTrace
}

// Executor is one way to execute a run.
type Executor struct {
	Name string
	Execution
}

// Executors are the executors that Verify compares: the sequential twin (one event
// at a time, one step at a time, block by block, engines read directly), then
// 1, 2, 4, … workers up to workers, with decode runs.
func Executors(most int) []Executor {
	list := []Executor{
		{"one event at a time, step by step", Execution{Workers: 1, Sequential: true, StepByStep: true}},
		{"one event at a time, decode runs", Execution{Workers: 1, Sequential: true}},
		{"1 worker, step by step", Execution{Workers: 1, StepByStep: true}},
	}
	for w := 1; ; w *= 2 {
		w = min(w, most)
		list = append(list, Executor{fmt.Sprintf("workers: %d", w), Execution{Workers: w, Inline: -1}})
		if w >= most {
			return list
		}
	}
}

// Verification is the result of one executor.
type Verification struct {
	Executor string
	Digest   string
	Equal    bool   // to that of the first executor
	Where    string // the first difference: process and stamp
}

// Verify runs cfg once on each executor and compares digests. On a difference it
// runs both again to find the first event that differs. A custom source cannot run
// twice and is refused. report is called after each run.
func Verify(ctx context.Context, cfg Config, executors []Executor, report func(Verification)) (equal bool, err error) {
	if cfg.Custom.Source != nil {
		return false, inputErrorf("a custom source cannot be run more than once")
	}
	equal = true
	var first string
	for i, x := range executors {
		c := cfg
		c.Execution = x.Execution
		c.Progress = cfg.Progress
		r, err := Run(ctx, c)
		if err != nil {
			return false, err
		}
		v := Verification{Executor: x.Name, Digest: r.Digest, Equal: i == 0 || r.Digest == first}
		if i == 0 {
			first = r.Digest
		}
		if !v.Equal {
			equal = false
			if v.Where, err = locate(ctx, func() Config { return cfg }, executors[0], x); err != nil {
				return false, err
			}
		}
		report(v)
	}
	return equal, nil
}

// markEvery is the distance of the marks of the first pass of locate.
const markEvery = 1024

// locate finds where two executors differ first: a mark every markEvery messages,
// then every message of the stretch that differs. fresh makes the configuration
// for each run.
func locate(ctx context.Context, fresh func() Config, a, b Executor) (string, error) {
	trace := lookahead.Trace{Every: markEvery}
	for {
		x, err := inspect(ctx, fresh(), a, trace)
		if err != nil {
			return "", err
		}
		y, err := inspect(ctx, fresh(), b, trace)
		if err != nil {
			return "", err
		}
		d, found := lookahead.FirstDifference(x, y)
		switch {
		case !found && trace.Every > 0:
			return "messages and final states agree, the metrics differ", nil
		case !found:
			return "the difference is not there in a second run: a result depends on chance", nil
		case d.State || trace.Every == 0 || d.To == d.From+1:
			return d.String(), nil
		}
		trace = lookahead.Trace{Process: d.ID, From: d.From, To: d.To}
	}
}

func inspect(ctx context.Context, cfg Config, x Executor, t lookahead.Trace) ([]lookahead.ProcessTrace, error) {
	in := &Inspection{Trace: t}
	cfg.Execution = x.Execution
	cfg.Inspect = in
	_, err := Run(ctx, cfg)
	return in.Result, err
}
