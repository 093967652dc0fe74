package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"blis/policy"
	"blis/suggest"
)

// mostSource bounds the text of a program, in bytes.
const mostSource = 64 << 10

// program is a file that was read, for policies of one kind.
type program struct {
	name     string // of the file, for messages
	compiled *starlark.Program
	signals  policy.Signals  // that it may read
	draws    bool            // it may call rand, or read tags
	hints    []hintUse       // that it may read
	declared syntax.Position // where it declares the hints that it gives
}

// options are the parts of Starlark that are off by default and allowed here.
var options = syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true}

// load reads a program. wanted are the functions that a policy of the kind calls. An
// error is an *Error.
func load(name, source string, wanted ...string) (p *program, err error) {
	if name == "" {
		name = "program"
	}
	if len(source) > mostSource {
		return nil, &Error{File: name, Kind: SyntaxError, Message: fmt.Sprintf("has more than %d KiB, want at most that", mostSource>>10)}
	}
	defer func() {
		if x := recover(); x != nil {
			p, err = nil, &Error{File: name, Kind: PanicError, Message: clip(oneLine(fmt.Sprintf("the interpreter fails: %v", x)), mostMessage)}
		}
	}()
	file, err := options.Parse(name, source, 0)
	if err != nil {
		return nil, syntaxProblem(name, source, err)
	}
	return compile(name, source, file, wanted...)
}

// compile makes a program of a file that was parsed.
func compile(name, source string, file *syntax.File, wanted ...string) (*program, error) {
	compiled, err := starlark.FileProgram(file, isPredeclared)
	if err != nil {
		return nil, syntaxProblem(name, source, err)
	}
	p := &program{name: name, compiled: compiled}
	r := reading{program: p}
	if err := r.check(file, wanted); err != nil {
		return nil, err
	}
	return p, nil
}

// loaded are the programs read last: a cluster has a scheduler per instance.
var loaded struct {
	sync.Mutex
	list []loadedProgram // the last one used is the last
}

type loadedProgram struct {
	name, source, wanted string
	tree                 policy.Kind // of a decision tree; empty: it is a program
	signals              int         // in the table when it was read
	program              *program
}

// mostLoaded is the number of programs that are kept.
const mostLoaded = 16

// cached is load, or of a tree loadTree, once for equal arguments that follow each other
// soon.
func cached(tree policy.Kind, name, source string, wanted ...string) (*program, error) {
	loaded.Lock()
	defer loaded.Unlock()
	key := loadedProgram{tree: tree, name: name, source: source, wanted: strings.Join(wanted, " "), signals: len(policy.SignalTable())}
	for k, l := range loaded.list {
		if key.program = l.program; l == key {
			loaded.list = append(slices.Delete(loaded.list, k, k+1), l)
			return l.program, nil
		}
	}
	read := func() (*program, error) { return load(name, source, wanted...) }
	if tree != "" {
		read = func() (*program, error) { return loadTree(tree, name, source) }
	}
	p, err := read()
	if err != nil {
		return nil, err
	}
	if key.program = p; len(loaded.list) == mostLoaded {
		loaded.list = slices.Delete(loaded.list, 0, 1)
	}
	loaded.list = append(loaded.list, key)
	return p, nil
}

// syntaxProblem returns the *Error for what the parser or the resolver found.
func syntaxProblem(name, source string, err error) *Error {
	fault := &Error{File: name, Kind: SyntaxError, Message: err.Error()}
	var at syntax.Error
	var names resolve.ErrorList
	switch {
	case errors.As(err, &names) && len(names) > 0:
		fault.Line, fault.Column, fault.Message = int(names[0].Pos.Line), int(names[0].Pos.Col), names[0].Msg
		if unknown, ok := strings.CutPrefix(fault.Message, "undefined: "); ok {
			unknown, _, _ = strings.Cut(unknown, " ")
			fault.Message = fmt.Sprintf("there is no %s%s", clip(unknown, mostName), remedyOf(unknown))
		}
	case errors.As(err, &at):
		fault.Line = int(at.Pos.Line)
		var remedy string
		fault.Column, remedy = remedyAt(source, at)
		fault.Message = at.Msg + remedy
	}
	fault.Message = clip(oneLine(fault.Message), mostMessage)
	return fault
}

// reading checks names in the text of a program.
type reading struct {
	program *program
	fault   *Error
}

// part is a part of a file: a function, or all that stands outside of functions.
type part struct {
	uses    []string // names in it
	signals policy.Signals
	draws   bool
	hints   []hintUse
}

// check looks for names that there are not, and for signals in what a policy can reach:
// from the functions that it calls, and from what is outside of all.
func (r *reading) check(file *syntax.File, wanted []string) error {
	outside := &part{}
	functions := map[string][]*part{}
	for _, s := range file.Stmts {
		if d, ok := s.(*syntax.DefStmt); ok {
			of := &part{}
			r.walk(d, of)
			functions[d.Name.Name] = append(functions[d.Name.Name], of)
			for _, p := range d.Params { // defaults are evaluated outside
				r.walk(p, outside)
			}
			continue
		}
		if a, ok := s.(*syntax.AssignStmt); ok {
			if to, ok := a.LHS.(*syntax.Ident); ok && to.Name == hintsName {
				r.program.declared = to.NamePos
			}
		}
		r.walk(s, outside)
	}
	if r.fault != nil {
		return r.fault
	}
	reached := map[*part]bool{}
	var reach func(of *part)
	reach = func(of *part) {
		if reached[of] {
			return
		}
		reached[of] = true
		r.program.signals |= of.signals
		r.program.draws = r.program.draws || of.draws
		r.program.hints = append(r.program.hints, of.hints...)
		for _, name := range of.uses {
			for _, next := range functions[name] {
				reach(next)
			}
		}
	}
	reach(outside)
	for _, name := range wanted {
		for _, of := range functions[name] {
			reach(of)
		}
	}
	return nil
}

// refusedNames are functions of Starlark that are not offered, with what to do instead.
var refusedNames = map[string]string{
	"getattr": "write the name: i.queue", "hasattr": "write the name: i.queue", "dir": "the names are in docs/policies-as-code.md",
}

// walk notes what a piece of syntax uses.
func (r *reading) walk(n syntax.Node, of *part) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.LoadStmt:
			r.fail(n.Load, "there is nothing to load: a program is one file")
		case *syntax.Ident:
			if instead, refused := refusedNames[n.Name]; refused {
				r.fail(n.NamePos, n.Name+" is not offered: "+instead)
			}
			of.uses = append(of.uses, n.Name)
			of.draws = of.draws || n.Name == "rand"
		case *syntax.DotExpr:
			if use, from, reads := hintOf(n); reads {
				of.hints = append(of.hints, use)
				r.walk(from, of)
				return false
			}
			name := n.Name.Name
			if name == hintsName {
				r.fail(n.Name.NamePos, "want the name of a hint, like req.hints.urgent")
			}
			of.draws = of.draws || name == "tag"
			if signals, known := attributeSignals(name); known {
				of.signals |= signals
			} else {
				r.fail(n.Name.NamePos, fmt.Sprintf("nothing has %q%s", clip(name, mostName), suggest.Hint(name, attributeNames())))
			}
			r.walk(n.X, of) // the name of an attribute is no use of a function
			return false
		}
		return true
	})
}

// fail notes the first fault.
func (r *reading) fail(at syntax.Position, text string) {
	if f := r.fault; f == nil || int(at.Line) < f.Line {
		r.fault = &Error{File: r.program.name, Line: int(at.Line), Column: int(at.Col), Kind: SyntaxError, Message: clip(oneLine(text), mostMessage)}
	}
}

// function returns a function of the program, nil if there is none of that name. most
// is the number of arguments that it is called with, at least one.
func (m *machine) function(name string, least, most int) (*starlark.Function, error) {
	x, found := m.globals[name]
	if !found {
		return nil, nil
	}
	f, ok := x.(*starlark.Function)
	if !ok {
		return nil, &Error{File: m.program.name, Kind: TypeError, Message: fmt.Sprintf("%s is a %s, want a function: def %s(…)", name, x.Type(), name)}
	}
	required := f.NumParams() - f.NumKwonlyParams()
	if f.HasVarargs() {
		required--
	}
	if f.HasKwargs() {
		required--
	}
	for k := required - 1; k >= 0 && f.ParamDefault(k) != nil; k-- {
		required--
	}
	if required > most || f.NumParams() < least && !f.HasVarargs() {
		return nil, m.faultOf(f, SyntaxError, "has %d parameters, want %s", f.NumParams(), signatures[name])
	}
	return f, nil
}

// arity is the number of arguments, most at most, that a function takes.
func arity(f *starlark.Function, most int) int {
	if f.HasVarargs() {
		return most
	}
	return min(most, f.NumParams())
}

// signatures are the functions that policies call.
var signatures = map[string]string{
	"route": "def route(req, i)", "filter": "def filter(req, i)", "admit": "def admit(req, i)", "priority": "def priority(req, i)",
	"order": "def order(req)", "victim": "def victim(running)", "make_batch": "def make_batch(waiting, running, ctx)", "on_arrival": "def on_arrival(req, ctx)", "scale": "def scale(ctx, i)",
}

// missing is the error of a program without the function that a policy needs.
func (m *machine) missing(name string) error {
	var names []string
	for other := range m.globals { // any order: Hint takes the nearest
		if len(other) <= mostName {
			names = append(names, other)
		}
	}
	slices.Sort(names)
	without := ""
	if name == "route" && m.globals["filter"] != nil {
		without = "; filter is asked before route"
	}
	return &Error{File: m.program.name, Kind: SyntaxError, Message: fmt.Sprintf("want a function %s(…)%s: %s%s", name, suggest.Hint(name, names), signatures[name], without)}
}
