package measured

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"time"

	"blis/cputime"
)

// badFile is a text that a reader refuses, and the one line that says why.
type badFile struct{ name, text, want string }

// refuse reads every text as a file called t.
func refuse[T any](t *testing.T, read func(string, io.Reader) (T, error), list []badFile) {
	t.Helper()
	if len(list) <= 20 {
		t.Errorf("only %d bad files", len(list))
	}
	for _, c := range list {
		var err error
		took := cputime.Of(func() { _, err = read("t", strings.NewReader(c.text)) })
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
		if took > 2*time.Second {
			t.Errorf("%s took %v", c.name, took)
		}
	}
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// unreadable are the faults of the text itself, which all CSV readers share.
// header has width columns.
func unreadable(header, good string, width string) []badFile {
	return []badFile{
		{"not gzip", "\x1f\x8b" + header, "t: after line 0: gzip: invalid header"},
		{"cut gzip", zipped(header + "\n" + good + "\n")[:40], "t: after line 0: the data end too early: want the whole file"},
		{"open quote", header + "\n\"" + good + "\n", "t:2: row: quotes in the wrong place: want a field with quotes to begin and end with them"},
		{"quote within", header + "\na\"b\n", "t:2: row: quotes in the wrong place: want a field with quotes to begin and end with them"},
		{"no lines", header + "\n" + strings.Repeat("x", maxLine+100_000), "t:2: row: more than 1048576 bytes: want lines of a table"},
		{"field missing", header + "\n" + good + "\n\nx\n", `t:4: row: "x": want ` + width + ` fields as in the header, not 1`},
	}
}

const runsHeader = "id,model,gpu,tp,engine,max_num_seqs,max_num_batched_tokens,max_model_len,block_size,prefix_caching,chunked_prefill,async_scheduling,kv_blocks,reserve_full_isl,cpu_offload_gib,data_parallel,stages,requests,completed"

func TestBadTableOfRunsIsOneClearLine(t *testing.T) {
	good := "a,m/x,H100,2,vLLM 0.19.0,128,2048,4096,16,1,true,FALSE,1000,0,1.5,1,2x3,10,9"
	with := func(column int, value string) string {
		fields := strings.Split(good, ",")
		fields[column] = value
		return runsHeader + "\n" + strings.Join(fields, ",") + "\n"
	}
	const file = "want the name of a file in the folder requests, without .csv"
	const stages = "want rate x seconds, both above 0, as 5x600;10x600"
	refuse(t, readRuns, append(unreadable(runsHeader, good, "19"), []badFile{
		{"empty", "", "t: the file is empty: want a line with the columns id,model,gpu,tp,engine,max_num_seqs,max_num_batched_tokens,max_model_len,block_size,prefix_caching,chunked_prefill,async_scheduling"},
		{"header only", runsHeader, "t: no runs: want a row for each below the header"},
		{"missing columns", "id,model,gpu,tp,engine,max_num_seqs,block_size,prefix_caching,chunked_prefill\n", "t:1: header: missing max_num_batched_tokens, max_model_len, async_scheduling: want the columns id,model,gpu,tp,engine,max_num_seqs,max_num_batched_tokens,max_model_len,block_size,prefix_caching,chunked_prefill,async_scheduling"},
		{"column twice", runsHeader + ",tp,kv_blocks\n", "t:1: header: given twice tp, kv_blocks: want the columns id,model,gpu,tp,engine,max_num_seqs,max_num_batched_tokens,max_model_len,block_size,prefix_caching,chunked_prefill,async_scheduling"},
		{"id twice", runsHeader + "\n" + good + "\n" + good, `t:3: id: "a": want an id that no row above has`},
		{"no id", with(0, ""), `t:2: id: "": ` + file},
		{"id elsewhere", with(0, "../a"), `t:2: id: "../a": ` + file},
		{"id up", with(0, ".."), `t:2: id: "..": ` + file},
		{"id backslash", with(0, `a\b`), `t:2: id: "a\\b": ` + file},
		{"no model", with(1, " "), `t:2: model: "": want the id of a model`},
		{"no engine", with(4, ""), `t:2: engine: "": want the engine and its version, as vLLM 0.15.1`},
		{"tp", with(3, "0"), `t:2: tp: "0": want a whole number from 1 to 1024`},
		{"seats", with(5, "-1"), `t:2: max_num_seqs: "-1": want a whole number from 1 to 2147483647`},
		{"tokens", with(6, "2048.0"), `t:2: max_num_batched_tokens: "2048.0": want a whole number from 1 to 2147483647`},
		{"length", with(7, "2147483648"), `t:2: max_model_len: "2147483648": want a whole number from 1 to 2147483647`},
		{"block size", with(8, "NaN"), `t:2: block_size: "NaN": want a whole number from 1 to 2147483647`},
		{"caching", with(9, "yes"), `t:2: prefix_caching: "yes": want 1 or 0, true or false`},
		{"chunked", with(10, ""), `t:2: chunked_prefill: "": want 1 or 0, true or false`},
		{"async", with(11, "2"), `t:2: async_scheduling: "2": want 1 or 0, true or false`},
		{"blocks", with(12, "0"), `t:2: kv_blocks: "0": want a whole number from 1 to 4611686018427387904`},
		{"reserve", with(13, "auto"), `t:2: reserve_full_isl: "auto": want 1 or 0, true or false`},
		{"offload", with(14, "NaN"), `t:2: cpu_offload_gib: "NaN": want a number from 0 to 1e+06`},
		{"parallel", with(15, "0"), `t:2: data_parallel: "0": want a whole number from 1 to 1024`},
		{"stage", with(16, "5x600;"), `t:2: stages: "5x600;": ` + stages},
		{"stage rate", with(16, "0x600"), `t:2: stages: "0x600": ` + stages},
		{"stage length", with(16, "5xInf"), `t:2: stages: "5xInf": ` + stages},
		{"endless stage", with(16, "5x4611686018428"), `t:2: stages: "5x4611686018428": ` + stages},
		{"requests", with(17, "x"), `t:2: requests: "x": want a whole number from 0 to 2147483647`},
		{"completed", with(18, "11"), `t:2: completed: "11": want at most the 10 requests there are`},
	}...))
}

func TestBadRequestsAreOneClearLine(t *testing.T) {
	const header = "arrival_us,input_tokens,prompt,output_tokens,ttft_us,e2e_us,ok"
	const good = "0,5,0,7,100,200,1"
	rows := func(rows ...string) string { return header + "\n" + good + "\n" + strings.Join(rows, "\n") }
	const needed = "arrival_us,input_tokens,output_tokens,ttft_us,e2e_us"
	const counts, times = "want a whole number from 1 to 2147483647", "want a whole number from 1 to 4611686018427387904"
	refuse(t, readRequests, append(unreadable(header, good, "7"), []badFile{
		{"empty", "", "t: the file is empty: want a line with the columns " + needed},
		{"blank", "\n\n", "t: the file is empty: want a line with the columns " + needed},
		{"header only", header + "\n", "t: no requests: want a row for each below the header"},
		{"no columns", "a,b\n1,2\n", "t:1: header: missing arrival_us, input_tokens, output_tokens, ttft_us, e2e_us: want the columns " + needed},
		{"not a table", "\x00\x01\x02", "t: binary data (a zero byte at position 0): want a file of text"},
		{"not our table", "a,b\n", "t:1: header: missing arrival_us, input_tokens, output_tokens, ttft_us, e2e_us: want the columns " + needed},
		{"arrival", rows("-1,5,0,7,100,200,1"), `t:3: arrival_us: "-1": want a whole number from 0 to 4611686018427387904`},
		{"late arrival", rows("4611686018427387905,5,0,7,100,200,1"), `t:3: arrival_us: "4611686018427387905": want a whole number from 0 to 4611686018427387904`},
		{"arrival in seconds", rows("1.5,5,0,7,100,200,1"), `t:3: arrival_us: "1.5": want a whole number from 0 to 4611686018427387904`},
		{"no arrival", rows(",5,0,7,100,200,1"), `t:3: arrival_us: "": want a whole number from 0 to 4611686018427387904`},
		{"no input", rows("1,0,0,7,100,200,1"), `t:3: input_tokens: "0": ` + counts},
		{"input", rows("1,NaN,0,7,100,200,1"), `t:3: input_tokens: "NaN": ` + counts},
		{"long input", rows("1,2147483648,0,7,100,200,1"), `t:3: input_tokens: "2147483648": ` + counts},
		{"very long input", rows("1," + strings.Repeat("9", 100) + ",0,7,100,200,1"), `t:3: input_tokens: "` + strings.Repeat("9", 60) + `"…: ` + counts},
		{"output", rows("1,5,0,0,100,200,1"), `t:3: output_tokens: "0": ` + counts},
		{"prompt", rows("1,5,-1,7,100,200,1"), `t:3: prompt: "-1": want a whole number from 0 to 2147483647`},
		{"no ttft", rows("1,5,0,7,,200,1"), `t:3: ttft_us: "": ` + times},
		{"zero ttft", rows("1,5,0,7,0,200,1"), `t:3: ttft_us: "0": ` + times},
		{"ttft", rows("1,5,0,7,Inf,200,1"), `t:3: ttft_us: "Inf": ` + times},
		{"e2e", rows("1,5,0,7,100,1e3,1"), `t:3: e2e_us: "1e3": ` + times},
		{"end before the first token", rows("1,5,0,7,100,99,1"), `t:3: e2e_us: "99": want at least ttft_us 100`},
		{"ok", rows("1,5,0,7,100,200,yes"), `t:3: ok: "yes": want 1 or 0, true or false`},
		{"failed input", rows("1,x,0,7,,,0"), `t:3: input_tokens: "x": want a whole number from 0 to 2147483647`},
		{"failed times", rows("1,0,0,7,-5,,0"), `t:3: ttft_us: "-5": want a whole number from 0 to 4611686018427387904`},
		{"first of two faults", rows("x,x,0,7,100,200,1"), `t:3: arrival_us: "x": want a whole number from 0 to 4611686018427387904`},
		{"new line in a field", rows("\"1\n2\",5,0,7,100,200,1", "x"), `t:3: arrival_us: "1\n2": want a whole number from 0 to 4611686018427387904`},
	}...))
}
