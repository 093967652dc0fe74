package traces

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"blis/workload"
)

// accumulateSessions makes whole prompts of the rows of sessions when the
// header says session_context_growth: accumulate. Then input_tokens of a round
// are only the new tokens: its prompt is the prompt of the round before, the output
// of that round, and the new tokens. A round with input_tokens_reset begins a new
// context of that many tokens, as after a summary. The prefix is the prefix of
// round 0. Rounds arrive when the trace says, whatever becomes of those
// before.
//
// The spans of a round are the beginning of the next round's, so all rounds up
// to a reset share one list.
func (s *simReader) accumulateSessions(t *table) error {
	var rows []int
	for i := range t.rows() {
		if t.session[i] != 0 {
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		if c := cmp.Compare(t.session[a], t.session[b]); c != 0 {
			return c
		}
		return cmp.Compare(t.round[a], t.round[b])
	})
	g := growth{t: t}
	for k, i := range rows {
		first := k == 0 || t.session[rows[k-1]] != t.session[i]
		want := int32(0)
		if !first {
			want = t.round[rows[k-1]] + 1
		}
		if t.round[i] != want {
			return fmt.Errorf("%s:%d: %s: \"%d\": want %d, as rounds of a session that accumulates count from 0 without a gap", s.name, s.line[i], simNames[simRound], t.round[i], want)
		}
		prefix := t.spansOf(i)
		own := int64(t.input[i]) - int64(lengthOf(prefix))
		switch {
		case first:
			g.begin(prefix)
		case s.reset[i] > 0:
			g.begin(nil)
			own = int64(s.reset[i])
		default:
			g.answer(rows[k-1])
		}
		g.known = append(g.known, len(g.spans))
		g.add(own)
		if g.total < 1 || g.total > math.MaxInt32 {
			return fmt.Errorf("%s:%d: %s: \"%d\": want from 1 to %d tokens of the prompt that the session has accumulated, not %d", s.name, s.line[i], simNames[simInput], own, math.MaxInt32, g.total)
		}
		g.round(i)
	}
	g.close()
	return nil
}

// growth is a session up to some round, since its start or the last reset.
type growth struct {
	t     *table
	named workload.ContentID // contents that were given out
	spans []workload.Span
	total int64 // tokens of spans
	rows  []int // the rounds …
	known []int // … how many of spans each has from those before …
	count []int // … and how many it has
}

func (g *growth) begin(prefix []workload.Span) {
	g.close()
	g.spans = append(g.spans[:0], prefix...)
	g.total = int64(lengthOf(prefix))
}

// add appends new content. Too much of it is for the caller to see in total.
func (g *growth) add(tokens int64) {
	g.total += tokens
	if tokens > 0 && g.total <= math.MaxInt32 {
		g.named++
		g.spans = append(g.spans, workload.Span{Content: g.named, Length: int32(tokens)})
	}
}

// answer appends the output of the round before, which row previous is.
func (g *growth) answer(previous int) {
	if g.t.output[previous] > 0 {
		g.add(int64(g.t.output[previous]))
		g.t.outputContent[previous] = g.named
	}
}

// round closes the prompt of row i.
func (g *growth) round(i int) {
	g.t.input[i] = int32(g.total)
	g.rows, g.count = append(g.rows, i), append(g.count, len(g.spans))
}

// close gives the rounds so far their spans. What is new in the last of them no
// other has, so it is that request's own.
func (g *growth) close() {
	if len(g.rows) == 0 {
		return
	}
	all := g.t.keep(g.spans)
	for k, i := range g.rows {
		count := g.count[k]
		if k == len(g.rows)-1 {
			count = g.known[k]
		}
		g.t.spans[i] = run{all.page, all.begin, uint32(count)}
	}
	g.rows, g.known, g.count = g.rows[:0], g.known[:0], g.count[:0]
}

func lengthOf(spans []workload.Span) int32 {
	n := int32(0)
	for _, s := range spans {
		n += s.Length
	}
	return n
}
