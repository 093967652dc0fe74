package actors

import (
	"fmt"
	"strings"
	"testing"

	"blis/workload"
	"blis/workload/traces"
)

// A trace with token ids: the second turn repeats the prompt and the answer of
// the first, which the instance still has. 20 in + 29 out are 48 tokens whose
// KV exists, whole blocks of 16 all of them. A stranger that begins with the
// first 37 of these tokens hits 32, one whose first token differs none.
func TestTurnsOfATokenTraceHitWhatWasSaid(t *testing.T) {
	ids := func(first, count int) []string {
		var list []string
		for i := range count {
			list = append(list, fmt.Sprint(first+i))
		}
		return list
	}
	var text strings.Builder
	row := func(at int, prompt, answer []string) {
		fmt.Fprintf(&text, `{"arrival_time_ns":%d,"input_toks":%d,"output_toks":%d,"input_tok_ids":[%s],"output_tok_ids":[%s]}`+"\n",
			at*1000, len(prompt), len(answer), strings.Join(prompt, ","), strings.Join(answer, ","))
	}
	prompt, answer := ids(100, 20), ids(500, 29)
	said := append(append([]string(nil), prompt...), answer...)
	row(0, prompt, answer)
	row(100_000, append(append([]string(nil), said...), ids(900, 11)...), ids(1, 1))
	row(200_000, append(append([]string(nil), said[:37]...), ids(700, 40)...), ids(1, 1))
	row(300_000, append([]string{"99"}, said[1:]...), ids(1, 1))
	trace, err := traces.Open("t", strings.NewReader(text.String()), traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := workload.Collect(trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, async := range []bool{false, true} {
		c := plain()
		c.AsyncScheduling = &async
		s := serve(t, c, all...)
		for i, want := range []int32{0, 48, 32, 0} {
			if got := s.rows[i].Cached; got != want {
				t.Errorf("async %v, request %d: %d tokens cached, want %d", async, i, got, want)
			}
		}
	}
}
