package latency

import (
	"fmt"
	"strconv"
	"strings"
)

// Format returns a valid set as a file; ParsePhysicsSet reads it back to an
// equal set. Equal sets have equal bytes. A set whose coefficients of features 17 to 28
// are all 0 is written as one of version 1.
func (s *PhysicsSet) Format() []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("schema: %s", PhysicsSchema)
	line("name: %s", quote(s.Name))
	specification, beta := 1, s.Beta[:BetasOfVersion1]
	if s.Beta.isSecond() {
		specification, beta = featureSpecification, s.Beta[:]
	}
	line("specification: %d # of the features: docs/latency.md", specification)
	s.TrainedOn.format(line)
	if len(s.Errors) > 0 {
		line("errors: # on data that the fit had not seen, of the runs predicted")
	}
	for _, e := range s.Errors {
		line("  - %s", e.format())
	}
	if len(s.Notes) > 0 {
		line("notes:")
	}
	for _, note := range s.Notes {
		line("  - %s", quote(note))
	}
	line("alpha:")
	for i, v := range s.Alpha {
		line("  - %s # %d %s", number(v), i+1, AlphaNames[i])
	}
	line("beta:")
	for i, v := range beta {
		line("  - %s # %d %s", number(v), i+1, BetaNames[i])
	}
	return []byte(b.String())
}

func (t *Training) format(line func(string, ...any)) {
	line("trained_on:")
	line("  models: %s", quoteAll(t.Models))
	line("  kinds: %s", quoteAll(t.Kinds))
	line("  gpus: %s", quoteAll(t.GPUs))
	if len(t.Precisions) > 0 {
		line("  precisions: %s", quoteAll(t.Precisions))
	}
	line("  tp_min: %d", t.TPMin)
	line("  tp_max: %d", t.TPMax)
	if t.BatchedTokensMin != 0 || t.BatchedTokensMax != 0 {
		line("  batched_tokens_min: %d", t.BatchedTokensMin)
		line("  batched_tokens_max: %d", t.BatchedTokensMax)
	}
	for _, reach := range []struct {
		name string
		most int64
	}{{"context_max", t.ContextMax}, {"seats_max", t.SeatsMax}, {"step_tokens_max", t.StepTokensMax}} {
		if reach.most != 0 {
			line("  %s: %d", reach.name, reach.most)
		}
	}
	line("  engine: %s", quote(t.Engine))
	line("  async_scheduling: %t", t.AsyncScheduling)
	line("  chunked_prefill: %t", t.ChunkedPrefill)
	if len(t.Dates) > 0 {
		line("  dates: %s", quoteAll(t.Dates))
	}
	line("  data: %s", quote(t.Data))
	line("  samples: %d", t.Samples)
	line("  lambda: %s", number(t.Lambda))
	line("  gamma: %s", number(t.Gamma))
	line("  method: %s", quote(t.Method))
}

// quote is a YAML scalar in double quotes. Texts of a set can be printed, so
// only quotes and backslashes are escaped, as YAML does.
func quote(text string) string { return strconv.Quote(text) }

func quoteAll(list []string) string {
	var quoted []string
	for _, text := range list {
		quoted = append(quoted, quote(text))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// number is the shortest text that reads back to the same number. −0 is written
// as 0.
func number(v float64) string {
	if v == 0 {
		return "0"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
