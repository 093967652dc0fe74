package traces

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func traceText(t testing.TB, text string, o Options) *Trace {
	t.Helper()
	trace, err := Open("t", strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func traceFile(t testing.TB, name string, o Options) *Trace {
	t.Helper()
	trace, err := OpenFile(filepath.Join("..", "..", "testdata", "traces", name), o)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// pull empties a source, and checks what it yields.
func pull(t testing.TB, s workload.Source) []workload.Request {
	t.Helper()
	all, err := workload.Collect(s)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// brief prints arrival:input:output of each request.
func brief(all []workload.Request) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%d:%d:%d ", int64(r.Arrival), r.Input, r.Output)
	}
	return strings.TrimSpace(b.String())
}

func TestAzureTraceStartsAtItsFirstRow(t *testing.T) {
	trace := traceFile(t, "azure.csv", Options{})
	if trace.Format() != Azure || trace.Remaining() != 4 {
		t.Errorf("format %q, %d requests", trace.Format(), trace.Remaining())
	}
	// 1.0 µs, 4.8765433 s and a leap day and 2.3765442 s later, truncated.
	want := "0:512:40 1:64:1 4876543:2048:300 86402376544:17:8"
	if got := brief(pull(t, trace)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	want = "0:100:10 490070:300:30 990070:200:20" // zones and the order of columns
	if got := brief(pull(t, traceFile(t, "azure_zones.csv", Options{}))); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestMooncakeIdsBecomeSpans(t *testing.T) {
	for _, name := range []string{"mooncake.jsonl", "mooncake.jsonl.gz"} {
		trace := traceFile(t, name, Options{})
		all := pull(t, trace)
		want := "0:1300:52 0:1024:7 250000:900:0 1000500:10:3 3000000:600:9"
		if got := brief(all); got != want || trace.Format() != Mooncake {
			t.Errorf("%s, format %s: got %s\nwant %s", name, trace.Format(), got, want)
		}
		spans := [][]workload.Span{
			{{Content: 1, Length: 512}, {Content: 2, Length: 512}, {Content: 3, Length: 276}}, // the last id covers what is left
			{{Content: 1, Length: 512}, {Content: 2, Length: 512}},
			{{Content: 1, Length: 512}}, // the other 388 tokens are the request's own
			{},
			{{Content: 8, Length: 512}, {Content: 9, Length: 88}},
		}
		for i, r := range all {
			if !slices.Equal(r.Spans, spans[i]) {
				t.Errorf("%s: spans of request %d = %v, want %v", name, i, r.Spans, spans[i])
			}
		}
	}
	trace := traceText(t, `{"timestamp":1,"input_length":100,"output_length":1,"hash_ids":[5,6]}`, Options{BlockSize: 64})
	if all := pull(t, trace); !slices.Equal(all[0].Spans, []workload.Span{{Content: 6, Length: 64}, {Content: 7, Length: 36}}) {
		t.Errorf("block size 64: %v", all[0].Spans)
	}
}

func TestOwnTraceCarriesEveryColumn(t *testing.T) {
	trace := traceFile(t, "blis.csv", Options{})
	all := pull(t, trace)
	if got, want := brief(all), "1000:300:20 2500:310:25 2500:90:0 9000:120:5"; got != want {
		t.Fatalf("got %s\nwant %s", got, want)
	}
	system := []workload.Span{{Content: workload.NamedContent("system"), Length: 256}}
	if !slices.Equal(all[0].Spans, system) || !slices.Equal(all[1].Spans, system) {
		t.Errorf("prefix groups: %v, %v", all[0].Spans, all[1].Spans)
	}
	if want := []workload.Span{{Content: 11, Length: 40}, {Content: 12, Length: 50}}; !slices.Equal(all[2].Spans, want) || len(all[3].Spans) != 0 {
		t.Errorf("content: %v, %v", all[2].Spans, all[3].Spans)
	}
	if all[0].Deadline != vtime.Never || all[1].Deadline != 2002500 || all[3].Deadline != 9000 {
		t.Errorf("deadlines %v %v %v", all[0].Deadline, all[1].Deadline, all[3].Deadline)
	}
	if all[0].MaxOutput != workload.Absent || all[1].MaxOutput != 64 || all[3].MaxOutput != 5 {
		t.Errorf("limits %v %v %v", all[0].MaxOutput, all[1].MaxOutput, all[3].MaxOutput)
	}
	if all[0].Session != 0 || all[1].Session != 4 || all[2].Round != 2 {
		t.Errorf("sessions %+v", all)
	}
	l, names := trace.Labels(), ""
	for _, r := range all {
		names += fmt.Sprintf("%s/%s/%s ", l.Tenants.Name(r.Tenant), l.Classes.Name(r.Class), l.Models.Name(r.Model))
	}
	if want := "alpha/critical/llama beta/standard/llama gamma, inc/batch/ alpha/standard/llama "; names != want {
		t.Errorf("names %s\nwant  %s", names, want)
	}
}

// The twin is a stable sort of the lines themselves.
func TestUnsortedTraceIsSortedStably(t *testing.T) {
	if got, want := brief(pull(t, traceFile(t, "blis_unsorted.csv", Options{}))), "100:10:1 200:20:2 500:30:3 500:40:4"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		type line struct{ at, input int }
		var list []line
		text := "arrival_us,input_tokens,output_tokens\n"
		for i := range 200 {
			list = append(list, line{r.IntN(50), i + 1})
			text += fmt.Sprintf("%d,%d,1\n", list[i].at, list[i].input)
		}
		sort.SliceStable(list, func(i, j int) bool { return list[i].at < list[j].at })
		for i, q := range pull(t, traceText(t, text, Options{})) {
			if int(q.Arrival) != list[i].at || int(q.Input) != list[i].input || q.Index != uint64(i) {
				t.Fatalf("seed %d, request %d: %+v, want %v", seed, i, q, list[i])
			}
		}
	}
}

func TestTraceIsInvariantToItsOrigin(t *testing.T) {
	rows := func(origin int) string {
		return fmt.Sprintf("arrival_us,input_tokens,output_tokens,deadline_us\n%d,10,1,%d\n%d,20,2,\n%d,5,0,%d\n",
			origin+700, origin+5700, origin+900, origin, origin+1)
	}
	zero := pull(t, traceText(t, rows(0), Options{Speedup: 1.5, SpreadTies: true}))
	unix := pull(t, traceText(t, rows(1_700_000_000_123_456), Options{Speedup: 1.5, SpreadTies: true}))
	if !reflect.DeepEqual(zero, unix) {
		t.Errorf("from 0:    %+v\nUnix time: %+v", zero, unix)
	}
	// An origin of the file's own choosing is kept.
	if all := pull(t, traceText(t, rows(45488), Options{})); all[0].Arrival != 45488 || all[0].Deadline != 45489 {
		t.Errorf("%+v", all[0])
	}
	a := pull(t, traceText(t, `{"timestamp":1700000000000,"input_length":9,"output_length":1,"hash_ids":[]}`, Options{}))
	if a[0].Arrival != 0 {
		t.Errorf("a Mooncake trace in Unix time starts at %v", a[0].Arrival)
	}
}

func TestTraceOptions(t *testing.T) {
	const text = "arrival_us,input_tokens,output_tokens,deadline_us\n1000,1,0,1500\n3000,2,0,\n3000,3,0,\n3000,4,0,3001\n5000,5,0,\n"
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"as recorded", Options{}, "1000:1:0 3000:2:0 3000:3:0 3000:4:0 5000:5:0"},
		{"speedup", Options{Speedup: 2}, "500:1:0 1500:2:0 1500:3:0 1500:4:0 2500:5:0"},
		{"slow down", Options{Speedup: 0.5}, "2000:1:0 6000:2:0 6000:3:0 6000:4:0 10000:5:0"},
		{"limit", Options{Limit: 2}, "1000:1:0 3000:2:0"},
		{"large limit", Options{Limit: 1 << 62}, "1000:1:0 3000:2:0 3000:3:0 3000:4:0 5000:5:0"},
		{"offset starts at 0", Options{Offset: 3}, "0:4:0 2000:5:0"},
		{"offset and limit", Options{Offset: 2, Limit: 2}, "0:3:0 0:4:0"},
		{"spread", Options{SpreadTies: true}, "1000:1:0 3000:2:0 3666:3:0 4333:4:0 5000:5:0"},
	} {
		if got := brief(pull(t, traceText(t, text, c.o))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	all := pull(t, traceText(t, text, Options{Timeout: 70, Speedup: 2, SpreadTies: true}))
	for i, want := range []vtime.Time{500 + 500, 1500 + 70, 1833 + 70, 2166 + 1, 2500 + 70} {
		if all[i].Deadline != want {
			t.Errorf("request %d: deadline %v, want %v", i, all[i].Deadline, want)
		}
	}
}

func TestSkippedRowsAreCounted(t *testing.T) {
	text := "arrival_us,input_tokens,output_tokens\n1,5,1\n2,-3,1\n3,4\n4,NaN,1\n5,6,2\n"
	trace := traceText(t, text, Options{SkipBadRows: true})
	if got := brief(pull(t, trace)); got != "1:5:1 5:6:2" {
		t.Errorf("got %s", got)
	}
	n, first := trace.Skipped()
	if want := `t:3: input_tokens: "-3": want a whole number from 1 to 2147483647`; n != 3 || first == nil || first.Error() != want {
		t.Errorf("%d rows skipped, the first because %v", n, first)
	}
}

func TestLongLinesAndMissingLastLineEnd(t *testing.T) {
	ids := strings.TrimSuffix(strings.Repeat("123456789, ", 100000), ", ")
	text := fmt.Sprintf(`{"timestamp":0,"input_length":%d,"output_length":1,"hash_ids":[%s]}`, 100000*512, ids)
	all := pull(t, traceText(t, "\xef\xbb\xbf"+text+"\n\n"+text, Options{}))
	if len(all) != 2 || len(all[1].Spans) != 100000 {
		t.Errorf("%d requests", len(all))
	}
}

// brokenReader ends in an error after its text.
type brokenReader struct{ *strings.Reader }

func (b brokenReader) Read(p []byte) (int, error) {
	if n, err := b.Reader.Read(p); err == nil {
		return n, nil
	}
	return 0, os.ErrDeadlineExceeded
}

func TestUnreadableTraceIsAnError(t *testing.T) {
	_, err := Open("t.csv", brokenReader{strings.NewReader("arrival_us,input_tokens,output_tokens\n1,2,3\n")}, Options{})
	if err == nil || err.Error() != "t.csv: after line 2: i/o timeout" {
		t.Errorf("got %v", err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte("arrival_us,input_tokens,output_tokens\n"))
	for i := range 5000 {
		fmt.Fprintf(z, "%d,%d,3\n", i*977, i%89+1)
	}
	z.Close()
	for cut := 1; cut < zipped.Len(); cut += 1 + zipped.Len()/50 {
		if _, err := Open("t.csv.gz", bytes.NewReader(zipped.Bytes()[:cut]), Options{SkipBadRows: true}); err == nil {
			t.Errorf("the first %d of %d bytes of a gzip file gave no error", cut, zipped.Len())
		}
	}
	_, err = Open("t.csv.gz", bytes.NewReader(zipped.Bytes()[:zipped.Len()-4]), Options{})
	if err == nil || err.Error() != "t.csv.gz: after line 5001: the gzip data ends too early: want the whole file" {
		t.Errorf("got %v", err)
	}
	if _, err := OpenFile("no/such/file", Options{}); err == nil {
		t.Error("a missing file gave no error")
	}
}
