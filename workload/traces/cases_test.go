package traces

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/workload"
)

// caseFile opens a file of the cases that were collected from public reports,
// which lie beside the project on some machines.
func caseFile(t *testing.T, o Options, path ...string) *Trace {
	t.Helper()
	name := filepath.Join(append([]string{"..", "..", "..", "shared", "cases", "turn2"}, path...)...)
	if _, err := os.Stat(name); err != nil {
		t.Skip(err)
	}
	trace, err := OpenFile(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// reads fails unless a trace is of a format and has the requests, as brief prints
// them, and the notes.
func reads(t *testing.T, trace *Trace, format Format, want string, notes ...string) {
	t.Helper()
	if got := brief(pull(t, trace)); got != want || trace.Format() != format {
		t.Errorf("format %s: got %s\nwant %s: %s", trace.Format(), got, format, want)
	}
	var got []string
	for _, n := range trace.Notes() {
		got = append(got, strings.ReplaceAll(n, `\`, "/"))
	}
	if !slices.EqualFunc(got, notes, func(a, b string) bool { return a == b }) {
		t.Errorf("notes %q\nwant  %q", got, notes)
	}
}

func TestCaseVidurTraceWithArrivals(t *testing.T) {
	reads(t, caseFile(t, Options{}, "vidur-trace-with-arrivals", "trace.csv"), Vidur,
		"0:374:44 4314579:396:109 5892655:91:16 7745497:1313:142")
}

// Arrivals of Vidur's traces are floats of seconds: their digits are rounded to
// the microsecond, exponents and all.
func TestVidurArrivalsAreRounded(t *testing.T) {
	const head = "arrived_at,num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n"
	reads(t, traceText(t, head+"0.0,1,2,3,0.5\n1e-05,1,2,3,0.5\n1.0000004999999,1,2,3,0.5\n1.0000005000001,3,0,3,\n2.5E+1,5.0,0.0,5,\n", Options{}), Vidur,
		"0:1:2 10:1:2 1000000:1:2 1000001:3:0 25000000:5:0")
	for value, ok := range map[string]bool{"-1": false, "NaN": false, "": false, "1,5": false, "0x1": false, "1e99": false, ".5": true} {
		_, err := Open("t", strings.NewReader(head+`"`+value+"\",1,2,3,0\n"), Options{})
		want := `t:2: arrived_at: "` + value + `": want seconds from 0 to 4611686018427`
		if ok != (err == nil) || err != nil && err.Error() != want {
			t.Errorf("%q: %v", value, err)
		}
	}
	// As lengths the file has no arrivals, because the user says so.
	trace := traceText(t, head+"5,1,2,3,0\n6,1,2,3,0\n", Options{Format: Lengths, Pace: &steps{gap: 7}})
	reads(t, trace, Lengths, "7:1:2 14:1:2", `not used of t: "arrived_at"`)
}

func TestCaseMooncakeWithoutHashIds(t *testing.T) {
	trace := caseFile(t, Options{}, "mooncake-without-hash-ids", "trace.jsonl")
	all := pull(t, trace)
	if got, want := brief(all), "0:512:10 1000000:256:12 2000000:900:5"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if len(all[1].Spans) != 0 || all[2].Spans[0] != (workload.Span{Content: 2, Length: 512}) || all[0].Spans[0] != all[2].Spans[0] {
		t.Errorf("%v, %v, %v", all[0].Spans, all[1].Spans, all[2].Spans)
	}
	if want := []string{"1 of 3 rows have no hash_ids: their prompts share nothing with others"}; !slices.Equal(trace.Notes(), want) {
		t.Errorf("%q", trace.Notes())
	}
}

// A misspelt key is seen: no row has the one that is meant.
func TestMooncakeNotesRowsWithoutIds(t *testing.T) {
	reads(t, traceText(t, `{"timestamp":1,"input_length":5,"output_length":1,"hash_id":[1]}`, Options{}), Mooncake, "1000:5:1",
		"1 of 1 rows have no hash_ids: their prompts share nothing with others")
}

func TestCaseExtraColumnsOfPublishedTraces(t *testing.T) {
	for file, want := range map[string][]string{
		"multimodal.csv":   {"0:1337:50 1493000:20:5", `"NumImages"`},
		"pandas-index.csv": {"0:374:44 4310000:396:109", "column 1, which has no name"},
	} {
		trace := caseFile(t, Options{}, "extra-columns-of-published-traces", file)
		if got := brief(pull(t, trace)); got != want[0] || len(trace.Notes()) != 1 || !strings.HasSuffix(trace.Notes()[0], file+": "+want[1]) {
			t.Errorf("%s: %s, %q", file, got, trace.Notes())
		}
	}
}

func TestColumnsAreLeftOutWhenTheUserSaysSo(t *testing.T) {
	const text = "arrival_us,input_tokens,output_tokens,tenant,cost\n5,1,2,a,0.1\n9,3,4,b,0.2\n"
	if _, err := Open("t", strings.NewReader(text), Options{}); err == nil || !strings.Contains(err.Error(), `unknown "cost"`) || !strings.HasSuffix(err.Error(), "(format blis); trace-ignore-columns leaves others out") {
		t.Errorf("%v", err)
	}
	trace := traceText(t, text, Options{Ignore: []string{"cost", "tenant", "costs"}})
	reads(t, trace, BLIS, "5:1:2 9:3:4", `not used of t: "tenant", "cost"`, `trace-ignore-columns: t has no column "costs"`)
	if trace.Labels().Tenants.Len() != 1 {
		t.Error("the tenants were read")
	}
	_, err := Open("t", strings.NewReader(text), Options{Ignore: []string{"cost", "input_tokens"}})
	if err == nil || !strings.Contains(err.Error(), "missing input_tokens:") {
		t.Errorf("%v", err)
	}
}

func TestCaseUnknownClassInATrace(t *testing.T) {
	trace := caseFile(t, Options{}, "unknown-class-in-a-trace", "trace.csv")
	if got := brief(pull(t, trace)); got != "0:10:5 5000:10:5 9000:10:5" {
		t.Error(got)
	}
	want := `are of classes that are not among critical, standard, sheddable, batch, background: "Critical" (1; near: critical), "standrad" (1; near: standard)`
	if n := trace.Notes(); len(n) != 1 || !strings.HasPrefix(n[0], "2 of 3 requests of ") || !strings.HasSuffix(n[0], want) {
		t.Errorf("%q", n)
	}
}

// Classes of the user's own are counted, and those with targets are meant.
func TestClassesOfOnesOwnAreNoted(t *testing.T) {
	text := "arrival_us,input_tokens,output_tokens,slo_class\n"
	for _, class := range strings.Fields("gold gold silver t u v w x y z o p q r") {
		text += "1,1,1," + class + "\n"
	}
	trace := traceText(t, text+"2,1,1,\n2,1,1,batch\n", Options{Classes: []string{"silver"}})
	want := `13 of 16 requests of t are of classes that are not among critical, standard, sheddable, batch, background: ` +
		`"gold" (2), "o" (1), "p" (1), "q" (1), "r" (1), "t" (1), "u" (1), "v" (1), "w" (1), "x" (1), …`
	if n := trace.Notes(); len(n) != 1 || n[0] != want {
		t.Errorf("%q", n)
	}
}

func TestCasePublicSimTraceEmptyPrefixGroup(t *testing.T) {
	for _, file := range []string{"trace.csv", "trace.yaml"} {
		reads(t, caseFile(t, Options{}, "public-sim-trace-empty-prefix-group", file), InferenceSim, "4295:1063:3 90000:1109:11 95000:40:5",
			"1 of 3 rows have a prefix_length and no prefix_group: their prefixes count towards the prompts, and nobody shares them")
	}
}

// The server's count of a prompt has the prefix in it, so that is not added.
func TestServerCountOfANamelessPrefixIsWhole(t *testing.T) {
	const head = "arrival_time_us,input_tokens,output_tokens,prefix_group,prefix_length,server_input_tokens\n"
	trace := traceText(t, head+"1,39,3,,1024,1070\n2,39,3,g,1024,1070\n", Options{})
	reads(t, trace, InferenceSim, "1:1070:3 2:1063:3",
		"1 of 2 rows have a prefix_length and no prefix_group: their prefixes count towards the prompts, and nobody shares them")
}

func TestCaseFilesThatAreNotWhatTheySeem(t *testing.T) {
	const folder = "files-that-are-not-what-they-seem"
	reads(t, caseFile(t, Options{}, folder, "utf16.csv"), Azure, "0:374:44")
	reads(t, caseFile(t, Options{}, folder, "zone.csv"), Azure, "0:374:44")
	reads(t, caseFile(t, Options{}, folder, "array.json"), Mooncake, "0:600:5 3000000:600:5")
	tabs := caseFile(t, Options{}, folder, "tabs.csv")
	if got := brief(pull(t, tabs)); got != "0:374:44" || len(tabs.Notes()) != 1 || !strings.HasSuffix(tabs.Notes()[0], "tabs.csv are separated by tabs") {
		t.Errorf("%s, %q", got, tabs.Notes())
	}
}
