package report

import (
	"errors"
	"strings"

	"blis/engine"
	"blis/lookahead"
	"blis/study"
)

// ErrorLine words an error as one line for a person. Of a fault it says where it
// was, and that it is a bug.
func ErrorLine(err error) string {
	var (
		fault    *lookahead.Fault
		livelock *engine.Livelock
		run      *study.RunError
	)
	if errors.As(err, &run) {
		return run.Name + ": " + ErrorLine(run.Err)
	}
	text := err.Error()
	switch {
	case errors.As(err, &fault) && errors.As(err, &livelock):
		text = fault.Process + " " + livelock.Error()
	case errors.As(err, &fault):
		text += "; this is a bug in BLIS: please report it with the output of the same command under BLIS_DEBUG=1"
	}
	if _, joined := err.(interface{ Unwrap() []error }); joined {
		text = strings.ReplaceAll(text, "\n", "; ")
	}
	return strings.Join(strings.Fields(text), " ")
}
