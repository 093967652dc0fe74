package servegen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"blis/suggest"
)

// period is one window of a dataset file: the lengths from start to the start
// of the next. Neighbours with equal lengths share their tables.
type period struct {
	line          int
	start, end    int64  // s
	input, output *table // nil: none
}

// The keys of a period. The share of the reasoning in the output changes no
// number of tokens: it is read, and not used.
const (
	inputKey  = "input_tokens"
	outputKey = "output_tokens"
	ratioKey  = "reason_ratio"
)

var periodKeys = []string{inputKey, outputKey, ratioKey}

// document reads a JSON text token by token and knows where it is.
type document struct {
	name    string
	text    []byte
	decoder *json.Decoder
	counted int // bytes in which lines were counted
	line    int // of the last token, from 1
	dict    literal
}

// parseDataset reads the periods of a dataset file, which ascend, and says
// whether there are shares of reasoning.
func parseDataset(name string, text []byte) (all []period, reasons bool, err error) {
	d := &document{name: name, text: text, decoder: json.NewDecoder(bytes.NewReader(text)), line: 1}
	if err := d.open("an object {start of a window: lengths, …}"); err != nil {
		return nil, false, err
	}
	var last values // of the period before
	for {
		start, more, err := d.key()
		if err != nil {
			return nil, false, err
		}
		if !more {
			break
		}
		p := period{line: d.line}
		var ok bool
		if p.start, ok = seconds(start); !ok {
			return nil, false, d.bad("window", quote(start), "a whole number of seconds from 0 to %d", maxStart)
		}
		if n := len(all); n > 0 && p.start <= all[n-1].start {
			return nil, false, d.bad("window", quote(start), "more than %d of line %d: windows ascend and do not overlap", all[n-1].start, all[n-1].line)
		}
		texts, err := d.period(start)
		if err != nil {
			return nil, false, err
		}
		if err := d.tables(start, &p, texts, last, all); err != nil {
			return nil, false, err
		}
		last, all, reasons = texts, append(all, p), reasons || texts.has[2]
	}
	if err := d.end(); err != nil {
		return nil, false, err
	}
	if len(all) == 0 {
		return nil, false, fmt.Errorf("%s: no windows: want an object {start of a window: lengths, …}", name)
	}
	closePeriods(all)
	return all, reasons, nil
}

// closePeriods sets the ends. The last of several lasts as long as is usual, a
// single one for ever.
func closePeriods(all []period) {
	starts := make([]int64, len(all))
	for i := range all {
		starts[i] = all[i].start
	}
	for i := range all[:len(all)-1] {
		all[i].end = starts[i+1]
	}
	all[len(all)-1].end = starts[len(all)-1] + width(starts, 2*maxStart)
}

// values are the texts of the keys of one period, in the order of periodKeys.
type values struct {
	text [3]string
	has  [3]bool
}

// period reads the object of one window.
func (d *document) period(start string) (v values, err error) {
	at := fmt.Sprintf("window %s", start)
	if err := d.open("an object {\"%s\": …, \"%s\": …} for window %s", inputKey, outputKey, start); err != nil {
		return v, err
	}
	for {
		name, more, err := d.key()
		if err != nil {
			return v, err
		}
		if !more {
			break
		}
		i := slices.Index(periodKeys, name)
		if i < 0 {
			return v, d.bad(at, quote(name), "one of the keys %s%s", strings.Join(periodKeys, ", "), suggest.Hint(name, periodKeys))
		}
		if v.has[i] {
			return v, d.bad(at, quote(name), "this key once")
		}
		t, err := d.token()
		if err != nil {
			return v, err
		}
		text, ok := t.(string)
		if !ok {
			return v, d.bad(at+": "+name, show(t), "a dictionary in a string")
		}
		v.text[i], v.has[i] = text, true
	}
	for i, name := range periodKeys[:2] {
		if !v.has[i] {
			return v, fmt.Errorf("%s:%d: %s: there is no %s: want %s and %s", d.name, d.line, at, name, inputKey, outputKey)
		}
	}
	return v, nil
}

// tables reads the dictionaries of a period. Where a text equals the text of the
// period before, the table is reused.
func (d *document) tables(start string, p *period, v, last values, before []period) error {
	parse := func(i int, read key, want string) error {
		if err := d.dict.parse(v.text[i], read, want); err != nil {
			return fmt.Errorf("%s:%d: window %s: %s: %w", d.name, p.line, start, periodKeys[i], err)
		}
		return nil
	}
	same := func(i int) bool { return last.has[i] && v.text[i] == last.text[i] }
	if same(0) {
		p.input = before[len(before)-1].input
	} else if err := parse(0, lengths(1), tokensFrom1); err != nil {
		return err
	} else {
		p.input = d.dict.table()
	}
	if same(1) {
		p.output = before[len(before)-1].output
	} else if err := parse(1, lengths(0), tokensFrom0); err != nil {
		return err
	} else {
		p.output = d.dict.table()
	}
	if v.has[2] && !same(2) {
		return parse(2, shares, "a share from 0 to 1")
	}
	return nil
}

var (
	tokensFrom1 = fmt.Sprintf("a whole number of tokens from 1 to %d", longest)
	tokensFrom0 = fmt.Sprintf("a whole number of tokens from 0 to %d", longest)
)

// token is the next token; the end of the text is an error.
func (d *document) token() (json.Token, error) {
	t, err := d.decoder.Token()
	d.locate(int(d.decoder.InputOffset()))
	if err == nil {
		return t, nil
	}
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		d.locate(int(syntax.Offset))
		return nil, fmt.Errorf("%s:%d: want JSON: %w", d.name, d.line, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		d.locate(len(d.text))
		return nil, fmt.Errorf("%s:%d: the JSON ends too early; want the whole file", d.name, d.line)
	}
	return nil, fmt.Errorf("%s:%d: want JSON: %w", d.name, d.line, err)
}

// locate counts lines up to a byte.
func (d *document) locate(offset int) {
	if offset = min(offset, len(d.text)); offset > d.counted {
		d.line += bytes.Count(d.text[d.counted:offset], []byte("\n"))
		d.counted = offset
	}
}

// open takes the beginning of an object.
func (d *document) open(want string, args ...any) error {
	t, err := d.token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return d.bad("JSON", show(t), want, args...)
	}
	return nil
}

// key takes the next key of an object; false at its end.
func (d *document) key() (string, bool, error) {
	t, err := d.token()
	if err != nil {
		return "", false, err
	}
	name, ok := t.(string) // the decoder lets nothing else through, but for }
	return name, ok, nil
}

// end makes sure that nothing follows.
func (d *document) end() error {
	if _, err := d.decoder.Token(); err != io.EOF {
		d.locate(int(d.decoder.InputOffset()))
		return fmt.Errorf("%s:%d: want nothing after the object", d.name, d.line)
	}
	return nil
}

func (d *document) bad(where, value, want string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: %s: want %s", d.name, d.line, where, value, fmt.Sprintf(want, args...))
}

// show prints a token that is not a string that was expected.
func show(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case string:
		return quote(t)
	}
	return fmt.Sprint(t)
}
