package traces

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/workload"
)

// conversation is a request with the ids of all its tokens.
type conversation struct {
	At     int64    `json:"arrival_time_ns"`
	In     int      `json:"input_toks"`
	Out    int      `json:"output_toks"`
	Prompt []uint32 `json:"input_tok_ids"`
	Answer []uint32 `json:"output_tok_ids"`
}

func tokensText(list []conversation) string {
	var text strings.Builder
	for _, c := range list {
		c.In, c.Out = len(c.Prompt), len(c.Answer)
		line, _ := json.Marshal(c)
		text.Write(append(line, '\n'))
	}
	return text.String()
}

// token is a token by name: of named content, or of one request alone.
type token struct {
	content workload.ContentID
	own     int
	offset  int32
}

// named writes out prompt and answer of a request by name.
func named(number int, r *workload.Request) (prompt, whole []token) {
	for _, s := range r.Spans {
		for k := range s.Length {
			prompt = append(prompt, token{content: s.Content, offset: k})
		}
	}
	for k := int32(len(prompt)); k < r.Input; k++ {
		prompt = append(prompt, token{own: number + 1, offset: k})
	}
	whole = slices.Clone(prompt)
	for k := range r.Output {
		if r.OutputContent != 0 {
			whole = append(whole, token{content: r.OutputContent, offset: k})
		} else {
			whole = append(whole, token{own: -number - 1, offset: k})
		}
	}
	return prompt, whole
}

func shared[T comparable](a, b []T) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// checkNames compares every pair of prompts by ids and by names, and every
// prompt with what earlier requests said and heard. It returns how many pairs
// of the second kind share more than a prompt, and how many of them by name.
func checkNames(t *testing.T, what string, list []conversation, all []workload.Request) (goOn, byName int) {
	t.Helper()
	prompts, wholes := make([][]token, len(all)), make([][]token, len(all))
	for i := range all {
		prompts[i], wholes[i] = named(i, &all[i])
	}
	for j := range all {
		for i := range j {
			if got, want := shared(prompts[i], prompts[j]), shared(list[i].Prompt, list[j].Prompt); got != want {
				t.Fatalf("%s: prompts %d and %d share %d tokens by name, %d by id", what, i, j, got, want)
			}
			got, want := shared(wholes[i], prompts[j]), shared(append(slices.Clone(list[i].Prompt), list[i].Answer...), list[j].Prompt)
			if got != want && (got != len(prompts[i]) || got > want) {
				t.Fatalf("%s: prompt %d repeats %d tokens of request %d by name, %d by id", what, j, got, i, want)
			}
			if want > len(prompts[i]) {
				goOn++
				if got == want {
					byName++
				}
			}
		}
	}
	return goOn, byName
}

// chatter makes small conversations over few token ids, so that much is equal
// by chance: prompts that begin like others, go on with the prompt and answer
// of another, or repeat one. Answers begin with a token of their own if distinct.
func chatter(r *rand.Rand, distinct bool) []conversation {
	some := func(most int) []uint32 {
		ids := make([]uint32, r.IntN(most+1))
		for i := range ids {
			ids[i] = uint32(r.IntN(3))
		}
		return ids
	}
	var list []conversation
	for i := range 12 {
		c := conversation{At: int64(1000 * i)}
		if i > 0 && r.IntN(3) > 0 {
			old := list[r.IntN(i)]
			c.Prompt = append(c.Prompt, old.Prompt...)
			if r.IntN(3) > 0 {
				c.Prompt = append(c.Prompt, old.Answer[:r.IntN(len(old.Answer)+1)]...)
			}
		}
		c.Prompt = append(append(c.Prompt, some(6)...), uint32(r.IntN(3)))
		if distinct {
			c.Answer = append(c.Answer, uint32(100+i))
		}
		c.Answer = append(c.Answer, some(5)...)
		list = append(list, c)
	}
	return list
}

func TestEqualTokensHaveEqualNames(t *testing.T) {
	for _, distinct := range []bool{false, true} {
		goOn, byName := 0, 0
		for seed := range uint64(600) {
			list := chatter(rand.New(rand.NewPCG(seed, 5)), distinct)
			what := fmt.Sprintf("seed %d, distinct %v", seed, distinct)
			a, b := checkNames(t, what, list, pull(t, traceText(t, tokensText(list), Options{})))
			goOn, byName = goOn+a, byName+b
			if distinct && a != b {
				t.Fatalf("%s: %d of %d continuations are found by name", what, b, a)
			}
		}
		t.Logf("distinct %v: %d of %d continuations by name", distinct, byName, goOn)
		if goOn == 0 || byName*2 < goOn {
			t.Errorf("distinct %v: only %d of %d continuations by name", distinct, byName, goOn)
		}
	}
}

// Names are given in order of arrival, so a file in any order gives the same.
func TestNamesDoNotDependOnTheOrderOfTheFile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	list := chatter(r, true)
	want := pull(t, traceText(t, tokensText(list), Options{}))
	mixed := slices.Clone(list)
	r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	got := pull(t, traceText(t, tokensText(mixed), Options{}))
	for i := range want {
		if !slices.Equal(got[i].Spans, want[i].Spans) || got[i].OutputContent != want[i].OutputContent {
			t.Errorf("request %d: %v %d, want %v %d", i, got[i].Spans, got[i].OutputContent, want[i].Spans, want[i].OutputContent)
		}
	}
}

func TestTokenIdsBecomeSpans(t *testing.T) {
	trace := traceFile(t, "tokens.jsonl", Options{})
	all := pull(t, trace)
	if got, want := brief(all), "46926:8:3 50926:9:2 90000:13:1 90000:4:2"; got != want || trace.Format() != Tokens {
		t.Fatalf("format %s:\n got %s\nwant %s", trace.Format(), got, want)
	}
	// Content 1 is the first prompt, 2 its answer. The second prompt shares 6
	// of it, the third all, and the answer; what is left is their own.
	for i, want := range [][]workload.Span{
		{{Content: 1, Length: 8}},
		{{Content: 1, Length: 6}},
		{{Content: 1, Length: 8}, {Content: 2, Length: 3}},
		{},
	} {
		if !slices.Equal(all[i].Spans, want) {
			t.Errorf("request %d: spans %v, want %v", i, all[i].Spans, want)
		}
	}
	if all[0].OutputContent != 2 || all[1].OutputContent != 0 || all[2].OutputContent != 0 {
		t.Errorf("outputs %d %d %d, want 2 0 0", all[0].OutputContent, all[1].OutputContent, all[2].OutputContent)
	}
}

// An answer that an earlier prompt has behind the same beginning is that
// prompt's content, which so is not its own.
func TestAnAnswerIsFoundInAnEarlierPrompt(t *testing.T) {
	all := pull(t, traceText(t, tokensText([]conversation{
		{At: 0, Prompt: []uint32{1, 2}, Answer: []uint32{9}},
		{At: 1000, Prompt: []uint32{1, 2, 3, 4, 5}, Answer: []uint32{9}},
		{At: 2000, Prompt: []uint32{1, 2}, Answer: []uint32{3, 4}},
		{At: 3000, Prompt: []uint32{1, 2}, Answer: []uint32{3, 7}}, // begins like it, and differs
	}), Options{}))
	long := all[1].Spans
	if len(long) != 2 || long[1].Length != 2 || all[2].OutputContent != long[1].Content || all[3].OutputContent != 0 {
		t.Errorf("the prompt is %v, the answers %d and %d", long, all[2].OutputContent, all[3].OutputContent)
	}
}

// A trace of hours counts from its start, though its nanoseconds are many.
func TestHoursInNanosecondsAreNoClock(t *testing.T) {
	text := `{"arrival_time_ns":7200000000000,"input_toks":1,"output_toks":1,"input_tok_ids":[1]}`
	if got := brief(pull(t, traceText(t, text, Options{}))); got != "7200000000:1:1" {
		t.Errorf("got %s", got)
	}
}

// The blocks of a next turn have the keys of the blocks that the turn before
// filled, at any block size, as far as ids are equal.
func TestBlocksOfANextTurnHaveTheSameKeys(t *testing.T) {
	all := pull(t, traceFile(t, "tokens.jsonl", Options{}))
	first, next := all[0], all[2]
	for _, size := range []int32{1, 2, 3, 4, 5, 8, 11, 16} {
		chain := workload.NewChain(size, workload.RootKey)
		var said []uint64
		for _, s := range first.Spans {
			said = chain.Append(said, workload.Piece{Content: s.Content, Length: s.Length})
		}
		said = chain.Append(said, workload.Piece{Content: first.OutputContent, Length: first.Output})
		repeated := workload.AppendKeys(nil, next.Spans, size, 100)
		if n := shared(said, repeated); n != int(11/size) {
			t.Errorf("block size %d: %d blocks are equal, want %d", size, n, 11/size)
		}
	}
}

func TestRealTokenTraceSharesWhatIsEqual(t *testing.T) {
	path := filepath.Join(samples, "sharegpt_300_permuted_ids.jsonl.gz")
	list := realConversations(t, path)
	trace, err := OpenFile(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkNames(t, "real", list, pull(t, trace))
}
