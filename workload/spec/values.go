package spec

import (
	"errors"
	"io"
	"strings"

	"blis/vtime"
	"blis/workload"
	"blis/workload/traces"
	"blis/yamldoc"
)

// loaded is d with the values of its file, which is read once.
func (w *draws) loaded(d *distribution) *distribution {
	if !d.file.set || d.values != nil {
		return d
	}
	if known := w.files[d]; known != nil {
		return known
	}
	full := *d
	if w.readValues(&full); w.ok() {
		w.files[d] = &full
	}
	return &full
}

// readValues fills an empirical distribution from its file: a value on each
// line, or a value, a comma and its weight. Empty lines and lines that begin
// with # are left out.
func (w *draws) readValues(d *distribution) {
	path := w.spec.path(d.file.value)
	content, err := readFile(path)
	if err != nil {
		w.fail(d.file.place, "%v", err)
		return
	}
	in := &faults{file: path}
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		value, weight, weighted := strings.Cut(line, ",")
		w := 1.0
		if weighted {
			w = in.parseNumber(yamldoc.Word(strings.TrimSpace(weight), i+1), place{Line: i + 1, Field: "weight"}, 0, 1e300, "a weight from 0")
		}
		d.add(in.scaled(yamldoc.Word(strings.TrimSpace(value), i+1), place{Line: i + 1, Field: "value"}, d.measure, d.measure.least), w)
		if !in.ok() {
			break
		}
	}
	if len(d.values) == 0 {
		in.fail(place{}, "no values, want one on each line")
	}
	d.finish(in, place{})
	if err := in.err(); err != nil {
		w.fail(d.file.place, "%v", err)
	}
}

// arrivals are the times of a client whose process is a trace.
func (w *draws) arrivals(a *arrival) []vtime.Time {
	if !a.file.set {
		return a.times
	}
	trace, err := traces.OpenFile(w.spec.path(a.file.value), traces.Options{})
	if err != nil {
		w.fail(a.file.place, "%v", err)
		return nil
	}
	times := make([]vtime.Time, 0, trace.Remaining())
	var r workload.Request
	for {
		more, err := trace.Pull(&r)
		if err != nil {
			w.fail(a.file.place, "%v", err)
		}
		if err != nil || !more {
			return times
		}
		times = append(times, r.Arrival)
	}
}

// readAll reads what is not longer than a specification may be.
func readAll(r io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, int64(limits.Bytes)+1))
	if err == nil && len(content) > limits.Bytes {
		err = errors.New("the file is longer than 32 MiB")
	}
	return content, err
}
