package cli

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"blis/latency"
	"blis/report"
)

// errorSchema names the form of an error in JSON; docs/error.schema.json
// describes it.
const errorSchema = "blis.error/v1"

// errorJSON is what stands on standard output in place of a JSON result that
// there is none of.
type errorJSON struct {
	Schema   string  `json:"schema"`
	Kind     string  `json:"kind"`  // input, does_not_fit, interrupted or failure
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
	case exitInterrupted:
		e.Kind = "interrupted"
	}
	if field := fieldOf(message); field != "" && e.Kind == "input" {
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
