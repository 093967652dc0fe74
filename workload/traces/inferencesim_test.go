package traces

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func TestInferenceSimColumns(t *testing.T) {
	trace := traceFile(t, "sim.csv", Options{})
	all := pull(t, trace)
	// Sent 1.0 ms after they were wanted, the last one 2.0 ms; the server's
	// count where there is no prefix.
	if got, want := brief(all), "1000:300:20 2500:360:25 2500:97:0 10000:120:5"; got != want || trace.Format() != InferenceSim {
		t.Fatalf("format %s:\n got %s\nwant %s", trace.Format(), got, want)
	}
	system := []workload.Span{{Content: workload.NamedContent("system"), Length: 256}}
	if !slices.Equal(all[0].Spans, system) || !slices.Equal(all[1].Spans, system) || len(all[2].Spans)+len(all[3].Spans) > 0 {
		t.Errorf("prefixes: %v %v %v", all[0].Spans, all[1].Spans, all[2].Spans)
	}
	// The last one was sent after its deadline, 9500: it times out at once.
	if all[0].Deadline != vtime.Never || all[1].Deadline != 2002500 || all[3].Deadline != 10000 {
		t.Errorf("deadlines %v %v %v", all[0].Deadline, all[1].Deadline, all[3].Deadline)
	}
	if all[0].Hint != 0 || all[2].Hint != -4 || all[3].Hint != -2 || all[0].MaxOutput != workload.Absent {
		t.Errorf("hints %v %v %v", all[0].Hint, all[2].Hint, all[3].Hint)
	}
	text, _ := whose(t, traceFile(t, "sim.csv", Options{}))
	if want := "acme/critical/llama 1.0; acme/critical/llama 1.1; beta/batch/ 2.0; beta/standard/llama 0.0; "; text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestInferenceSimIsReadFromEitherFile(t *testing.T) {
	for _, name := range []string{"sim_accumulate", "sim"} {
		rows := pull(t, traceFile(t, name+".csv", Options{}))
		header := pull(t, traceFile(t, name+".yaml", Options{}))
		if a, b := brief(rows), brief(header); a != b {
			t.Errorf("%s.csv: %s\n%s.yaml: %s", name, a, name, b)
		}
	}
	// With a prefix group the server's count is not taken, as it counts the prefix.
	text := "input_tokens,output_tokens,arrival_time_us,prefix_group,prefix_length,server_input_tokens\n100,20,0,g,0,130\n100,20,1,,0,130\n100,20,2,g,5,130\n"
	if got := brief(pull(t, traceText(t, text, Options{}))); got != "0:100:20 1:130:20 2:105:20" {
		t.Errorf("counts of the server: %s", got)
	}
	text = "request_id,input_tokens,output_tokens,arrival_time_us\n0,100,20,0\n1,200,30,5000\n"
	if got := brief(pull(t, traceText(t, text, Options{}))); got != "0:100:20 5000:200:30" {
		t.Errorf("without a header: %s", got)
	}
	if got := brief(pull(t, traceFile(t, "sim_minimal.csv", Options{Format: InferenceSim}))); got != "0:100:20 5000:200:30" {
		t.Errorf("without a file beside it: %s", got)
	}
}

// Session s1: 16 + 100 in, 50 out; + 30 in, 40 out; begins anew with 60, 20 out;
// + 5. Session s2: 60 in, nothing out; + 20.
func TestAccumulatedSessionsRepeatWhatWasSaid(t *testing.T) {
	all := pull(t, traceFile(t, "sim_accumulate.csv", Options{}))
	if got, want := brief(all), "0:116:50 500000:60:0 1000000:196:40 1500000:80:10 2000000:60:20 2500000:12:3 3000000:85:9"; got != want {
		t.Fatalf("got %s\nwant %s", got, want)
	}
	sys := workload.NamedContent("sys")
	for i, want := range []struct {
		spans  []workload.Span
		output workload.ContentID
	}{
		{[]workload.Span{{Content: sys, Length: 16}, {Content: 1, Length: 100}}, 2},
		{[]workload.Span{{Content: 7, Length: 60}}, 0},
		{[]workload.Span{{Content: sys, Length: 16}, {Content: 1, Length: 100}, {Content: 2, Length: 50}}, 0}, // its 30 are its own: the next round does not repeat them
		{[]workload.Span{{Content: 7, Length: 60}}, 0},
		{[]workload.Span{{Content: 4, Length: 60}}, 5},
		{nil, 0},
		{[]workload.Span{{Content: 4, Length: 60}, {Content: 5, Length: 20}}, 0},
	} {
		if !slices.Equal(all[i].Spans, want.spans) || all[i].OutputContent != want.output {
			t.Errorf("request %d: spans %v, output %d, want %v, %d", i, all[i].Spans, all[i].OutputContent, want.spans, want.output)
		}
	}
}

// files writes files of a trace and returns the path of the first.
func files(t *testing.T, list ...[2]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range list {
		if err := os.WriteFile(filepath.Join(dir, f[0]), []byte(f[1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, list[0][0])
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFilesBesideATrace(t *testing.T) {
	const rows = "input_tokens,output_tokens,arrival_time_us,session_id,round_index\n10,20,0,a,0\n5,1,9,a,1\n"
	const head = "trace_version: 3\n"
	for _, c := range []struct {
		name  string
		files [][2]string
		want  string // requests, or an error behind the directory
	}{
		{"no header", [][2]string{{"x.csv", rows}}, "0:10:20 9:5:1"},
		{"header", [][2]string{{"x.csv", rows}, {"x.yaml", head + "session_context_growth: 'accumulate' # yes\n"}}, "0:10:20 9:35:1"},
		{"yml", [][2]string{{"x.csv", rows}, {"x.yml", "---\n# made\n" + head + "session_context_growth: accumulate"}}, "0:10:20 9:35:1"},
		{"header of rows in gzip", [][2]string{{"x.csv.gz", zipped(t, rows)}, {"x.yaml", head + "session_context_growth: accumulate\n"}}, "0:10:20 9:35:1"},
		{"rows in gzip", [][2]string{{"x.yaml", head + "session_context_growth: accumulate\n"}, {"x.csv.gz", zipped(t, rows)}}, "0:10:20 9:35:1"},
		{"a YAML file of another kind", [][2]string{{"x.csv", rows}, {"x.yaml", "model: m\nsession_context_growth: accumulate\n"}}, "0:10:20 9:5:1"},
		{"header first", [][2]string{{"x.yaml", head + "session_context_growth: \"\"\n"}, {"x.csv", rows}}, "0:10:20 9:5:1"},
		{"header alone", [][2]string{{"x.yaml", head}}, "x.yaml: the header of a trace of format inference-sim: want the CSV file of the same name beside it"},
		{"version", [][2]string{{"x.csv", rows}, {"x.yaml", "trace_version: 4\n"}}, `x.yaml:1: trace_version: "4": want 2 or 3`},
		{"unit", [][2]string{{"x.csv", rows}, {"x.yaml", head + "\ntime_unit: \"ms\"\n"}}, `x.yaml:3: time_unit: "ms": want microseconds (us)`},
		{"growth", [][2]string{{"x.yaml", head + "session_context_growth: Accumulate\n"}, {"x.csv", rows}}, `x.yaml:2: session_context_growth: "Accumulate": want accumulate, or nothing`},
		{"no mapping", [][2]string{{"x.csv", rows}, {"x.yaml", head + "what\n"}}, `x.yaml:2: header: "what": want key: value`},
		{"long header", [][2]string{{"x.csv", rows}, {"x.yaml", head + strings.Repeat("a: 1\n", 10000)}}, "x.yaml:10001: want a header of at most 10000 lines"},
		{"bad rows", [][2]string{{"x.yaml", head}, {"x.csv", "input_tokens,output_tokens,arrival_time_us\nx,1,1\n"}}, `x.csv:2: input_tokens: "x": want a whole number from 0 to 2147483647`},
	} {
		path := files(t, c.files...)
		trace, err := OpenFile(path, Options{})
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), filepath.Dir(path)+string(filepath.Separator))
		} else {
			got = brief(pull(t, trace))
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	_, err := Open("t", strings.NewReader(head), Options{})
	if want := "t: the header of a trace of format inference-sim: want the CSV file of the same name beside it"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
