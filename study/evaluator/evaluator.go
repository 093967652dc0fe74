package evaluator

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"

	"blis/setup"
	"blis/study/confine"
	"blis/study/evaluate"
)

// Config says what an Evaluator does.
type Config struct {
	Suite   SuiteFile
	Options evaluate.Options // of every candidate; Scenarios may be less for one
	Limits  confine.Limits   // of every candidate

	// Program is what a child runs, with arguments; limits are added to them. It calls Child.
	Program []string
	// Children is how many candidates are evaluated at a time; 0: one per core.
	Children int
}

// SuiteFile is a suite as text, or a shipped one by its name.
type SuiteFile struct {
	Name string `json:"name"` // of the file, or of the shipped suite; empty: the usual one
	Text []byte `json:"text"` // nil: a shipped suite
}

// Parse reads the suite.
func (f SuiteFile) Parse() (*evaluate.Suite, error) {
	if f.Text == nil {
		return evaluate.Shipped(f.Name)
	}
	return evaluate.Parse(f.Name, f.Text)
}

// Evaluator evaluates candidates. Several goroutines may call it; more than Config.Children at a
// time wait for each other.
type Evaluator struct {
	Config
	suite     *evaluate.Suite
	reference *evaluate.Reference
	suiteText []byte // what a child reads before its work

	turns chan struct{} // one per child that may run
	mu    sync.Mutex
	spare []*confine.Child // started ahead
	ended bool
}

// New reads the suite and runs its baseline, while the first children start. Errors: *setup.InputError for the
// suite or the options, or that of ctx.
func New(ctx context.Context, c Config) (*Evaluator, error) {
	if c.Children <= 0 {
		c.Children = runtime.GOMAXPROCS(0)
	}
	e := &Evaluator{Config: c, turns: make(chan struct{}, c.Children)}
	var err error
	if e.suite, err = c.Suite.Parse(); err != nil {
		return nil, err
	}
	if e.suiteText, err = line(c.Suite); err != nil {
		return nil, err
	}
	for range c.Children {
		e.startAhead()
	}
	if e.reference, err = e.suite.Reference(ctx, c.Options); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Suite is the suite that candidates are evaluated with.
func (e *Evaluator) Suite() *evaluate.Suite { return e.suite }

// Close ends the children that wait for work.
func (e *Evaluator) Close() {
	e.mu.Lock()
	spare := e.spare
	e.spare, e.ended = nil, true
	e.mu.Unlock()
	for _, c := range spare {
		c.Stop()
	}
}

// Evaluate evaluates a candidate in the scenarios of those names; nil: those of the options. A
// candidate that fails, or breaks its limits, is an answer that is not OK. Errors: *setup.InputError for the names, or
// that of ctx, or that of a program that does not start.
func (e *Evaluator) Evaluate(ctx context.Context, c evaluate.Candidate, scenarios []string) (*evaluate.Answer, error) {
	options := e.Options
	if scenarios != nil {
		options.Scenarios = scenarios
	}
	work, err := line(work{Reference: e.reference, Options: options, Candidate: c})
	if err != nil {
		return nil, err
	}
	select {
	case e.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-e.turns }()
	child, err := e.child()
	if err != nil {
		return nil, fmt.Errorf("a process for a candidate: %w", err)
	}
	go e.startAhead() // starts while this one works
	end, err := child.Do(ctx, work, e.Limits)
	if err != nil {
		return nil, err
	}
	if end.Cause != confine.Answered {
		kind := evaluate.FaultKind(end.Cause)
		return e.suite.Failed(c, options, evaluate.Fault{Kind: kind, Message: end.Text, Repeatable: evaluate.RepeatableKind(kind)}), nil
	}
	var r reply
	if err := json.Unmarshal(end.Answer, &r); err != nil {
		return nil, fmt.Errorf("a process for a candidate answered no JSON: %w", err)
	}
	switch {
	case r.Input:
		return nil, &setup.InputError{Text: r.Error}
	case r.Error != "":
		return nil, fmt.Errorf("a process for a candidate: %s", r.Error)
	}
	return r.Answer, nil
}

// mostAnswer is how long the answer of a child can be, in bytes.
const mostAnswer = 16 << 20

func (e *Evaluator) start() (*confine.Child, error) {
	return confine.Start(e.suiteText, mostAnswer, e.Program[0], append(e.Program[1:len(e.Program):len(e.Program)], e.Limits.Args()...)...)
}

// child is one that was started ahead, or a new one.
func (e *Evaluator) child() (*confine.Child, error) {
	e.mu.Lock()
	if n := len(e.spare); n > 0 {
		c := e.spare[n-1]
		e.spare = e.spare[:n-1]
		e.mu.Unlock()
		return c, nil
	}
	e.mu.Unlock()
	return e.start()
}

// startAhead starts a child for the next candidate. One that does not start is none: the error comes
// when it is needed.
func (e *Evaluator) startAhead() {
	c, err := e.start()
	if err != nil {
		return
	}
	e.mu.Lock()
	keep := !e.ended && len(e.spare) < e.Children
	if keep {
		e.spare = append(e.spare, c)
	}
	e.mu.Unlock()
	if !keep {
		c.Stop()
	}
}

// line is a value as a line of JSON.
func line(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(text, '\n'), err
}
