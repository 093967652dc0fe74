package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"blis/study/evaluate"
)

// Answers of candidates that run, refuse work or fail are what the schema says.
func TestEvalSchema(t *testing.T) {
	suite, err := evaluate.Shipped("")
	if err != nil {
		t.Fatal(err)
	}
	o := evaluate.Options{Stage: evaluate.Smoke, HeldOut: true}
	reference, err := suite.Reference(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	s := loadSchemaOf(t, "eval")
	answer := func(text string) string {
		a, err := suite.Evaluate(context.Background(), reference, evaluate.Candidate{File: "a.yaml", Text: []byte(text)}, o)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, text := range []string{"routing: {type: weighted}", "admission: {type: reject-all}", "routing: {type: none}", "["} {
		if bad := s.check(answer(text)); bad != nil {
			t.Errorf("%s: %v", text, bad)
		}
	}
	good := answer("routing: {type: least-loaded}")
	for _, c := range []struct{ old, new string }{{`"ok":true`, `"ok":1`}, {`"score":0.5`, `"score":1.5`}, {`"error":null`, `"error":{}`}, {`"policy_id":"`, `"policy_id":"x`}, {`"warnings":[]`, `"warning":[]`}} {
		text := strings.Replace(good, c.old, c.new, 1)
		if bad := s.check(text); bad == nil || text == good {
			t.Errorf("%s for %s fits the schema: %v", c.new, c.old, bad)
		}
	}
}
