package evaluator

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"blis/setup"
	"blis/study/evaluate"
)

// order is a line of a batch: a candidate to evaluate.
type order struct {
	ID        json.RawMessage `json:"id"`        // given back as it is
	Policy    json.RawMessage `json:"policy"`    // text, or components by name
	File      string          `json:"file"`      // name of the file that policy is from; may be empty
	Scenarios []string        `json:"scenarios"` // not given: those of the options
}

// longestLine is how long a line of a batch can be, in bytes.
const longestLine = 1 << 20

// Batch evaluates candidates, one per line of in, side by side, and writes their answers to out in the
// order of the lines, each as soon as it and all before it are there. A line that is no candidate has
// an answer too: one with an error of kind input. done, if not nil, is called after each answer. The errors are those of in, of
// out and of ctx; answers before it are written.
func (e *Evaluator) Batch(ctx context.Context, in io.Reader, out io.Writer, done func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan chan batchAnswer, 4*e.Children) // of the lines in their order
	read := make(chan error, 1)
	go func() {
		defer close(answers)
		read <- e.takeLines(ctx, in, answers)
	}()
	for slot := range answers {
		a := <-slot
		if a.err == nil {
			_, a.err = out.Write(a.line)
		}
		if a.err != nil {
			return a.err
		}
		if done != nil {
			done()
		}
	}
	return <-read
}

// batchAnswer is an answer as a line, or the error that ends the batch.
type batchAnswer struct {
	line []byte
	err  error
}

// takeLines begins the evaluation of each line and puts where its answer will be in order.
func (e *Evaluator) takeLines(ctx context.Context, in io.Reader, answers chan<- chan batchAnswer) error {
	lines := bufio.NewReaderSize(in, longestLine)
	for n := 1; ; n++ {
		text, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return &setup.InputError{Text: fmt.Sprintf("--batch: line %d has more than %d bytes, want at most that", n, longestLine)}
		}
		if err != nil && err != io.EOF {
			return err
		}
		if text = bytes.TrimSpace(bytes.Clone(text)); len(text) > 0 {
			slot := make(chan batchAnswer, 1)
			go func() {
				a, err := e.answerLine(ctx, n, text)
				slot <- batchAnswer{a, err}
			}()
			select {
			case answers <- slot:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// answered is an answer with the id of its line.
type answered struct {
	ID json.RawMessage `json:"id"`
	*evaluate.Answer
}

// answerLine evaluates line n of a batch.
func (e *Evaluator) answerLine(ctx context.Context, n int, text []byte) ([]byte, error) {
	o, c, problem := readOrder(text)
	if problem == nil {
		a, err := e.Evaluate(ctx, c, o.Scenarios)
		var input *setup.InputError
		switch {
		case err == nil:
			return line(answered{o.ID, a})
		case !errors.As(err, &input):
			return nil, err
		}
		problem = err
	}
	bad := evaluate.Fault{Kind: evaluate.InputFault, Message: fmt.Sprintf("line %d of the batch: %v", n, problem), Repeatable: true}
	return line(answered{o.ID, e.suite.Failed(c, e.Options, bad)})
}

// readOrder reads a line of a batch.
func readOrder(text []byte) (o order, c evaluate.Candidate, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return order{}, c, fmt.Errorf(`%w: want {"id": …, "policy": "…"}`, err)
	}
	if d.More() {
		return o, c, errors.New("more than one value: want one per line")
	}
	c, err = readCandidate(o.File, o.Policy)
	return o, c, err
}

// readCandidate reads a candidate from JSON: a text, or components by name.
func readCandidate(name string, value json.RawMessage) (c evaluate.Candidate, err error) {
	var text string
	if json.Unmarshal(value, &text) == nil && len(value) > 0 && value[0] == '"' {
		return Candidate(name, text), nil
	}
	var parts map[string]string
	if json.Unmarshal(value, &parts) == nil && parts != nil {
		return FromComponents(parts)
	}
	return c, errors.New("no candidate: want its text, or an object with a text per component")
}
