package spec

import "blis/yamldoc"

// Error is a fault in a specification.
type Error = yamldoc.Error

// place is where something stands in a specification.
type place = yamldoc.Place

// faults keeps the first fault of a specification. What is read after it is
// not used, so that readers need no error of their own.
type faults struct {
	file  string
	first *Error
}

// fail takes note of a fault, unless there is one already.
func (f *faults) fail(at place, format string, args ...any) {
	if f.first == nil {
		f.first = at.Fault(f.file, format, args...)
	}
}

// ok reports whether there is no fault so far.
func (f *faults) ok() bool { return f.first == nil }

// err is the first fault as an error, nil when there is none.
func (f *faults) err() error {
	if f.first == nil {
		return nil
	}
	return f.first
}
