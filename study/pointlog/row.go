package pointlog

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"
)

// Schema is the first field of every line.
const Schema = "blis.point/v1"

// MaxLine is the maximum number of bytes of a line, its newline included.
const MaxLine = 1 << 20

// Key identifies a point: equal keys are one point, run once. In text it is 32
// lower-case hexadecimal digits.
type Key [16]byte

// String is the key in hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ParseKey reads a key as String writes it.
func ParseKey(text string) (Key, error) {
	var k Key
	if len(text) != 2*len(k) {
		return k, fmt.Errorf("key %q has %d digits, want %d", text, len(text), 2*len(k))
	}
	if _, err := hex.Decode(k[:], []byte(text)); err != nil || k.String() != text {
		return Key{}, fmt.Errorf("key %q is not in lower-case hexadecimal digits", text)
	}
	return k, nil
}

// Status says how a point ended.
type Status string

// The statuses. A refused point is one that `blis run` would refuse.
const (
	OK      Status = "ok"
	Refused Status = "refused"
	Failed  Status = "failed"
)

// Cause says why a point failed.
type Cause string

// The causes. Error, Panic and Events are properties of the point: it would fail
// in the same way again. Wall and Killed depend on the machine.
const (
	Error  Cause = "error"
	Panic  Cause = "panic"
	Events Cause = "events"
	Wall   Cause = "wall"
	Killed Cause = "killed"
)

// Coordinate is the value of a point on one axis.
type Coordinate struct {
	Axis  string
	Value json.RawMessage // a JSON string, number, true or false, as it is to be printed
}

// Measured is the value of one measure.
type Measured struct {
	Name  string
	Value *float64 // finite; nil where it could not be measured: Row.Reasons says why
}

// Row is one line: what came of a point. Fields stand in a line in this order.
// All but Stack and WallS are functions of the point alone, or the sorted file
// would not be the same on every machine.
type Row struct {
	Key            Key
	Index          int64        // of the point in the sweep, from 0; the first one where points are equal
	Axes           []Coordinate // in the order of the sweep file; names differ
	Seed           uint64
	WorkloadSeed   *uint64 // nil where it was not set
	Status         Status
	Cause          Cause  // of a failed row, else empty
	Error          string // of a refused or failed row, else empty
	Stack          string // of a panic, else empty
	Digest         string // of a run that ended; an ok row has one
	Version        int    // of the semantics, at least 1
	LatencyModel   string
	CoefficientSet string
	Measures       []Measured        // names differ
	Reasons        map[string]string // why a measure is nil; one for each that is, and no other
	WallS          float64           // seconds that the run took; not in the sorted file
}

// Done reports whether the row stands when a sweep is resumed. A row that ended
// by Wall or Killed does not; with retryFailed no failed row does.
func (r *Row) Done(retryFailed bool) bool { return outcomeOf(r).done(retryFailed) }

// distinctNames are lists of names that are known to differ from each other: rows of a
// sweep have the same ones. The zero value knows none, and nil neither learns.
type distinctNames struct{ axes, measures []string }

// check reports what is wrong with a row, whoever made it.
func (r *Row) check(known *distinctNames) error {
	if known == nil {
		known = new(distinctNames)
	}
	if r.Index < 0 {
		return fmt.Errorf("index is %d, want at least 0", r.Index)
	}
	if r.Version < 1 {
		return fmt.Errorf("version is %d, want at least 1", r.Version)
	}
	if !finite(r.WallS) {
		return fmt.Errorf("wall_s is %v, want a finite number", r.WallS)
	}
	if err := r.checkStatus(); err != nil {
		return err
	}
	if err := checkAxes(r.Axes, known); err != nil {
		return err
	}
	return r.checkMeasures(known)
}

func checkAxes(list []Coordinate, known *distinctNames) error {
	if i := repeated(&known.axes, len(list), func(i int) string { return list[i].Axis }); i >= 0 {
		return fmt.Errorf("axis %q occurs twice", list[i].Axis)
	}
	for _, c := range list {
		if !utf8.ValidString(c.Axis) {
			return fmt.Errorf("axis %q is not UTF-8", c.Axis)
		}
		if !scalar(c.Value) {
			return fmt.Errorf("axis %q has the value %q, want a JSON string, number, true or false", c.Axis, c.Value)
		}
	}
	return nil
}

func (r *Row) checkStatus() error {
	switch r.Status {
	case OK:
		if r.Digest == "" {
			return fmt.Errorf("status is ok and there is no digest")
		}
	case Refused:
	case Failed:
		switch r.Cause {
		case Error, Panic, Events, Wall, Killed:
		default:
			return fmt.Errorf("cause is %q, want error, panic, events, wall or killed", r.Cause)
		}
	default:
		return fmt.Errorf("status is %q, want ok, refused or failed", r.Status)
	}
	if (r.Error == "") != (r.Status == OK) {
		return fmt.Errorf("status is %s and the error is %q: want an error unless ok", r.Status, r.Error)
	}
	if r.Cause != "" && r.Status != Failed {
		return fmt.Errorf("status is %s and cause is %s: only failed rows have a cause", r.Status, r.Cause)
	}
	if r.Stack != "" && r.Cause != Panic {
		return fmt.Errorf("there is a stack and no panic")
	}
	return nil
}

func (r *Row) checkMeasures(known *distinctNames) error {
	if i := repeated(&known.measures, len(r.Measures), func(i int) string { return r.Measures[i].Name }); i >= 0 {
		return fmt.Errorf("measure %q occurs twice", r.Measures[i].Name)
	}
	null := 0
	for _, m := range r.Measures {
		if !utf8.ValidString(m.Name) {
			return fmt.Errorf("measure %q is not UTF-8", m.Name)
		}
		if m.Value == nil {
			null++
			if r.Reasons[m.Name] == "" {
				return fmt.Errorf("measure %q is null and reasons does not say why", m.Name)
			}
		} else if !finite(*m.Value) {
			return fmt.Errorf("measure %q is %v: want null and a reason", m.Name, *m.Value)
		}
	}
	if len(r.Reasons) != null {
		return fmt.Errorf("reasons has %d entries, want %d, one for each measure that is null", len(r.Reasons), null)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// repeated is the position of a name that occurred before, or -1. A list that has none
// replaces the known one.
func repeated(known *[]string, n int, name func(int) string) int {
	same := n == len(*known)
	for i := 0; same && i < n; i++ {
		same = (*known)[i] == name(i)
	}
	if same {
		return -1
	}
	seen := make(map[string]bool, n)
	list := make([]string, n)
	for i := range n {
		if list[i] = name(i); seen[list[i]] {
			return i
		}
		seen[list[i]] = true
	}
	*known = list
	return -1
}

// Value is the value of a measure, nil where there is none.
func (r *Row) Value(measure string) *float64 {
	for i := range r.Measures {
		if r.Measures[i].Name == measure {
			return r.Measures[i].Value
		}
	}
	return nil
}
