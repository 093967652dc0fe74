package loadgen

import (
	"fmt"
	"math"
	"strings"

	"blis/input/textio"
)

// latest is the latest time, in ns, and longest duration: sums of two fit.
const latest = 1 << 62

// reader reads one file. The values of a request are taken one after the other,
// and the first that is wrong is its fault; what is no JSON ends the reading.
type reader struct {
	*textio.JSON
	name    string
	options Options
	runs    []Run

	now   Request // that is being read
	place int     // of now in the lists of the file, from 1; 0: it has a line of its own
	fault error   // the first of now

	skipped int
	reason  error // the first
}

// run is the run that requests belong to, the last.
func (r *reader) run() *Run {
	if len(r.runs) == 0 {
		r.runs = append(r.runs, Run{})
	}
	return &r.runs[len(r.runs)-1]
}

// begin begins a request.
func (r *reader) begin() {
	r.Next() // moves to the line of the value; an error comes again
	r.now = Request{Start: Unknown, Input: Unknown, Output: Unknown, TTFT: Unknown, E2E: Unknown, Line: r.Line()}
	r.fault = nil
}

// wrong makes a value the fault of the request, unless there is one.
func (r *reader) wrong(field, value, want string, args ...any) {
	if r.fault == nil {
		r.fault = r.Bad(r.at(field), value, want, args...)
	}
}

// at is a field of the request, for errors.
func (r *reader) at(field string) string {
	if r.place == 0 {
		return field
	}
	return fmt.Sprintf("request %d: %s", r.place, field)
}

// missing makes the lack of a value the fault of the request.
func (r *reader) missing(field, want string) {
	if r.fault == nil {
		r.fault = fmt.Errorf("%s:%d: %s: not there: want %s", r.name, r.now.Line, r.at(field), want)
	}
}

// end checks the request and takes it.
func (r *reader) end() error {
	q := &r.now
	if q.State == Completed {
		switch {
		case q.Input == Unknown:
			r.missing("tokens of the prompt", "their number, from 1")
		case q.Input == 0:
			r.wrong("tokens of the prompt", "0", "from 1 to %d", math.MaxInt32)
		case q.Output == Unknown:
			r.missing("tokens of the answer", "their number, from 0")
		case q.TTFT != Unknown && q.E2E != Unknown && q.TTFT > q.E2E:
			r.wrong("time to the first token", seconds(q.TTFT), "at most %s, that to the last", seconds(q.E2E))
		}
	}
	if r.fault != nil {
		if r.options.Skip == nil {
			return r.fault
		}
		r.options.Skip(r.fault)
		if r.skipped == 0 {
			r.reason = r.fault
		}
		r.skipped++
		return nil
	}
	run := r.run()
	if len(run.Requests) == maxRequests {
		return fmt.Errorf("%s:%d: want at most %d requests", r.name, q.Line, maxRequests)
	}
	run.Requests = append(run.Requests, *q)
	return nil
}

// seconds prints nanoseconds.
func seconds(ns int64) string { return fmt.Sprintf("%d.%09d s", ns/1e9, ns%1e9) }

// number is the text of the number that comes next; empty for null, and for
// what is no number, which is a fault.
func (r *reader) number(field, want string) (string, error) {
	c, err := r.Next()
	if err != nil {
		return "", r.cut(err)
	}
	switch c {
	case '{', '[', '"', 't', 'f':
		r.wrong(field, map[byte]string{'{': "an object", '[': "a list", '"': "a string", 't': "true", 'f': "false"}[c], "%s", want)
		return "", r.Skip()
	}
	text, err := r.Number(field)
	return string(text), err
}

// cut is the error of a text that ends within a value.
func (r *reader) cut(err error) error {
	return fmt.Errorf("%s: after line %d: the data end too early: want the whole file", r.name, r.Line())
}

// time is the time or duration that comes next, a decimal number in units of
// 10^-digits s, in nanoseconds; Unknown for null.
func (r *reader) time(field string, digits int) (int64, error) {
	unit := map[int]string{0: "seconds", 3: "milliseconds", 6: "microseconds", 9: "nanoseconds"}[digits]
	text, err := r.number(field, unit)
	if err != nil || text == "" {
		return Unknown, err
	}
	ns, ok := textio.Scaled(text, 9-digits, latest)
	if !ok {
		r.wrong(field, text, "%s from 0 to %d", unit, int64(latest/pow10(9-digits)))
		return Unknown, nil
	}
	return ns, nil
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// count is the number of tokens that comes next; Unknown for null.
func (r *reader) count(field string) (int32, error) {
	text, err := r.number(field, "a number of tokens")
	if err != nil || text == "" {
		return Unknown, err
	}
	if whole, decimals, _ := strings.Cut(text, "."); strings.Trim(decimals, "0") == "" {
		text = whole // 374.0, as Python has it
	}
	n, ok := textio.Whole(text, 0, math.MaxInt32)
	if !ok {
		r.wrong(field, text, "a whole number from 0 to %d", math.MaxInt32)
		return Unknown, nil
	}
	return int32(n), nil
}

// fields reads the object that comes next, the values at the keys given; others
// are passed over. What is no object, but for null, is a fault.
func (r *reader) fields(field string, take func(key string) (taken bool, err error)) error {
	c, err := r.Next()
	if err != nil {
		return r.cut(err)
	}
	if c != '{' && c != 'n' {
		r.wrong(field, "no object", "an object")
		return r.Skip()
	}
	return r.Object(field, func(key []byte) error {
		taken, err := take(string(key))
		if taken || err != nil {
			return err
		}
		return r.Skip()
	})
}

// failure looks at what stands behind error: any value but null means that the
// request failed. The value is left to be passed over.
func (r *reader) failure() error {
	c, err := r.Next()
	if err == nil && c != 'n' {
		r.now.State = Failed
	}
	return err
}

// list reads the list that comes next. What is none, but for null, is a fault.
func (r *reader) list(field string, each func(i int) error) error {
	c, err := r.Next()
	if err != nil {
		return r.cut(err)
	}
	if c != '[' && c != 'n' {
		r.wrong(field, "no list", "a list")
		return r.Skip()
	}
	return r.List(field, each)
}

// string is the text of the string that comes next; empty for null, and for what
// is no string, which is a fault.
func (r *reader) string(field string) (string, error) {
	c, err := r.Next()
	if err != nil {
		return "", r.cut(err)
	}
	if c != '"' && c != 'n' {
		r.wrong(field, "no string", "a string")
		return "", r.Skip()
	}
	text, _, err := r.Text(field)
	return text, err
}

// since is to − from; Unknown where one of them is.
func since(from, to int64) int64 {
	if from == Unknown || to == Unknown || to < from {
		return Unknown
	}
	return to - from
}
