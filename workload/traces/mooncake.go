package traces

import (
	"bytes"
	"fmt"
	"math"

	"blis/workload"
)

// mooncakeReader reads the Mooncake traces: one JSON object a line with
// timestamp (ms), input_length, output_length and hash_ids. Each id names the
// content of the next blockSize tokens of the prompt, the last one of what is
// left of it; tokens that no id covers are the request's own, and so is a prompt
// without hash_ids, as of rows that were made anonymous. Other keys are ignored; of a key given twice the last counts, as usual in JSON.
type mooncakeReader struct {
	*lines
	blockSize int64
	values    [mooncakeKeys][]byte

	rows, without int // rows, and rows without hash_ids
}

// Places of the known keys in the values of a line.
const (
	mooncakeTime = iota
	mooncakeInput
	mooncakeOutput
	mooncakeHashes
	mooncakeKeys
)

var mooncakeNames = []string{"timestamp", "input_length", "output_length", "hash_ids"}

func (m *mooncakeReader) begin() (optional, error) { return optional{spans: true}, nil }

func (m *mooncakeReader) parse(line []byte, r *row) error {
	values := &m.values
	if err := m.object(line, mooncakeNames, values[:]); err != nil {
		return err
	}
	for k, v := range values[:mooncakeHashes] {
		if v == nil {
			return m.bad(mooncakeNames[k], nil, "this key in every line")
		}
	}
	if m.rows++; values[mooncakeHashes] == nil {
		values[mooncakeHashes] = []byte("null")
		m.without++
	}
	ms := values[mooncakeTime]
	us, ok := scaled(ms, 3, uint64(workload.Latest))
	if !ok {
		return m.bad(mooncakeNames[mooncakeTime], ms, "milliseconds from 0 to %d, without exponent", workload.Latest/1000)
	}
	r.arrival = int64(us)
	if err := m.lengths(r, mooncakeNames[mooncakeInput], values[mooncakeInput], mooncakeNames[mooncakeOutput], values[mooncakeOutput]); err != nil {
		return err
	}
	return m.hashes(values[mooncakeHashes], r)
}

// notes implements noting.
func (m *mooncakeReader) notes() []string {
	if m.without == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d rows have no hash_ids: their prompts share nothing with others", m.without, m.rows)}
}

// hashes turns the ids of a line into spans.
func (m *mooncakeReader) hashes(list []byte, r *row) error {
	column := mooncakeNames[mooncakeHashes]
	if string(list) == "null" {
		return nil
	}
	if len(list) < 2 || list[0] != '[' || list[len(list)-1] != ']' {
		return m.bad(column, list, "a list of ids, [] for none")
	}
	left := int64(r.input)
	for rest, more := blanks(list[1:len(list)-1]), true; more && len(rest) > 0; {
		var text []byte
		text, rest, more = bytes.Cut(rest, []byte(","))
		// Id 0 exists, content 0 does not.
		id, ok := whole(trimJSON(text), 0, math.MaxUint64-1)
		if !ok {
			return m.bad(column, trimJSON(text), "whole numbers from 0 to %d", uint64(math.MaxUint64-1))
		}
		if left == 0 {
			return m.bad(column, list, "at most %d ids of %d tokens for input_length %d", len(r.spans), m.blockSize, r.input)
		}
		n := min(left, m.blockSize)
		r.spans = append(r.spans, workload.Span{Content: workload.ContentID(id) + 1, Length: int32(n)})
		left -= n
	}
	return nil
}
