package evaluator

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"blis/setup"
	"blis/study/confine"
	"blis/study/evaluate"
)

// work is what a child gets after the suite.
type work struct {
	Reference *evaluate.Reference `json:"reference"`
	Options   evaluate.Options    `json:"options"`
	Candidate evaluate.Candidate  `json:"candidate"`
}

// reply is what a child answers.
type reply struct {
	Answer *evaluate.Answer `json:"answer"`
	Error  string           `json:"error"` // a fault of the program, not of the candidate
	Input  bool             `json:"input"` // the error is one of the options
}

// Child is the work of a process: it lowers its limits, reads the suite, then the candidate, evaluates
// it and writes a reply. An error is one of the process; its reply has it too, if there is one.
func Child(ctx context.Context, in io.Reader, out io.Writer, limits confine.Limits) error {
	if err := confine.Lower(limits); err != nil {
		return err
	}
	answer, err := evaluateFrom(ctx, json.NewDecoder(in))
	r := reply{Answer: answer}
	if err != nil {
		var input *setup.InputError
		r.Error, r.Input = err.Error(), errors.As(err, &input)
	}
	text, err := line(r)
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}

func evaluateFrom(ctx context.Context, in *json.Decoder) (*evaluate.Answer, error) {
	var file SuiteFile
	if err := in.Decode(&file); err != nil {
		return nil, err
	}
	suite, err := file.Parse()
	if err != nil {
		return nil, err
	}
	var w work
	if err := in.Decode(&w); err != nil {
		return nil, err
	}
	return suite.Evaluate(ctx, w.Reference, w.Candidate, w.Options)
}
