package actors

import (
	"fmt"
	"strings"

	"blis/engine"
	"blis/latency"
)

// beyondFit says where a run left the data that its coefficients were fitted to: its
// longest context, the most requests and tokens in a step. Empty: nowhere, as far
// as is known.
func beyondFit(set *latency.PhysicsSet, reach engine.Reach, running int64) string {
	if set == nil {
		return ""
	}
	t := &set.TrainedOn
	var list []string
	for _, r := range []struct {
		most, fitted int64
		text         string
	}{
		{reach.Context, t.ContextMax, "contexts of up to %s tokens (fitted to %s)"},
		{running, t.SeatsMax, "up to %s requests in a step (%s)"},
		{reach.StepTokens, t.StepTokensMax, "up to %s tokens in a step (%s)"},
	} {
		if r.fitted > 0 && r.most > r.fitted {
			list = append(list, fmt.Sprintf(r.text, grouped(r.most), grouped(r.fitted)))
		}
	}
	if list == nil {
		return ""
	}
	return fmt.Sprintf("beyond what physics %s was fitted to: %s; its stated error does not hold there", set.Name, strings.Join(list, ", "))
}

// grouped writes a number with commas between thousands.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
