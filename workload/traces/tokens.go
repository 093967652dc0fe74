package traces

import (
	"math"
	"slices"
)

// tokensReader reads traces with the ids of all tokens: one JSON object a line
// with input_toks, output_toks, arrival_time_ns, input_tok_ids and, if wanted,
// output_tok_ids. Other keys are ignored. Equal ids in equal places from the
// start are equal content: see chains. The ids are held until all rows are
// read, 4 bytes each, and dropped then.
type tokensReader struct {
	*lines
	values [tokensKeys][]byte
	ids    []uint32   // of the row being parsed
	rows   [][]uint32 // of each row: of the input, then of the output if it has ids
}

// Places of the known keys in the values of a line.
const (
	tokensTime = iota
	tokensInput
	tokensOutput
	tokensInputIDs
	tokensOutputIDs
	tokensKeys
)

var tokensNames = []string{"arrival_time_ns", "input_toks", "output_toks", "input_tok_ids", "output_tok_ids"}

func (k *tokensReader) begin() (optional, error) {
	return optional{spans: true, outputContent: true}, nil
}

func (k *tokensReader) parse(line []byte, r *row) error {
	if err := k.object(line, tokensNames, k.values[:]); err != nil {
		return err
	}
	for i, v := range k.values[:tokensOutputIDs] {
		if v == nil {
			return k.bad(tokensNames[i], nil, "this key in every line")
		}
	}
	ns, ok := whole(k.values[tokensTime], 0, math.MaxInt64)
	if !ok {
		return k.bad(tokensNames[tokensTime], k.values[tokensTime], "whole nanoseconds from 0 to %d", int64(math.MaxInt64))
	}
	r.arrival = int64(ns)
	if err := k.lengths(r, tokensNames[tokensInput], k.values[tokensInput], tokensNames[tokensOutput], k.values[tokensOutput]); err != nil {
		return err
	}
	k.ids = k.ids[:0]
	if err := k.list(tokensInputIDs, tokensInput, int(r.input)); err != nil {
		return err
	}
	if v := k.values[tokensOutputIDs]; v != nil && string(v) != "null" {
		if err := k.list(tokensOutputIDs, tokensOutput, int(r.output)); err != nil {
			return err
		}
	}
	k.rows = append(k.rows, slices.Clone(k.ids))
	return nil
}

// list parses the list of ids under one key, of which there are as many as the
// other key says.
func (k *tokensReader) list(key, length, want int) error {
	text, before := k.values[key], len(k.ids)
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		return k.bad(tokensNames[key], text, "a list of token ids")
	}
	rest := blanks(text[1 : len(text)-1])
	for len(rest) > 0 {
		n := 0
		for n < len(rest) && rest[n] != ',' {
			n++
		}
		id, ok := whole(trimJSON(rest[:n]), 0, math.MaxUint32)
		if !ok {
			return k.bad(tokensNames[key], trimJSON(rest[:n]), "token ids, whole numbers from 0 to %d", uint32(math.MaxUint32))
		}
		k.ids = append(k.ids, uint32(id))
		if n == len(rest) {
			break
		}
		rest = rest[n+1:]
	}
	if got := len(k.ids) - before; got != want {
		return k.bad(tokensNames[key], text, "as many ids as %s says, %d, not %d", tokensNames[length], want, got)
	}
	return nil
}

// finish names the contents, when all rows are known and in order of arrival.
func (k *tokensReader) finish(t *table) error {
	c := newChains()
	for place := range t.rows() {
		i := t.at(place)
		ids := k.rows[i]
		prompt, output := ids[:t.input[i]], ids[t.input[i]:]
		spans, end := c.prompt(int32(i), prompt)
		t.spans[i] = t.keep(spans)
		if len(output) > 0 {
			t.outputContent[i] = c.output(int32(i), end, output)
		}
	}
	for i := range t.rows() {
		if !c.continued(t.outputContent[i]) {
			t.outputContent[i] = 0
		}
		c.trim(int32(i), t)
	}
	k.rows = nil
	return nil
}
