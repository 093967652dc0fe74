package measured

import (
	"slices"
	"strings"
	"testing"
)

const loopHeader = "model,gpu,precision,vllm_version,input_tokens,output_tokens,concurrency,tp,pp,attention_dp,moe_tp,moe_ep,gemm_quant,moe_quant,mean_ttft_ms,mean_tpot_ms"

func TestClosedLoops(t *testing.T) {
	const text = loopHeader + ",date\n" +
		"a/moe,b300_sxm,FP4,0.19.0,1000,500,64,4,1,4,1,16,NVFP4,nvfp4,120.5,9.25,today\n" +
		"a/moe,H200,fp8,0.13.1rc2,1000,500,64,2,1,,1,8,,fp8,1e2,9,\n" +
		"b/dense,x,,,7,2,1,8,,,1,1,,,1,0.001,\n" +
		"b/dense,x,,nightly-1,7,2,1,8,2,,0,0,,,1,1,\n"
	want := []ClosedLoop{
		{Line: 2, Model: "a/moe", GPU: "b300-sxm", Precision: "fp4", EngineVersion: "0.19.0", Input: 1000, Output: 500, Concurrency: 64, TP: 4, PP: 1, AttentionDP: 4,
			MoETP: 1, MoEEP: 16, GEMMQuant: "nvfp4", MoEQuant: "nvfp4", TTFT: 120500, TPOT: 9250},
		{Line: 3, Model: "a/moe", GPU: "H200", Precision: "fp8", EngineVersion: "0.13.1rc2", Input: 1000, Output: 500, Concurrency: 64, TP: 2, PP: 1, AttentionDP: 4,
			MoETP: 1, MoEEP: 8, MoEQuant: "fp8", TTFT: 100000, TPOT: 9000},
		{Line: 4, Model: "b/dense", GPU: "x", Input: 7, Output: 2, Concurrency: 1, TP: 8, PP: 1, AttentionDP: 1, MoETP: 1, MoEEP: 1, TTFT: 1000, TPOT: 1},
		{Line: 5, Model: "b/dense", GPU: "x", EngineVersion: "nightly-1", Input: 7, Output: 2, Concurrency: 1, TP: 8, PP: 2, AttentionDP: 1, TTFT: 1000, TPOT: 1000},
	}
	for _, text := range []string{text, zipped(text)} {
		got, err := readClosedLoops("t", strings.NewReader(text))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
		}
	}
	for i, c := range []struct{ async, reserves bool }{{true, true}, {false, false}, {true, true}, {true, true}} {
		if p := &want[i]; p.AsyncScheduling() != c.async || p.ReserveFullISL() != c.reserves {
			t.Errorf("vLLM %s: async scheduling %v, reserves %v", p.EngineVersion, p.AsyncScheduling(), p.ReserveFullISL())
		}
	}
}

func TestBadClosedLoopsAreOneClearLine(t *testing.T) {
	good := "m,h100_sxm,fp8,0.15.1,1024,512,16,4,1,2,1,8,fp8,fp8,200.5,12"
	with := func(values ...any) string { // column, value, …
		fields := strings.Split(good, ",")
		for i := 0; i < len(values); i += 2 {
			fields[values[i].(int)] = values[i+1].(string)
		}
		return loopHeader + "\n" + strings.Join(fields, ",") + "\n"
	}
	const needed = "model,gpu,input_tokens,output_tokens,concurrency,tp,mean_ttft_ms,mean_tpot_ms"
	const degree, time = "want a whole number from 1 to 1024", "want a number from 0 to 8.64e+07"
	refuse(t, readClosedLoops, append(unreadable(loopHeader, good, "16"), []badFile{
		{"empty", "", "t: the file is empty: want a line with the columns " + needed},
		{"header only", loopHeader, "t: no benchmarks: want a row for each below the header"},
		{"missing columns", "model,tp\nm,2\n", "t:1: header: missing gpu, input_tokens, output_tokens, concurrency, mean_ttft_ms, mean_tpot_ms: want the columns " + needed},
		{"no model", with(0, ""), `t:2: model: "": want the id of a model`},
		{"no GPU", with(1, ""), `t:2: gpu: "": want the name of a GPU`},
		{"no prompt", with(4, "0"), `t:2: input_tokens: "0": want a whole number from 1 to 1073741824`},
		{"one token", with(5, "1"), `t:2: output_tokens: "1": want a whole number from 2 to 1073741824`},
		{"decimal", with(5, "512.5"), `t:2: output_tokens: "512.5": want a whole number from 2 to 1073741824`},
		{"no users", with(6, "0"), `t:2: concurrency: "0": want a whole number from 1 to 1048576`},
		{"many users", with(6, "1048577"), `t:2: concurrency: "1048577": want a whole number from 1 to 1048576`},
		{"tp", with(7, ""), `t:2: tp: "": ` + degree},
		{"tp 0 and GPUs of experts", with(7, "0", 9, ""), `t:2: tp: "0": ` + degree},
		{"pp", with(8, "0"), `t:2: pp: "0": ` + degree},
		{"attention_dp", with(9, "0"), `t:2: attention_dp: "0": ` + degree},
		{"GPUs of attention", with(9, "3"), `t:2: attention_dp: "3": want a number with which tp·attention_dp is the 8 GPUs of moe_tp·moe_ep`},
		{"GPUs of experts", with(9, "", 11, "9"), `t:2: attention_dp: "": want a number: the 9 GPUs of moe_tp·moe_ep are no multiple of tp 4`},
		{"moe_tp", with(10, "-1"), `t:2: moe_tp: "-1": want a whole number from 0 to 1024`},
		{"moe_ep", with(11, "x"), `t:2: moe_ep: "x": want a whole number from 0 to 1024`},
		{"no TTFT", with(14, ""), `t:2: mean_ttft_ms: "": want a time above 0`},
		{"zero TPOT", with(15, "0"), `t:2: mean_tpot_ms: "0": want a time above 0`},
		{"negative TPOT", with(15, "-1"), `t:2: mean_tpot_ms: "-1": ` + time},
		{"NaN TPOT", with(15, "NaN"), `t:2: mean_tpot_ms: "NaN": ` + time},
		{"infinite TTFT", with(14, "Inf"), `t:2: mean_ttft_ms: "Inf": ` + time},
		{"TTFT of days", with(14, "9e7"), `t:2: mean_ttft_ms: "9e7": ` + time},
	}...))
}
