package measured

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Columns of a file of forward passes.
const (
	passPrefillTokens = iota
	passPrefillRequests
	passPrefillContext
	passDecodeRequests
	passDecodeContext
	passLatency
	passRequired // what follows is optional
)

const (
	passPhase = passRequired + iota
	passModel
	passTP
)

var passColumns = strings.Fields("prefill_tokens prefill_requests prefill_context_tokens decode_requests decode_context_tokens latency_ms " +
	"phase model tp")

// isPasses reports whether a CSV file is one of forward passes, by its header.
func isPasses(path string) bool {
	header := columnsOf(path)
	return slices.Contains(header, passColumns[passLatency]) && slices.Contains(header, passColumns[passDecodeContext])
}

// tpOfName finds tensor parallelism in the name of a file: a part "tp4" between
// signs that are no letters or digits.
var tpOfName = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])tp([1-9][0-9]{0,3})(?:[^a-z0-9]|$)`)

// readPassFile reads a file of forward passes. Where it has no column tp, its name may
// say: qwen3-32b-tp4.csv.gz.
func readPassFile(path string) ([]Step, error) {
	list, err := readFile(path, readPasses)
	if err != nil {
		return nil, err
	}
	tp := 0
	if m := tpOfName.FindStringSubmatch(filepath.Base(path)); m != nil {
		tp, _ = strconv.Atoi(m[1])
	}
	for i := range list {
		if s := &list[i]; s.TP == 0 && tp <= maxTP {
			s.TP = tp
		}
	}
	return list, nil
}

func readPasses(name string, r io.Reader) ([]Step, error) {
	t, err := openTable(name, r, passColumns[:passRequired], passColumns[passRequired:])
	if err != nil {
		return nil, err
	}
	var list []Step
	for {
		more, err := t.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		step := parsePass(t)
		if err := t.err(); err != nil {
			return nil, err
		}
		list = append(list, step)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no forward passes: want a row for each below the header", name)
	}
	return list, nil
}

// parsePass is the forward pass of the current row; see table.err.
func parsePass(t *table) Step {
	const requests, tokens = 1 << 20, 1 << 30 // beyond any batch, and products of two fit
	s := Step{
		Model: t.text(passModel), TP: int(t.wholeOr(passTP, 1, maxTP, 0)), ID: int64(t.line), OwnTime: true, HasSums: true,
		PrefillTokens:   t.whole(passPrefillTokens, 0, tokens),
		PrefillRequests: t.whole(passPrefillRequests, 0, requests),
		PrefillContext:  t.whole(passPrefillContext, 0, tokens),
		DecodeRequests:  t.whole(passDecodeRequests, 0, requests),
		DecodeContext:   t.whole(passDecodeContext, 0, tokens),
		Period:          1e3 * t.decimalOr(passLatency, longest/1e3),
	}
	if s.Period == 0 {
		t.bad(passLatency, "a time above 0")
	}
	checkPass(t, &s)
	if t.err() != nil {
		return s
	}
	s.DecodeTokens = s.DecodeRequests
	s.ScheduledTokens = s.PrefillTokens + s.DecodeTokens
	s.Running = s.PrefillRequests + s.DecodeRequests
	s.PrefillPairs = pairsOfSums(s.PrefillTokens, s.PrefillRequests, s.PrefillContext)
	s.DecodeContext += s.DecodeRequests // the new token of each reads its own key too
	s.SampledRows = s.Running
	return s
}

// checkPass makes a value that contradicts another one the error of the row.
func checkPass(t *table, s *Step) {
	switch {
	case s.PrefillRequests == 0 && s.DecodeRequests == 0:
		t.bad(passPrefillRequests, "a pass with requests, as decode_requests is 0 too")
	case s.PrefillRequests == 0 && s.PrefillTokens > 0:
		t.bad(passPrefillTokens, "0, as prefill_requests is")
	case s.PrefillTokens < s.PrefillRequests:
		t.bad(passPrefillTokens, "at least 1 for each of the prefill_requests %d", s.PrefillRequests)
	case s.PrefillRequests == 0 && s.PrefillContext > 0:
		t.bad(passPrefillContext, "0, as prefill_requests is")
	case s.DecodeRequests == 0 && s.DecodeContext > 0:
		t.bad(passDecodeContext, "0, as decode_requests is")
	case s.DecodeContext < s.DecodeRequests:
		t.bad(passDecodeContext, "at least 1 for each of the decode_requests %d: the sum over them", s.DecodeRequests)
	}
	if phase := s.phase(); t.text(passPhase) != "" && t.text(passPhase) != phase {
		t.bad(passPhase, "%s, as the requests say", phase)
	}
}

// phase is what aiconfigurator calls the kind of the batch.
func (s *Step) phase() string {
	switch {
	case s.PrefillRequests == 0:
		return "decode"
	case s.DecodeRequests == 0:
		return "context"
	}
	return "mixed"
}

// pairsOfSums estimates Step.PrefillPairs of a batch with a number of tokens of
// prefill requests that read a context together, 0 of no requests. Prompts are taken
// to be equally long, and all of the context to be of one of them, as vLLM's
// scheduler leaves at most one prompt half computed. Without context that is an equal
// share for each.
func pairsOfSums(tokens, requests, context int64) int64 {
	if requests == 0 {
		return 0
	}
	others := requests - 1
	first := tokens / requests
	if context > 0 { // context + first is a prompt
		first = min(max((tokens+context)/requests-context, 1), tokens-others)
	}
	pairs := first*context + triangle(first)
	if others > 0 {
		share, more := (tokens-first)/others, (tokens-first)%others
		pairs += more*triangle(share+1) + (others-more)*triangle(share)
	}
	return pairs
}

// triangle is the pairs of a prompt of c tokens that has no context.
func triangle(c int64) int64 { return c * (c + 1) / 2 }
