package sweepfile

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"blis/actors"
	"blis/bundle"
	"blis/setup"
	"blis/study"
	"blis/yamldoc"
)

// Schema is the first field of a sweep file.
const Schema = "blis.sweep/v1"

// MaxBytes is the maximum length of a sweep file.
const MaxBytes = 16 << 20

// limits of the document. A bundle in it has limits of its own.
var limits = yamldoc.Options{Bytes: MaxBytes, Depth: 40, Name: 256, Columns: true}

// Reader reads what a sweep file names.
type Reader struct {
	// Base reads the settings of a file, as --config does, or of text with the lines that
	// it has in the file of that name.
	Base func(path string, text []byte) (setup.Config, error)

	// Bundle reads the bundle that an argument of blis compare stands for.
	Bundle func(argument string) (bundle.Bundle, error)
}

// Read reads a sweep file. Its errors are an *setup.InputError of one line, with file, line
// and column.
func (r *Reader) Read(path string, text []byte) (study.Sweep, error) {
	d := &document{Reader: r, path: path, sweep: study.NewSweep(setup.DefaultConfig())}
	root, err := yamldoc.Read(path, text, limits)
	if err == nil {
		err = d.read(root)
	}
	if err != nil {
		var input *setup.InputError
		if !errors.As(err, &input) {
			err = &setup.InputError{Text: err.Error()}
		}
		return study.Sweep{}, err
	}
	return d.sweep, nil
}

// document is a sweep file that is being read.
type document struct {
	*Reader
	path  string
	sweep study.Sweep
	axes  []axisPlaces
	named map[string]yamldoc.Place // other fields, for faults that Sweep.Check finds
}

// axisPlaces is where an axis and its values stand.
type axisPlaces struct {
	axis   yamldoc.Place
	values []yamldoc.Place
}

// fields of the document, in the order in which they are read.
var fields = []string{"schema", "lock", "base", "axes", "where", "replicates", "sample", "limits", "latency_per_point"}

func (d *document) fault(at yamldoc.Place, format string, args ...any) error {
	at.Line, at.Column = max(at.Line, 1), max(at.Column, 1)
	return at.Fault(d.path, format, args...)
}

func placeOf(field string, n *yamldoc.Node) yamldoc.Place {
	return yamldoc.Place{Field: field, Line: n.Line, Column: n.Column}
}

func (d *document) read(root *yamldoc.Node) error {
	if root == nil || root.Kind != yamldoc.Mapping {
		return d.fault(yamldoc.Place{}, "want a mapping with schema: %s, base and axes", Schema)
	}
	d.named = map[string]yamldoc.Place{}
	for i := range root.Members {
		m := &root.Members[i]
		at := yamldoc.Place{Field: m.Name, Line: m.Line, Column: m.Column}
		if !slices.Contains(fields, m.Name) {
			return d.fault(yamldoc.Place{Line: m.Line, Column: m.Column}, "%s", yamldoc.Unknown("field", m.Name, fields))
		}
		d.named[m.Name] = placeOf(m.Name, m.Value)
		if m.Value.Kind == yamldoc.Null {
			return d.fault(at, "has no value, want one or no %s", m.Name)
		}
	}
	if root.Get("schema") == nil {
		return d.fault(yamldoc.Place{Line: root.Line, Column: root.Column}, "schema is missing, want schema: %s", Schema)
	}
	readers := map[string]func(*yamldoc.Node) error{
		"schema": d.readSchema, "lock": d.readLock, "base": d.readBase, "axes": d.readAxes, "where": d.readWhere, "replicates": d.readReplicates,
		"sample": d.readSample, "limits": d.readLimits, "latency_per_point": d.readLatency,
	}
	for _, name := range fields { // axes need the base
		if n := root.Get(name); n != nil {
			if err := readers[name](n); err != nil {
				return err
			}
		}
	}
	return d.check()
}

// check is Sweep.Check with the place of the fault.
func (d *document) check() error {
	err := d.sweep.Check()
	var fault *study.SweepError
	if !errors.As(err, &fault) {
		return err
	}
	at := yamldoc.Place{}
	switch {
	case fault.Axis >= 0 && fault.Value >= 0 && fault.Value < len(d.axes[fault.Axis].values):
		at = d.axes[fault.Axis].values[fault.Value]
	case fault.Axis >= 0:
		at = d.axes[fault.Axis].axis
	default:
		at = d.placeOf(fault.Field)
	}
	at.Field = fault.Field
	return d.fault(at, "%s", fault.Problem)
}

// placeOf is where a field stands, or the field that it is in.
func (d *document) placeOf(field string) yamldoc.Place {
	for {
		if at, ok := d.named[field]; ok {
			return at
		}
		i := strings.LastIndexByte(field, '.')
		if i < 0 {
			return yamldoc.Place{}
		}
		field = field[:i]
	}
}

func (d *document) readSchema(n *yamldoc.Node) error {
	if n.Text != Schema {
		return d.fault(placeOf("schema", n), "%s: want %s", n.Describe(), Schema)
	}
	return nil
}

// readLock refuses the lock of another version. What else a lock says is in the rest of
// the file, or is compared by Open.
func (d *document) readLock(n *yamldoc.Node) error {
	for _, one := range []struct {
		name string
		now  int64
	}{{"semantics", actors.SemanticsVersion}, {"key_format", study.KeyFormat}} {
		v := n.Get(one.name)
		if v == nil {
			return d.fault(placeOf("lock", n), "has no %s, want a lock that blis sweep wrote", one.name)
		}
		if was, ok := v.Whole(); !ok || was != one.now {
			return d.fault(placeOf("lock."+one.name, v), "%s: the sweep is of another version of blis, this one has %d: want that one, or another folder", v.Describe(), one.now)
		}
	}
	return nil
}

func (d *document) readBase(n *yamldoc.Node) (err error) {
	switch n.Kind {
	case yamldoc.String:
		path := n.Text
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(d.path), path)
		}
		if d.sweep.Base, err = d.Base(path, nil); err != nil {
			return d.fault(placeOf("base", n), "%v", err)
		}
		return nil
	case yamldoc.Mapping:
		d.sweep.Base, err = d.Base(d.path, []byte(n.Format()))
		return err
	}
	return d.fault(placeOf("base", n), "%s: want the path of a file with settings, or settings", n.Describe())
}

func (d *document) readWhere(n *yamldoc.Node) error {
	if n.Kind != yamldoc.String && n.Kind != yamldoc.Bool {
		return d.fault(placeOf("where", n), "%s: want an expression like gpus <= 16", n.Describe())
	}
	d.sweep.Where = n.Text
	return nil
}

func (d *document) readReplicates(n *yamldoc.Node) error {
	v, err := d.whole("replicates", n)
	d.sweep.Replicates = int(v)
	return err
}

func (d *document) readLatency(n *yamldoc.Node) error {
	if n.Kind != yamldoc.Bool {
		return d.fault(placeOf("latency_per_point", n), "%s: want true or false", n.Describe())
	}
	d.sweep.LatencyPerPoint = n.Text == "true"
	return nil
}

func (d *document) whole(field string, n *yamldoc.Node) (int64, error) {
	v, ok := n.Whole()
	if !ok {
		return 0, d.fault(placeOf(field, n), "%s: want a whole number", n.Describe())
	}
	return v, nil
}

// members reads the fields of a mapping.
func (d *document) members(field string, n *yamldoc.Node, readers map[string]func(field string, n *yamldoc.Node) error, names ...string) error {
	if n.Kind != yamldoc.Mapping {
		return d.fault(placeOf(field, n), "%s: want a mapping with %s", n.Describe(), strings.Join(names, ", "))
	}
	for i := range n.Members {
		m := &n.Members[i]
		read := readers[m.Name]
		if read == nil {
			return d.fault(yamldoc.Place{Field: field, Line: m.Line, Column: m.Column}, "%s", yamldoc.Unknown("field", m.Name, names))
		}
		d.named[field+"."+m.Name] = placeOf(field+"."+m.Name, m.Value)
		if err := read(field+"."+m.Name, m.Value); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) readSample(n *yamldoc.Node) error {
	s := &d.sweep.Sample
	return d.members("sample", n, map[string]func(string, *yamldoc.Node) error{
		"method": func(_ string, n *yamldoc.Node) error {
			s.Method = study.SampleMethod(n.Text)
			return nil
		},
		"points": func(field string, n *yamldoc.Node) error {
			v, err := d.whole(field, n)
			s.Points = int(v)
			return err
		},
		"seed": func(field string, n *yamldoc.Node) error {
			seed, err := strconv.ParseUint(n.Text, 10, 64)
			if n.Kind != yamldoc.Number || err != nil {
				return d.fault(placeOf(field, n), "%s: want a whole number from 0", n.Describe())
			}
			s.Seed = seed
			return nil
		},
	}, "method", "points", "seed")
}

func (d *document) readLimits(n *yamldoc.Node) error {
	l := &d.sweep.Limits
	return d.members("limits", n, map[string]func(string, *yamldoc.Node) error{
		"points": func(field string, n *yamldoc.Node) (err error) {
			l.Points, err = d.whole(field, n)
			return err
		},
		"events": func(field string, n *yamldoc.Node) (err error) {
			l.Events, err = d.whole(field, n)
			return err
		},
		"wall": func(field string, n *yamldoc.Node) (err error) {
			if l.Wall, err = time.ParseDuration(n.Text); err != nil || l.Wall <= 0 {
				return d.fault(placeOf(field, n), "%s: want a duration like 60s", n.Describe())
			}
			return nil
		},
	}, "points", "wall", "events")
}
