package evaluate

import (
	"errors"
	"regexp"
	"strconv"

	"blis/actors"
	"blis/bundle"
	"blis/policy"
	"blis/script"
	"blis/yamldoc"
)

// FaultKind is what a candidate failed by.
type FaultKind string

// Kinds of faults. Wall, memory and crash are those of a process that ran the candidate; a
// caller who runs it in one gives them to Failed.
const (
	SyntaxFault    FaultKind = "syntax"    // the text cannot be read
	PolicyFault    FaultKind = "policy"    // a policy, a parameter or a field is not allowed
	StepsFault     FaultKind = "steps"     // a program took too many steps
	ExceptionFault FaultKind = "exception" // a program, or the run with it, failed
	EventsFault    FaultKind = "events"    // a run had too many requests and steps of instances
	InputFault     FaultKind = "input"     // it is no candidate: a caller read something else where one should be
	WallFault      FaultKind = "wall"      // too much time
	MemoryFault    FaultKind = "memory"    // too much memory
	CrashFault     FaultKind = "crash"     // the process ended
)

// FaultKinds lists them all.
func FaultKinds() []FaultKind {
	return []FaultKind{SyntaxFault, PolicyFault, StepsFault, ExceptionFault, EventsFault, InputFault, WallFault, MemoryFault, CrashFault}
}

// Fault is why a candidate has no score.
type Fault struct {
	Kind    FaultKind `json:"kind"`
	Message string    `json:"message"` // one line: what is wrong and what would be right
	Line    int       `json:"line"`    // in the text of the candidate, of a program in a bundle in the program, from 1; 0: not known
	Column  int       `json:"column"`  // in bytes, from 1; 0: not known

	// Repeatable says that the same candidate always fails so. Faults of time and memory depend
	// on the machine and its load.
	Repeatable bool `json:"repeatable"`
}

// RepeatableKind reports whether faults of a kind come again with the same candidate.
func RepeatableKind(k FaultKind) bool { return k != WallFault && k != MemoryFault }

// faultOf is the fault in an error about a candidate.
func faultOf(err error) *Fault {
	f := &Fault{Kind: PolicyFault, Message: clip(yamldoc.OneLine(err.Error()), maxMessage), Repeatable: true}
	var inBundle *bundle.Error
	var field *policy.Error
	var events *actors.TooManyEvents
	var program *script.Error
	var input *actors.InputError
	switch {
	case errors.As(err, &program):
		f.Kind, f.Line, f.Column = ExceptionFault, program.Line, program.Column
		switch program.Kind {
		case script.SyntaxError: // wherever it is, it is in no run
			f.Kind, f.Message = SyntaxFault, clip(program.Error(), maxMessage)
		case script.StepsError:
			f.Kind = StepsFault
		}
	case errors.As(err, &inBundle):
		f.Line = inBundle.Line
		if inBundle.Field == "" {
			f.Kind = SyntaxFault
		}
	case errors.As(err, &field):
	case errors.As(err, &events):
		f.Kind = EventsFault
	case errors.As(err, &input):
		if m := placeInText.FindStringSubmatch(f.Message); m != nil { // an error with its place, as text
			f.Line, _ = strconv.Atoi(m[1])
		}
	default:
		f.Kind = ExceptionFault
	}
	return f
}

// maxMessage is the longest message of a fault that this package makes, in bytes: names that a
// candidate makes up may be long.
const maxMessage = 1200

// placeInText finds the line in an error about the candidate.
var placeInText = regexp.MustCompile(`policy\.(?:yaml|star):([0-9]+):`)
