package traces

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestBadTraceIsOneClearLine(t *testing.T) {
	const (
		own    = "arrival_us,input_tokens,output_tokens\n"
		rich   = "arrival_us,input_tokens,output_tokens,prefix_group,prefix_tokens,content,deadline_us,max_output,session,round\n"
		azure  = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
		length = "want a whole number from 1 to 2147483647"
		date   = "want a date such as 2023-11-16 18:17:03.9799600, with a zone (+01:00, Z) or without, from 1970 to 2261"
		spans  = "want id:length|id:length, ids and lengths from 1, lengths together at most input_tokens 9"
	)
	mooncake := func(time, input, output, ids string) string {
		return fmt.Sprintf(`{"timestamp":%s,"input_length":%s,"output_length":%s,"hash_ids":%s}`, time, input, output, ids)
	}
	long := strings.Repeat("x", 100)
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "t: no requests: the file is empty"},
		{"blank", "\n \n", "t: no requests: the file is empty"},
		{"header only", own, "t: no requests"},
		{"azure header only", azure, "t: no requests"},

		{"missing columns", "arrival_us,foo\n", `t:1: header: "arrival_us,foo": missing input_tokens, output_tokens; unknown "foo": want the columns arrival_us,input_tokens,output_tokens and any of tenant,slo_class,model,session,round,prefix_group,prefix_tokens,deadline_us,content,max_output,output_content,priority_hint (format blis)`},
		{"column twice", "arrival_us,input_tokens,output_tokens,input_tokens\n", `t:1: header: "arrival_us,input_tokens,output_tokens,input_tokens": given twice input_tokens: want the columns arrival_us,input_tokens,output_tokens and any of tenant,slo_class,model,session,round,prefix_group,prefix_tokens,deadline_us,content,max_output,output_content,priority_hint (format blis)`},
		{"azure columns", "TIMESTAMP,ContextTokens\n", `t:1: header: "TIMESTAMP,ContextTokens": missing GeneratedTokens: want the columns TIMESTAMP,ContextTokens,GeneratedTokens (format azure)`},
		{"header quote", `"arrival_us` + "\n", `t:1: header: "\"arrival_us": want quotes that are closed before the next comma`},

		{"negative", own + "1,-3,1", `t:2: input_tokens: "-3": ` + length},
		{"zero input", own + "1,0,1", `t:2: input_tokens: "0": ` + length},
		{"NaN", own + "1,NaN,1", `t:2: input_tokens: "NaN": ` + length},
		{"decimal", own + "1,1.5,1", `t:2: input_tokens: "1.5": ` + length},
		{"empty field", own + "1,,1", `t:2: input_tokens: "": ` + length},
		{"too long", own + "1,2147483648,1", `t:2: input_tokens: "2147483648": ` + length},
		{"overflow", own + "1,99999999999999999999999,1", `t:2: input_tokens: "99999999999999999999999": ` + length},
		{"long value", own + "1," + long + ",1", `t:2: input_tokens: "` + long[:60] + `"…: ` + length},
		{"output", own + "1,5,1\n\n1,5,-1", `t:4: output_tokens: "-1": want a whole number from 0 to 2147483647`},
		{"arrival", own + "-1,5,1", `t:2: arrival_us: "-1": want a whole number from 0 to 4611686018427387903`},
		{"late arrival", own + "4611686018427387904,5,1", `t:2: arrival_us: "4611686018427387904": want a whole number from 0 to 4611686018427387903`},
		{"few fields", own + "1,5", `t:2: row: "1,5": want 3 fields as in the header, not 2`},
		{"many fields", own + "1,5,1,", `t:2: row: "1,5,1,": want 3 fields as in the header, not 4`},
		{"open quote", own + `1,"5,1`, `t:2: row: "1,\"5,1": want quotes that are closed before the next comma`},

		{"prefix too long", rich + "1,9,1,g,10,,,,,", `t:2: prefix_tokens: "10": want a whole number from 0 to 9`},
		{"prefix without group", rich + "1,9,1,,5,,,,,", `t:2: prefix_group: "": want the name of the content of prefix_tokens 5`},
		{"group without prefix", rich + "1,9,1,g,,,,,,", `t:2: prefix_tokens: "": want a whole number from 0 to 9 for prefix_group "g"`},
		{"both", rich + "1,9,1,g,5,1:3,,,,", `t:2: content: "1:3": want it empty where prefix_group "g" is given`},
		{"content id 0", rich + "1,9,1,,,0:3,,,,", `t:2: content: "0:3": ` + spans},
		{"content length 0", rich + "1,9,1,,,1:0,,,,", `t:2: content: "1:0": ` + spans},
		{"content sum", rich + "1,9,1,,,1:5|2:5,,,,", `t:2: content: "1:5|2:5": ` + spans},
		{"content form", rich + "1,9,1,,,1:5|,,,,", `t:2: content: "1:5|": ` + spans},
		{"content colon", rich + "1,9,1,,,15,,,,", `t:2: content: "15": ` + spans},
		{"relative deadline", rich + "7000,9,1,,,,2000,,,", `t:2: deadline_us: "2000": want an absolute time, a whole number from arrival_us 7000 to 4611686018427387903`},
		{"max output", rich + "1,9,4,,,,,3,,", `t:2: max_output: "3": want a whole number from output_tokens 4 to 2147483647`},
		{"session", rich + "1,9,4,,,,,,x,", `t:2: session: "x": want a whole number from 0 to 18446744073709551615`},
		{"round", rich + "1,9,4,,,,,,,-1", `t:2: round: "-1": want a whole number from 0 to 2147483647`},

		{"azure date", azure + "2023-02-29 18:17:03,5,1", `t:2: TIMESTAMP: "2023-02-29 18:17:03": ` + date},
		{"azure year", azure + "1969-12-31 23:59:59,5,1", `t:2: TIMESTAMP: "1969-12-31 23:59:59": ` + date},
		{"azure before 1970 by zone", azure + "1970-01-01 00:00:00+01:00,5,1", `t:2: TIMESTAMP: "1970-01-01 00:00:00+01:00": ` + date},
		{"azure fraction", azure + "2023-02-28 18:17:03.,5,1", `t:2: TIMESTAMP: "2023-02-28 18:17:03.": ` + date},
		{"azure hour", azure + "2023-02-28 24:17:03,5,1", `t:2: TIMESTAMP: "2023-02-28 24:17:03": ` + date},
		{"azure tokens", azure + "2023-02-28 18:17:03,x,1", `t:2: ContextTokens: "x": ` + length},
		{"azure output", azure + "2023-02-28 18:17:03,5,", `t:2: GeneratedTokens: "": want a whole number from 0 to 2147483647`},

		{"cut line", `{"timestamp": 0, "input_length": 5, "outp`, `t:1: row: "{\"timestamp\": 0, \"input_length\": 5, \"outp": want one JSON object a line: unexpected end of JSON input`},
		{"no object", "{}\n[1]", `t:1: timestamp: "": want this key in every line`},
		{"list", mooncake("1", "5", "1", "[]") + "\n[1]", `t:2: row: "[1]": want one JSON object a line: json: cannot unmarshal array into Go value of type map[string]json.RawMessage`},
		{"missing key", `{"timestamp":1,"output_length":1,"hash_ids":[]}`, `t:1: input_length: "": want this key in every line`},
		{"timestamp", mooncake("-1", "5", "1", "[]"), `t:1: timestamp: "-1": want milliseconds from 0 to 4611686018427387, without exponent`},
		{"timestamp text", mooncake(`"1"`, "5", "1", "[]"), `t:1: timestamp: "\"1\"": want milliseconds from 0 to 4611686018427387, without exponent`},
		{"input", mooncake("1", "0", "1", "[]"), `t:1: input_length: "0": ` + length},
		{"input null", mooncake("1", "null", "1", "[]"), `t:1: input_length: "null": ` + length},
		{"output decimal", mooncake("1", "5", "1.5", "[]"), `t:1: output_length: "1.5": want a whole number from 0 to 2147483647`},
		{"too many ids", mooncake("1", "512", "1", "[1, 2]"), `t:1: hash_ids: "[1, 2]": want at most 1 ids of 512 tokens for input_length 512`},
		{"ids", mooncake("1", "512", "1", "7"), `t:1: hash_ids: "7": want a list of ids, [] for none`},
		{"id", mooncake("1", "2000", "1", "[1,-2]"), `t:1: hash_ids: "-2": want whole numbers from 0 to 18446744073709551614`},
		{"nested ids", mooncake("1", "2000", "1", "[1,[2]]"), `t:1: hash_ids: "[2]": want whole numbers from 0 to 18446744073709551614`},
		{"largest id", mooncake("1", "2000", "1", "[18446744073709551615]"), `t:1: hash_ids: "18446744073709551615": want whole numbers from 0 to 18446744073709551614`},
		{"NaN in JSON", mooncake("NaN", "5", "1", "[]"), `t:1: row: "{\"timestamp\":NaN,\"input_length\":5,\"output_length\":1,\"hash_id"…: want one JSON object a line: invalid character 'N' looking for beginning of value`},
	} {
		if _, err := Open("t", strings.NewReader(c.text), Options{}); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestBadTraceOptionsAreRefused(t *testing.T) {
	const text = "arrival_us,input_tokens,output_tokens\n1,1,1\n4611686018427387,1,1\n"
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Format: "json"}, `trace-format: "json": want one of blis, azure, mooncake, burstgpt, tokens, inference-sim, vidur, lengths, vllm-bench, guidellm, aiperf, genai-perf, inference-perf, otlp, servegen`},
		{Options{Format: "serve-gen"}, `trace-format: "serve-gen": want one of blis, azure, mooncake, burstgpt, tokens, inference-sim, vidur, lengths, vllm-bench, guidellm, aiperf, genai-perf, inference-perf, otlp, servegen, the nearest is "servegen"`},
		{Options{Format: "servegen"}, `trace-format: "servegen": want that of a trace: these are data of which requests are drawn, see package servegen`},
		{Options{BlockSize: -1}, "trace-block-size: -1: want at least 1 token, 0 for 512"},
		{Options{Speedup: -1}, "trace-speedup: -1: want a finite factor above 0, 0 for 1"},
		{Options{Speedup: math.NaN()}, "trace-speedup: NaN: want a finite factor above 0, 0 for 1"},
		{Options{Offset: -1, Limit: -2, Timeout: -3}, "trace-offset: -1: want 0 or more requests; trace-limit: -2: want at least 1 request, 0 for all; timeout: -3µs: want 0 (none) or more"},
		{Options{Offset: 2}, "trace-offset: 2: want less than the 2 requests of t"},
		{Options{Speedup: 1e-9}, "trace-speedup: 1e-09: the last arrival would pass the end of virtual time, 2⁶² µs; want a higher factor"},
		{Options{Format: Azure}, `t:1: header: "arrival_us,input_tokens,output_tokens": missing TIMESTAMP, ContextTokens, GeneratedTokens; unknown "arrival_us", "input_tokens", "output_tokens": want the columns TIMESTAMP,ContextTokens,GeneratedTokens (format azure)`},
	} {
		if _, err := Open("t", strings.NewReader(text), c.o); err == nil || err.Error() != c.want {
			t.Errorf("%+v:\n got %v\nwant %s", c.o, err, c.want)
		}
	}
	_, err := Open("t", strings.NewReader("arrival_us,input_tokens,output_tokens\n1,x,1\n2,y,1\n"), Options{SkipBadRows: true})
	want := `t: no requests: all 2 rows are bad, the first: t:2: input_tokens: "x": want a whole number from 1 to 2147483647`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestTooManyNamesAreAnError(t *testing.T) {
	var b strings.Builder
	b.WriteString("arrival_us,input_tokens,output_tokens,tenant\n")
	for i := range 65537 {
		fmt.Fprintf(&b, "%d,1,1,t%d\n", i, i)
	}
	_, err := Open("t", strings.NewReader(b.String()), Options{})
	if err == nil || err.Error() != `t:65538: tenant: "t65536": want at most 65536 different names` {
		t.Errorf("got %v", err)
	}
}
