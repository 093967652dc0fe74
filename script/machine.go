package script

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"blis/policy"
	"blis/vtime"
)

// mostSteps bounds one decision, and what a file does outside of functions.
const mostSteps = 1_000_000

// machine is a program that one policy runs. It has memory and randomness of its own.
type machine struct {
	program *program
	thread  starlark.Thread
	left    uint64 // steps that are left to the run
	arena   arena
	state   *state
	printed []byte
	draws   draws
	env     policy.Env
	names   labelNames
	now     now
	globals starlark.StringDict
	hints   map[string]int // indices of those that the program reads
}

// now is what the present decision is about.
type now struct {
	at     vtime.Time
	view   *policy.View
	router *policy.RouterState
}

// arena is the memory of vectors. Those of a decision are used again by the next one.
type arena struct {
	vecs []*vec
	used int
}

// Limits of what an arena keeps from one decision to the next.
const (
	mostKeptVecs  = 256
	mostKeptWidth = 1 << 14
)

// newMachine makes a machine and runs what the file has outside of functions. An error
// is an *Error.
func newMachine(p *program, env policy.Env, maxSteps uint64) (m *machine, err error) {
	m = &machine{program: p, left: maxSteps, env: env}
	m.names = labelNames{env: &m.env}
	m.state = newState(m)
	m.thread.Name = p.name
	m.thread.Print = func(_ *starlark.Thread, text string) { m.print(text) }
	m.thread.Load = nil
	m.begin()
	defer func() {
		if fault, ok := recover().(*Error); ok && fault != nil {
			m, err = nil, fault
		}
	}()
	m.call(nil, nil)
	m.globals.Freeze()
	m.arena = arena{} // what the file made stays
	return m, nil
}

// begin begins a decision.
func (m *machine) begin() {
	a := &m.arena
	for k, v := range a.vecs[:a.used] {
		if v.kept || cap(v.data) > mostKeptWidth {
			a.vecs[k] = nil
		}
	}
	a.used = 0
	m.thread.Steps = 0
	m.thread.SetMaxExecutionSteps(min(mostSteps, m.left))
}

// newVec returns a vector of n numbers, which the caller writes.
func (m *machine) newVec(n int) *vec {
	m.charge(n)
	a := &m.arena
	var v *vec
	switch {
	case a.used >= mostKeptVecs:
		return &vec{of: m, data: make([]float64, n)}
	case a.used == len(a.vecs):
		v = &vec{of: m}
		a.vecs = append(a.vecs, v)
	case a.vecs[a.used] == nil:
		v = &vec{of: m}
		a.vecs[a.used] = v
	default:
		v = a.vecs[a.used]
	}
	a.used++
	if cap(v.data) < n {
		v.data = make([]float64, n)
	}
	v.data = v.data[:n]
	return v
}

// charge counts n steps.
func (m *machine) charge(n int) { m.thread.Steps += uint64(max(n, 0)) }

// call lets a function decide, nil for what the file has outside of functions. A fault
// of the program is a panic with an *Error.
func (m *machine) call(f *starlark.Function, args starlark.Tuple) starlark.Value {
	value, err := m.guarded(f, args)
	if err != nil {
		m.stop(m.explain(err))
	}
	m.left -= min(m.left, m.thread.Steps)
	if m.state.touched {
		m.state.check(f)
	}
	return value
}

// stop ends the run.
func (m *machine) stop(fault *Error) {
	fault.Printed = m.Printed()
	panic(fault)
}

// guarded turns a panic of the interpreter into an error.
func (m *machine) guarded(f *starlark.Function, args starlark.Tuple) (value starlark.Value, err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *Error:
			err = x
		default:
			err = m.fault(&mistake{PanicError, clip(oneLine(fmt.Sprintf("the interpreter fails: %v", x)), mostMessage)})
		}
	}()
	if f == nil {
		m.globals, err = m.program.compiled.Init(&m.thread, m.predeclared())
		return starlark.None, err
	}
	return starlark.Call(&m.thread, f, args, nil)
}

// explain returns the *Error for an error of the interpreter.
func (m *machine) explain(err error) *Error {
	var fault *Error
	if errors.As(err, &fault) {
		return fault
	}
	fault = &Error{File: m.program.name}
	var where *starlark.EvalError
	if errors.As(err, &where) {
		for k := len(where.CallStack) - 1; k >= 0; k-- {
			if f := &where.CallStack[k]; fault.stand(f) {
				break
			}
		}
	}
	fault.Kind, fault.Message = m.words(err)
	return fault
}

// stand gives the error the place of a frame, unless that is of a built-in function.
func (e *Error) stand(f *starlark.CallFrame) bool {
	if f.Pos.Line == 0 {
		return false
	}
	e.Line, e.Column, e.Function = int(f.Pos.Line), int(f.Pos.Col), f.Name
	if f.Name == "<toplevel>" {
		e.Function = ""
	}
	return true
}

// words says what an error of the interpreter is.
func (m *machine) words(err error) (ErrorKind, string) {
	if m.thread.Steps >= min(mostSteps, m.left) {
		if m.left < mostSteps {
			return StepsError, "all steps of the run are used up: want fewer, or a larger max_steps"
		}
		return StepsError, fmt.Sprintf("takes more than %d steps at once: want fewer or shorter loops; an operation with a vec counts its entries", mostSteps)
	}
	if own := (*mistake)(nil); errors.As(err, &own) {
		return own.kind, clip(oneLine(err.Error()), mostMessage)
	}
	kind, text := classify(err.Error())
	return kind, clip(oneLine(text), mostMessage)
}

// fault returns an error at the place where the program is, which has been left if a
// function of the interpreter failed.
func (m *machine) fault(x *mistake) *Error {
	fault := &Error{File: m.program.name, Kind: x.kind, Message: x.text}
	for depth := range m.thread.CallStackDepth() {
		if f := m.thread.CallFrame(depth); fault.stand(&f) {
			break
		}
	}
	return fault
}

// panicHere ends a decision in a function that can return no error.
func (m *machine) panicHere(err error) {
	x, _ := err.(*mistake)
	panic(m.fault(x))
}

// answer panics with the fault of a function whose answer is no decision.
func (m *machine) answer(kind ErrorKind, f *starlark.Function, format string, args ...any) {
	m.stop(m.faultOf(f, kind, format, args...))
}

// faultOf is an error at the place where a function is defined; nil for what the file has
// outside of functions.
func (m *machine) faultOf(f *starlark.Function, kind ErrorKind, format string, args ...any) *Error {
	fault := &Error{File: m.program.name, Kind: kind, Message: clip(oneLine(fmt.Sprintf(format, args...)), mostMessage)}
	if f != nil {
		p := f.Position()
		fault.Line, fault.Column, fault.Function = int(p.Line), int(p.Col), f.Name()
	}
	return fault
}

// mostPrinted bounds what a policy prints, in bytes.
const mostPrinted = 4 << 10

// print keeps a text as one line.
func (m *machine) print(text string) {
	if len(m.printed) < mostPrinted {
		m.printed = append(append(m.printed, clip(oneLine(text), mostPrinted-len(m.printed))...), '\n')
	}
}

// Printed implements policy.Printer.
func (m *machine) Printed() string { return string(m.printed) }

// draws are the random numbers of a policy: each is a hash of the request and of how
// many were drawn for it before.
type draws struct {
	kind  uint32 // of the policy: others draw other numbers
	req   *policy.Request
	drawn uint32
}

// mostDrawn bounds the random numbers of one decision.
const mostDrawn = 1 << 16

// about begins the draws of a decision about a request.
func (d *draws) about(req *policy.Request) { d.req, d.drawn = req, 0 }

// tag returns a number of a request of which a program cannot tell which one it is in a run.
// No two requests of a run have the same one, but by a chance of one in 2⁵³.
func (m *machine) tag(id int64) float64 {
	var of policy.Request
	of.ID = id
	return float64(m.env.Draws.IntN(&of, tags<<28, 1<<53))
}

// rand returns a number from 0 to below 1.
func (m *machine) rand() (float64, error) {
	d := &m.draws
	switch {
	case d.req == nil:
		return 0, &mistake{Exception, "rand: outside of a decision there is nothing to draw for"}
	case d.drawn == mostDrawn-1:
		return 0, valueMistake("rand: want at most %d numbers in a decision", mostDrawn-1)
	}
	d.drawn++
	turn := d.kind<<28 | uint32(min(d.req.Delays, 1<<12-1))<<16 | d.drawn // 0 is the draw among equals
	return float64(m.env.Draws.IntN(d.req, turn, 1<<53)) / (1 << 53), nil
}
