package traces

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// simFields is what of the YAML header of the public simulator's traces says
// how the rows are meant. Its other keys tell where the trace comes from and
// what was wanted of the server.
type simFields struct {
	accumulate bool // session_context_growth: accumulate
}

// headerLines bounds a header; those that exist have some ten lines.
const headerLines = 10000

// readHeader reads a header, as the public simulator writes it: keys at the
// start of a line, with a plain or quoted value behind them or lines of their
// own, indented, below. It reports false when the text has no trace_version:
// then it is some other YAML file.
func readHeader(text *lines) (*simFields, bool, error) {
	var h simFields
	version := false
	for {
		line, err := text.next()
		if errors.Is(err, io.EOF) {
			return &h, version, nil
		}
		if err != nil {
			return nil, false, err
		}
		if text.number > headerLines {
			return nil, false, fmt.Errorf("%s:%d: want a header of at most %d lines", text.name, text.number, headerLines)
		}
		if bytes.IndexByte([]byte(" \t#-}]"), line[0]) >= 0 || string(line) == "..." {
			continue
		}
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return nil, false, text.bad("header", line, "key: value")
		}
		found, err := h.set(text, string(trim(key)), scalar(value))
		if err != nil {
			return nil, false, err
		}
		version = version || found
	}
}

// set takes one key of the header and reports whether it was the version.
func (h *simFields) set(text *lines, key string, value []byte) (version bool, err error) {
	switch key {
	case "trace_version":
		if s := string(value); s != "2" && s != "3" {
			return true, text.bad(key, value, "2 or 3")
		}
		return true, nil
	case "time_unit":
		if s := string(value); s != "microseconds" && s != "us" {
			return false, text.bad(key, value, "microseconds (us)")
		}
	case "session_context_growth":
		switch string(value) {
		case "":
		case "accumulate":
			h.accumulate = true
		default:
			return false, text.bad(key, value, "accumulate, or nothing")
		}
	}
	return false, nil
}

// scalar is a YAML value on one line, without quotes and comment.
func scalar(value []byte) []byte {
	value = trim(value)
	if len(value) > 0 && (value[0] == '"' || value[0] == '\'') {
		if end := bytes.IndexByte(value[1:], value[0]); end >= 0 {
			return value[1 : end+1]
		}
	}
	if i := bytes.Index(value, []byte(" #")); i >= 0 {
		value = trim(value[:i])
	}
	if len(value) > 0 && value[0] == '#' {
		return nil
	}
	return value
}

// rowsBeside reads text, a header, and opens the rows that belong to it.
func (t *Trace) rowsBeside(text *lines, beside sibling) (*lines, error) {
	h, _, err := readHeader(text)
	if err != nil {
		return nil, err
	}
	const want = "%s: the header of a trace of format %s: want the CSV file of the same name beside it"
	if beside == nil {
		return nil, fmt.Errorf(want, text.name, InferenceSim)
	}
	name, rows, err := beside(".csv", ".csv.gz")
	if err != nil {
		return nil, err
	}
	if rows == nil {
		return nil, fmt.Errorf(want, text.name, InferenceSim)
	}
	t.format, t.header = InferenceSim, h
	opened, err := openLines(name, rows)
	if err == nil {
		opened.ignore = text.ignore
	}
	return opened, err
}

// headerBeside reads the header that lies beside the rows, if one does.
func (t *Trace) headerBeside(beside sibling) error {
	if beside == nil {
		return nil
	}
	name, r, err := beside(".yaml", ".yml")
	if err != nil || r == nil {
		return err
	}
	text, err := openLines(name, r)
	if err != nil {
		return err
	}
	if guess(text) != simHeader {
		return nil // a YAML file of another kind
	}
	h, _, err := readHeader(text)
	t.header = h
	return err
}
