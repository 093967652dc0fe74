package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/alecthomas/kong"

	"blis/latency"
	"blis/lookahead"
	"blis/report"
	"blis/script"
	"blis/setup"
	"blis/study"
	"blis/suggest"
	"blis/vtime"
)

// Exit codes.
const (
	exitDone        = 0
	exitCheck       = 1 // a check failed: verify, an invariant, a run that went wrong
	exitInput       = 2
	exitFit         = 3 // the model does not fit
	exitInterrupted = 130
)

// inputError is an error in the user's input, of one line.
func inputError(text string) error { return &setup.InputError{Text: text} }

func inputErrorf(format string, args ...any) error { return inputError(fmt.Sprintf(format, args...)) }

// errCheck ends a command whose check failed and that has said so itself.
var errCheck = errors.New("check failed")

// fail says in one line what went wrong, if anything, and returns the exit
// code.
func (c *console) fail(err error) int {
	code := exitCode(err)
	var fault *lookahead.Fault
	switch {
	case err == nil || errors.Is(err, errCheck):
	case code == exitInterrupted:
		c.note("interrupted")
	default:
		if program := (*script.Error)(nil); errors.As(err, &program) {
			c.notePrinted("the program", program.Printed)
		}
		c.note("%s", errorLine(err))
	}
	if _, debug := c.lookup("BLIS_DEBUG"); debug && errors.As(err, &fault) {
		c.err.Write(fault.Stack)
	}
	return code
}

// exitCode is the exit code for an error of a command.
func exitCode(err error) int {
	var (
		fit       *latency.DoesNotFit
		input     *setup.InputError
		usage     *kong.ParseError
		path      *fs.PathError
		alone     *study.NoLoad
		answer    *answered
		cancelled = errors.Is(err, context.Canceled)
	)
	switch {
	case err == nil:
		return exitDone
	case cancelled:
		return exitInterrupted
	case errors.As(err, &fit):
		return exitFit
	case errors.As(err, &alone):
		return exitNoLoad
	case errors.As(err, &answer):
		return answer.code
	case errors.As(err, &path) && path.Op == "write": // a full disk is no fault of the input, even if it is help that goes there
		return exitCheck
	case errors.As(err, &input), errors.As(err, &usage), errors.As(err, &path):
		return exitInput
	}
	return exitCheck
}

// errorLine words an error as one line for a person.
func errorLine(err error) string {
	var (
		usage *kong.ParseError
		input *setup.InputError
	)
	if errors.As(err, &usage) {
		if err = errors.New(usageLine(usage)); errors.As(usage, &input) { // of a value from a file or variable
			err = input
		}
	}
	return report.ErrorLine(err)
}

// negative is what to say of --flag -3. The parser takes the value for a flag; as
// --flag=-3 it would reach the check of its range, which no number below 0
// passes, so that is said at once.
func negative(ctx *kong.Context, flag, value string) string {
	number := value
	if d, err := vtime.ParseDuration(strings.TrimPrefix(value, "-")); err == nil && d > 0 {
		number = "-1"
	}
	if x, err := strconv.ParseFloat(number, 64); err == nil && x < 0 && ctx != nil {
		for _, f := range ctx.Flags() {
			if f.Name == flag && f.Target.Kind() != reflect.String && f.Target.Kind() != reflect.Slice {
				return fmt.Sprintf("--%s is %s: want 0 or more", flag, value)
			}
		}
	}
	return fmt.Sprintf("--%s: %q looks like a flag; as a value it is written --%s=%s", flag, value, flag, value)
}

// usageLine is an error of the command line, with the nearest name for one
// that does not exist.
func usageLine(e *kong.ParseError) string {
	// The parser names a flag with its default, which here would read like the
	// value that was given.
	withDefault := regexp.MustCompile(`^--([a-z0-9-]+)=\S+: `)
	text := withDefault.ReplaceAllString(e.Error(), "--$1: ")
	// Of a value that it takes for a flag, and of none, it says what it is to itself.
	asFlag := regexp.MustCompile(`^--([a-z0-9-]+): expected \S+ value but got "(-.*)" \((?:short|long) flag\);.*$`)
	if parts := asFlag.FindStringSubmatch(text); parts != nil {
		text = negative(e.Context, parts[1], parts[2])
	}
	missing := regexp.MustCompile(`^--([a-z0-9-]+): expected \S+ value but got "EOL".*$`)
	text = missing.ReplaceAllString(text, "--$1: want a value behind it")
	argument := regexp.MustCompile(`^expected "<([a-z]+)>(?: \.\.\.)?"$`)
	text = argument.ReplaceAllString(text, "want an argument, <$1>; blis help COMMAND says what it is")
	number := regexp.MustCompile(`^--([a-z0-9-]+): expected an? (?:valid )?(?:[0-9]+ bit )?(int|uint|float) but got (".*")(?: \(\S+\))?$`)
	text = number.ReplaceAllStringFunc(text, func(all string) string {
		part := number.FindStringSubmatch(all)
		kind := map[string]string{"int": "a whole number", "uint": "a whole number from 0", "float": "a number"}[part[2]]
		return fmt.Sprintf("--%s: %s: want %s", part[1], part[3], kind)
	})
	if word, is := strings.CutPrefix(text, "unexpected argument "); is && e.Context != nil && e.Context.Command() == "" {
		text = "there is no command " + word
	}
	name, unknown := strings.CutPrefix(text, "unknown flag --")
	if !unknown || strings.Contains(name, "did you mean") || e.Context == nil {
		return text
	}
	var names []string
	for _, f := range e.Context.Flags() {
		names = append(append(names, f.Name), f.Aliases...)
	}
	if nearest := suggest.Nearest(name, names); nearest != "" {
		text += ", the nearest is --" + nearest
	}
	return text
}

// errorSchema names the form of an error in JSON; docs/error.schema.json
// describes it.
const errorSchema = "blis.error/v1"

// errorJSON is the JSON on standard output of a command that has no result.
type errorJSON struct {
	Schema   string  `json:"schema"`
	Kind     string  `json:"kind"`  // input, does_not_fit, no_load, interrupted or failure
	Field    *string `json:"field"` // the flag or setting that is wrong; null: no single one
	Message  string  `json:"message"`
	ExitCode int     `json:"exit_code"`
	Smallest *int    `json:"smallest_tp,omitempty"` // does_not_fit: at which it would, 0: at none
}

// wantsJSON reports whether a command line asks for a JSON result, whether or
// not it can be read.
func (c *console) wantsJSON(args []string) bool {
	format, _ := c.lookup(variable("format"))
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if value, ok := strings.CutPrefix(arg, "--format="); ok {
			format = value
		} else if arg == "--format" && i+1 < len(args) {
			format = args[i+1]
		}
	}
	return format == "json"
}

// counted is a writer that knows whether anything was written.
type counted struct {
	io.Writer
	any atomic.Bool // a command that was left alone may still write
}

// Write implements io.Writer.
func (w *counted) Write(p []byte) (int, error) {
	if len(p) > 0 {
		w.any.Store(true)
	}
	return w.Writer.Write(p)
}

// errorObject prints an error of a command that has printed no result.
func errorObject(w io.Writer, err error, message string) {
	e := errorJSON{Schema: errorSchema, Kind: "failure", Message: message, ExitCode: exitCode(err)}
	switch e.ExitCode {
	case exitInput:
		e.Kind = "input"
	case exitFit:
		e.Kind = "does_not_fit"
	case exitNoLoad:
		e.Kind = "no_load"
	case exitInterrupted:
		e.Kind = "interrupted"
	}
	program := (*script.Error)(nil) // which names a function where others name a field
	if field := fieldOf(message); field != "" && e.Kind == "input" && !errors.As(err, &program) {
		e.Field = &field
	}
	var fit *latency.DoesNotFit
	if errors.As(err, &fit) {
		e.Smallest = fit.Smallest
	}
	report.WriteIndented(w, e) // a writer that fails says nothing more here than on standard error
}

// fieldForms are the forms of messages that name a field, compiled when the
// first error needs them.
var fieldForms = sync.OnceValue(func() (forms []*regexp.Regexp) {
	for _, form := range []string{
		`^unknown flag --([a-z0-9-]+)`,
		`^\S+:\d+: unknown setting "([^"]+)"`,
		`^\S+:\d+: ([a-z][a-z0-9_.\[\]-]*): `,
		`^--[a-z0-9-]+: ([a-z][a-z_]*\.[a-z0-9_.-]+): `, // of a bundle: more exact than the flag
		`^--set ([a-z][a-z0-9_.-]*): `,
		`^--([a-z0-9-]+)[: ]`,
		`^BLIS_[A-Z0-9_]+: ([a-z0-9-]+): `,
	} {
		forms = append(forms, regexp.MustCompile(form))
	}
	return forms
})

// fieldOf is the flag or the setting that a message is about, empty if it names
// none or several.
func fieldOf(message string) string {
	for _, form := range fieldForms() {
		if m := form.FindStringSubmatch(message); m != nil {
			return m[1]
		}
	}
	return ""
}
