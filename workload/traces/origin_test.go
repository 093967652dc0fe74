package traces

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"blis/workload"
)

// timed are formats with arrivals: how a file of them begins, and a row that
// arrives some seconds after an origin with so many input tokens.
var timed = []struct {
	format Format
	head   string
	row    func(origin, second, input int) string
}{
	{BLIS, "arrival_us,input_tokens,output_tokens", func(origin, second, input int) string {
		return fmt.Sprintf("%d000000,%d,1", origin+second, input)
	}},
	{Azure, "TIMESTAMP,ContextTokens,GeneratedTokens", func(origin, second, input int) string {
		return fmt.Sprintf("%s,%d,1", time.Unix(int64(origin+second), 0).UTC().Format("2006-01-02 15:04:05.0000000"), input)
	}},
	{Mooncake, "", func(origin, second, input int) string {
		return fmt.Sprintf(`{"timestamp":%d,"input_length":%d,"output_length":1,"hash_ids":[%d]}`, (origin+second)*1000, input, input%3)
	}},
	{BurstGPT, "Timestamp,Session ID,Request tokens,Response tokens", func(origin, second, input int) string {
		return fmt.Sprintf("%d.0,s%d,%d,1", origin+second, input%3, input)
	}},
	{Tokens, "", func(origin, second, input int) string {
		ids := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%d,", input%3), input), ",")
		return fmt.Sprintf(`{"arrival_time_ns":%d,"input_toks":%d,"output_toks":1,"input_tok_ids":[%s]}`, (origin+second)*1_000_000_000, input, ids)
	}},
	{InferenceSim, "arrival_time_us,send_time_us,deadline_us,input_tokens,output_tokens", func(origin, second, input int) string {
		return fmt.Sprintf("%d000000,%d000100,%d000700,%d,1", origin+second, origin+second+5, origin+second+6, input)
	}},
}

// A trace on the clock of Unix time, or in a later year, is the trace that
// starts at 0; and rows of one arrival stay in the order of the file. The twin
// sorts the rows themselves.
func TestEveryFormatIsSortedAndInvariantToItsOrigin(t *testing.T) {
	for _, f := range timed {
		for seed := range uint64(10) {
			r := rand.New(rand.NewPCG(seed, 3))
			type line struct{ second, input int }
			list := []line{{0, 1}}
			for i := range 60 {
				list = append(list, line{r.IntN(20), i + 2})
			}
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			read := func(origin int) ([]workload.Request, *Trace) {
				text := f.head + "\n"
				for _, l := range list {
					text += f.row(origin, l.second, l.input) + "\n"
				}
				trace := traceText(t, text, Options{SpreadTies: seed%2 > 0})
				return pull(t, trace), trace
			}
			zero, trace := read(0)
			if trace.Format() != f.format {
				t.Fatalf("%s is taken for %s", f.format, trace.Format())
			}
			for _, origin := range []int{1_700_000_000, 2_000_000_001} {
				if unix, _ := read(origin); !reflect.DeepEqual(zero, unix) {
					t.Errorf("%s, seed %d: from 0:    %+v\nfrom %d: %+v", f.format, seed, zero[:3], origin, unix[:3])
				}
			}
			want := slices.Clone(list)
			sort.SliceStable(want, func(i, j int) bool { return want[i].second < want[j].second })
			for i, q := range zero {
				if int(q.Input) != want[i].input || int64(q.Arrival)/1e6 != int64(want[i].second) {
					t.Fatalf("%s, seed %d, request %d: %+v, want %+v", f.format, seed, i, q, want[i])
				}
			}
		}
	}
}
