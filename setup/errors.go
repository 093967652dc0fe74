package setup

import "fmt"

// InputError is an error in the user's input: one line that says what is wrong,
// where, and what would be right. The command exits with 2 for it.
type InputError struct{ Text string }

// Error is that line.
func (e *InputError) Error() string { return e.Text }

func inputErrorf(format string, args ...any) error {
	return &InputError{fmt.Sprintf(format, args...)}
}
