package measured

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const passHeader = "phase,prefill_tokens,prefill_requests,prefill_context_tokens,decode_requests,decode_context_tokens,latency_ms"

func TestForwardPasses(t *testing.T) {
	const text = passHeader + ",note\n" +
		"context,300,1,0,0,0,12.5,a\n" +
		"context,300,1,100,0,0,14,a\n" +
		"decode,0,0,0,3,600,8.25,\n" +
		"mixed,9,2,0,2,40,20,\n" +
		",201,3,98,1,100,30,\n"
	want := []Step{
		{ID: 2, PrefillTokens: 300, PrefillRequests: 1, PrefillPairs: 300 * 301 / 2, Period: 12500},
		{ID: 3, PrefillTokens: 300, PrefillRequests: 1, PrefillContext: 100, PrefillPairs: 300*100 + 300*301/2, Period: 14000},
		{ID: 4, DecodeRequests: 3, DecodeContext: 603, Period: 8250},
		{ID: 5, PrefillTokens: 9, PrefillRequests: 2, PrefillPairs: 4*5/2 + 5*6/2, DecodeRequests: 2, DecodeContext: 42, Period: 20000},
		// Prompts of 99 or 100: one more token of the first, 100 of each of the others.
		{ID: 6, PrefillTokens: 201, PrefillRequests: 3, PrefillContext: 98, PrefillPairs: 98 + 1 + 2*(100*101/2), DecodeRequests: 1, DecodeContext: 101, Period: 30000},
	}
	for i := range want {
		s := &want[i]
		s.OwnTime, s.HasSums, s.DecodeTokens, s.ScheduledTokens = true, true, s.DecodeRequests, s.PrefillTokens+s.DecodeRequests
		s.Running = s.PrefillRequests + s.DecodeRequests
		s.SampledRows = s.Running
	}
	for _, c := range []struct {
		name, text string
		tp         int
	}{
		{"passes.csv", text, 0}, {"qwen-TP4.csv.gz", zipped(text), 4}, {"tp2.csv", text, 2}, {"a.tp16-b.csv", text, 16}, {"http8.csv", text, 0}, {"tp9999.csv", text, 0},
		{"x-tp2.csv", strings.NewReplacer("latency_ms", "tp,latency_ms", ",12.5,", ",8,12.5,", ",14,", ",8,14,", ",8.25,", ",8,8.25,", ",20,", ",8,20,", ",30,", ",8,30,").Replace(text), 8},
	} {
		got, err := ReadSteps(filepath.Join(write(t, c.name, c.text), c.name))
		for i := range want {
			want[i].TP = c.tp
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", c.name, err, got, want)
		}
	}
}

// Where prompts are equally long, and at most one was begun in a step before, the
// estimate is what vLLM's scheduler computed.
func TestPairsOfSumsOfEqualPrompts(t *testing.T) {
	for _, c := range []struct {
		name   string
		chunks [][2]int64 // tokens, and those computed before
		within float64    // relative error
	}{
		{"one whole", [][2]int64{{512, 0}}, 0},
		{"one chunk", [][2]int64{{512, 2048}}, 0},
		{"three whole", [][2]int64{{700, 0}, {700, 0}, {700, 0}}, 0},
		{"the rest of one and a whole one", [][2]int64{{1, 4095}, {4096, 0}}, 0},
		{"the rest of one, and one cut", [][2]int64{{26, 4070}, {4096, 0}, {4059, 0}}, 0.004},
		{"all begun", [][2]int64{{5000, 7000}}, 0},
	} {
		var tokens, context, pairs int64
		for _, p := range c.chunks {
			tokens, context, pairs = tokens+p[0], context+p[1], pairs+p[0]*p[1]+triangle(p[0])
		}
		got := pairsOfSums(tokens, int64(len(c.chunks)), context)
		if e := float64(got)/float64(pairs) - 1; e > c.within || e < -c.within {
			t.Errorf("%s: %d, want %d", c.name, got, pairs)
		}
	}
}

func TestBadForwardPassesAreOneClearLine(t *testing.T) {
	good := "mixed,10,2,5,2,40,1.5,4"
	header := passHeader + ",tp"
	with := func(values ...any) string { // column, value, …
		fields := strings.Split(good, ",")
		for i := 0; i < len(values); i += 2 {
			fields[values[i].(int)] = values[i+1].(string)
		}
		return header + "\n" + strings.Join(fields, ",") + "\n"
	}
	const needed = "prefill_tokens,prefill_requests,prefill_context_tokens,decode_requests,decode_context_tokens,latency_ms"
	const tokens, requests, time = "want a whole number from 0 to 1073741824", "want a whole number from 0 to 1048576", "want a number from 0 to 8.64e+07"
	refuse(t, readPasses, append(unreadable(header, good, "8"), []badFile{
		{"empty", "", "t: the file is empty: want a line with the columns " + needed},
		{"header only", header, "t: no forward passes: want a row for each below the header"},
		{"missing columns", "decode_context_tokens,latency_ms\n1,2\n", "t:1: header: missing prefill_tokens, prefill_requests, prefill_context_tokens, decode_requests: want the columns " + needed},
		{"negative", with(1, "-1"), `t:2: prefill_tokens: "-1": ` + tokens},
		{"decimal", with(2, "2.0"), `t:2: prefill_requests: "2.0": ` + requests},
		{"too many tokens", with(3, "1073741825"), `t:2: prefill_context_tokens: "1073741825": ` + tokens},
		{"NaN", with(4, "NaN"), `t:2: decode_requests: "NaN": ` + requests},
		{"empty value", with(5, ""), `t:2: decode_context_tokens: "": ` + tokens},
		{"no time", with(6, ""), `t:2: latency_ms: "": want a time above 0`},
		{"zero time", with(6, "0"), `t:2: latency_ms: "0": want a time above 0`},
		{"NaN time", with(6, "nan"), `t:2: latency_ms: "nan": ` + time},
		{"infinite time", with(6, "Inf"), `t:2: latency_ms: "Inf": ` + time},
		{"negative time", with(6, "-3"), `t:2: latency_ms: "-3": ` + time},
		{"longer than a day", with(6, "8.7e7"), `t:2: latency_ms: "8.7e7": ` + time},
		{"tp", with(7, "0"), `t:2: tp: "0": want a whole number from 1 to 1024`},
		{"nothing", with(1, "0", 2, "0", 3, "0", 4, "0", 5, "0"), `t:2: prefill_requests: "0": want a pass with requests, as decode_requests is 0 too`},
		{"tokens of nobody", with(2, "0", 3, "0"), `t:2: prefill_tokens: "10": want 0, as prefill_requests is`},
		{"prefills without tokens", with(1, "1"), `t:2: prefill_tokens: "1": want at least 1 for each of the prefill_requests 2`},
		{"context of nobody", with(1, "0", 2, "0"), `t:2: prefill_context_tokens: "5": want 0, as prefill_requests is`},
		{"decode context of nobody", with(4, "0"), `t:2: decode_context_tokens: "40": want 0, as decode_requests is`},
		{"a mean, not a sum", with(4, "64"), `t:2: decode_context_tokens: "40": want at least 1 for each of the decode_requests 64: the sum over them`},
		{"phase", with(0, "decode"), `t:2: phase: "decode": want mixed, as the requests say`},
		{"unknown phase", with(0, "prefill"), `t:2: phase: "prefill": want mixed, as the requests say`},
		{"context with decodes", with(0, "context"), `t:2: phase: "context": want mixed, as the requests say`},
	}...))
}
