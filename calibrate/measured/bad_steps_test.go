package measured

import (
	"strings"
	"testing"
)

func TestBadStepsAreOneClearLine(t *testing.T) {
	const header = "batch.num_prefill_reqs,batch.num_decode_reqs,batch.prefill_tokens,batch.decode_tokens,batch.scheduled_tokens,period_us," +
		"tp,step.id,prev_step_in_sample,kv.usage_gpu_ratio,kv.blocks_total_gpu,kv.blocks_free_gpu,step.duration_us," +
		"prefill_pairs,prefill_context,decode_context,sampled_rows"
	good := "1,2,10,2,12,1500.5,4,7,0,0.5,100,50,30,55,0,40,3"
	with := func(values ...any) string { // column, value, …
		fields := strings.Split(good, ",")
		for i := 0; i < len(values); i += 2 {
			fields[values[i].(int)] = values[i+1].(string)
		}
		return header + "\n" + strings.Join(fields, ",") + "\n"
	}
	const needed = "batch.num_prefill_reqs,batch.num_decode_reqs,batch.prefill_tokens,batch.decode_tokens,period_us"
	const count, time = "want a whole number from 0 to 1099511627776", "want a number from 0 to 8.64e+10"
	const sum = "want a whole number from 0 to 4611686018427387904"
	refuse(t, readSteps, append(unreadable(header, good, "17"), []badFile{
		{"empty", "", "t: the file is empty: want a line with the columns " + needed},
		{"header only", header, "t: no steps: want a row for each below the header"},
		{"missing columns", "step.id,period_us\n1,2\n", "t:1: header: missing batch.num_prefill_reqs, batch.num_decode_reqs, batch.prefill_tokens, batch.decode_tokens: want the columns " + needed},
		{"some sums", needed + ",prefill_pairs,sampled_rows\n", "t:1: header: missing prefill_context, decode_context: want all of prefill_pairs,prefill_context,decode_context,sampled_rows, or none"},
		{"some sums of a row", with(14, ""), `t:2: prefill_context: "": ` + sum},
		{"negative", with(0, "-1"), `t:2: batch.num_prefill_reqs: "-1": ` + count},
		{"decimal", with(1, "2.0"), `t:2: batch.num_decode_reqs: "2.0": ` + count},
		{"NaN tokens", with(2, "NaN"), `t:2: batch.prefill_tokens: "NaN": ` + count},
		{"too many tokens", with(3, "1099511627777"), `t:2: batch.decode_tokens: "1099511627777": ` + count},
		{"sum of tokens", with(4, "13"), `t:2: batch.scheduled_tokens: "13": want 12, as batch.prefill_tokens + batch.decode_tokens is`},
		{"no period", with(5, ""), `t:2: period_us: "": want a time above 0`},
		{"zero period", with(5, "0"), `t:2: period_us: "0": want a time above 0`},
		{"NaN period", with(5, "NaN"), `t:2: period_us: "NaN": ` + time},
		{"infinite period", with(5, "+Inf"), `t:2: period_us: "+Inf": ` + time},
		{"negative period", with(5, "-3"), `t:2: period_us: "-3": ` + time},
		{"long period", with(5, "1e11"), `t:2: period_us: "1e11": ` + time},
		{"tp", with(6, "0"), `t:2: tp: "0": want a whole number from 1 to 1024`},
		{"step", with(7, "x"), `t:2: step.id: "x": ` + sum},
		{"previous", with(8, "maybe"), `t:2: prev_step_in_sample: "maybe": want 1 or 0, true or false`},
		{"no previous", with(8, "1"), `t:2: prev_step_in_sample: "1": want 0: by experiment_id and step.id the row above is not the step before`},
		{"previous denied", with() + strings.Replace(good, ",7,0,", ",8,0,", 1), `t:3: prev_step_in_sample: "0": want 1: by experiment_id and step.id the row above is the step before`},
		{"usage", with(9, "1.01"), `t:2: kv.usage_gpu_ratio: "1.01": want a number from 0 to 1`},
		{"NaN usage", with(9, "nan"), `t:2: kv.usage_gpu_ratio: "nan": want a number from 0 to 1`},
		{"free blocks", with(11, "101"), `t:2: kv.blocks_free_gpu: "101": want at most kv.blocks_total_gpu 100`},
		{"duration", with(12, "-1"), `t:2: step.duration_us: "-1": ` + time},
		{"tokens of nobody", with(0, "0"), `t:2: batch.prefill_tokens: "10": want 0, as batch.num_prefill_reqs is`},
		{"prefills without tokens", with(0, "11"), `t:2: batch.prefill_tokens: "10": want at least 1 for each of the batch.num_prefill_reqs 11`},
		{"decode of nobody", with(1, "0"), `t:2: batch.decode_tokens: "2": want 0, as batch.num_decode_reqs is`},
		{"decodes without tokens", with(1, "3"), `t:2: batch.decode_tokens: "2": want at least 1 for each of the batch.num_decode_reqs 3`},
		{"nothing", with(0, "0", 1, "0", 2, "0", 3, "0", 4, "0"), `t:2: batch.prefill_tokens: "0": want a step that schedules tokens, as batch.decode_tokens is 0 too`},
		{"too few pairs", with(13, "9"), `t:2: prefill_pairs: "9": want at least batch.prefill_tokens 10`},
		{"too many pairs", with(13, "56"), `t:2: prefill_pairs: "56": want at most 55, a prefill of all tokens at once, as prefill_context is 0`},
		{"pairs of nobody", with(0, "0", 2, "0", 4, "2"), `t:2: prefill_pairs: "55": want 0, as batch.num_prefill_reqs is`},
		{"context of nobody", with(0, "0", 2, "0", 4, "2", 13, "0", 14, "5"), `t:2: prefill_context: "5": want 0, as batch.num_prefill_reqs is`},
		{"decode context", with(15, "1"), `t:2: decode_context: "1": want at least batch.decode_tokens 2`},
		{"decode context of nobody", with(1, "0", 3, "0", 4, "10"), `t:2: decode_context: "40": want 0, as batch.num_decode_reqs is`},
		{"few rows", with(16, "1"), `t:2: sampled_rows: "1": want at least batch.num_decode_reqs 2: all of them yield a token`},
		{"many rows", with(16, "4"), `t:2: sampled_rows: "4": want at most the 3 requests of the batch`},
	}...))
}

const metaText = `{
 "model": "m/x", "vllm_version": "0.19.0", "num_requests": 2,
 "engine_kwargs": {"tensor_parallel_size": 2, "data_parallel_size": 1, "max_num_seqs": 64, "max_num_batched_tokens": 2048, "max_model_len": null},
 "kv_cache": {"num_gpu_blocks": 101, "block_size": 16, "enable_prefix_caching": false},
 "hardware": {"device_name": "GPU"},
 "resolved_config": {"scheduler_config": {"async_scheduling": false, "scheduler_reserve_full_isl": false, "enable_chunked_prefill": true, "max_num_seqs": 32},
  "model_config": {"max_model_len": 8192}, "cache_config": {"kv_offloading_size": 4}, "lists": [1, {"model": 3}, [[]]]}
}`

func TestBadMetaIsOneClearLine(t *testing.T) {
	with := func(old, new string) string {
		if !strings.Contains(metaText, old) {
			t.Fatalf("no %s to replace", old)
		}
		return strings.Replace(metaText, old, new, 1)
	}
	const limit = "want a whole number from 1 to 2147483647"
	refuse(t, readMeta, []badFile{
		{"empty", "", "t: the file is empty: want the description of a run"},
		{"list", "[1]", `t:1: row: "[": want a JSON object`},
		{"no JSON", "model: x", "t:1: no JSON: invalid character 'm' looking for beginning of value"},
		{"cut", metaText[:200], "t: after line 3: the data end too early: want the whole file"},
		{"not gzip", "\x1f\x8b{}", "t: after line 0: the data end too early: want the whole file"},
		{"no model", with(`"model": "m/x"`, `"modell": ""`), `t: model: not there: want a text`},
		{"null model", with(`"m/x"`, "null"), `t:2: model: "null": want a text`},
		{"model list", with(`"m/x"`, `["m"]`), `t:2: model: "[": want a text`},
		{"empty model", with(`"m/x"`, `""`), `t:2: model: "": want a text`},
		{"no version", with(`"vllm_version": "0.19.0",`, ""), `t: vllm_version: not there: want a text`},
		{"version", with(`"0.19.0"`, "0.19"), `t:2: vllm_version: "0.19": want a text`},
		{"tp", with(`"tensor_parallel_size": 2`, `"tensor_parallel_size": 0`), `t:3: engine_kwargs.tensor_parallel_size: "0": want a whole number from 1 to 1024`},
		{"dp", with(`"data_parallel_size": 1`, `"data_parallel_size": "1"`), `t:3: engine_kwargs.data_parallel_size: "1": want a whole number from 1 to 1024`},
		{"seats", with(`"max_num_seqs": 32`, `"max_num_seqs": -1`), `t:6: resolved_config.scheduler_config.max_num_seqs: "-1": ` + limit},
		{"tokens", with("2048", "2048.5"), `t:3: engine_kwargs.max_num_batched_tokens: "2048.5": ` + limit},
		{"length", with("8192", "8e3"), `t:7: resolved_config.model_config.max_model_len: "8e3": ` + limit},
		{"blocks", with("101", "1"), `t:4: kv_cache.num_gpu_blocks: "1": want a whole number from 2 to 2147483647`},
		{"block size", with(`"block_size": 16`, `"block_size": {"x": 1}`), `t:4: kv_cache.block_size: "{": ` + limit},
		{"caching", with(`"enable_prefix_caching": false`, `"enable_prefix_caching": 0`), `t:4: kv_cache.enable_prefix_caching: "0": want true or false`},
		{"async", with(`"async_scheduling": false`, `"async_scheduling": "no"`), `t:6: resolved_config.scheduler_config.async_scheduling: "no": want true or false`},
		{"reserve", with(`"scheduler_reserve_full_isl": false`, `"scheduler_reserve_full_isl": []`), `t:6: resolved_config.scheduler_config.scheduler_reserve_full_isl: "[": want true or false`},
		{"offload", with(`"kv_offloading_size": 4`, `"kv_offloading_size": -4`), `t:7: resolved_config.cache_config.kv_offloading_size: "-4": want a number from 0 to 1e+06`},
		{"device", with(`"GPU"`, "7"), `t:5: hardware.device_name: "7": want a text`},
		{"requests", with(`"num_requests": 2`, `"num_requests": -2`), `t:2: num_requests: "-2": want a whole number from 0 to 2147483647`},
		{"deep", `{"a":` + strings.Repeat(`{"a":`, 100), "t:1: more than 64 nested values: want a description of a run"},
		{"deep list", `{"a":` + strings.Repeat(`[`, 100_000), "t: after line 1: the data end too early: want the whole file"},
	})
}

func TestBadEngineRowsAreOneClearLine(t *testing.T) {
	const good = `{"request_id":"a","input_toks":5,"output_toks":7,"arrival_time":1712345678.08,"queued_ts":10.5,"scheduled_ts":10.6,"first_token_ts":10.7,"last_token_ts":11}`
	with := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %s to replace", old)
		}
		return good + "\n" + strings.Replace(good, old, new, 1)
	}
	const count, clock = "want a whole number from 1 to 2147483647", "want seconds from 0 to 4611686018"
	refuse(t, readEngineRows, []badFile{
		{"empty", "", "t: no requests: want a JSON object for each"},
		{"blank", " \n\n ", "t: no requests: want a JSON object for each"},
		{"list", "[]", `t:1: row: "[": want a JSON object`},
		{"text", good + "\nx", "t:2: no JSON: invalid character 'x' looking for beginning of value"},
		{"number", good + "\n7", `t:2: row: "7": want a JSON object`},
		{"cut", good + "\n" + good[:40], "t: after line 2: the data end too early: want the whole file"},
		{"cut gzip", zipped(good + good)[:60], "t: after line 1: the data end too early: want the whole file"},
		{"no input", with(`"input_toks":5,`, ""), "t:2: input_toks: not there: want a whole number from 1 to 2147483647"},
		{"null input", with(`"input_toks":5`, `"input_toks":null`), `t:2: input_toks: "null": ` + count},
		{"input", with(`"input_toks":5`, `"input_toks":-5`), `t:2: input_toks: "-5": ` + count},
		{"input text", with(`"input_toks":5`, `"input_toks":"5"`), `t:2: input_toks: "5": ` + count},
		{"output", with(`"output_toks":7`, `"output_toks":7.5`), `t:2: output_toks: "7.5": ` + count},
		{"no output", with(`"output_toks":7`, `"output_toks":0`), `t:2: output_toks: "0": ` + count},
		{"long output", with(`"output_toks":7`, `"output_toks":2147483648`), `t:2: output_toks: "2147483648": ` + count},
		{"no arrival", with(`"arrival_time":1712345678.08,`, ""), "t:2: arrival_time: not there: want seconds since 1970, above 0"},
		{"zero arrival", with("1712345678.08", "0.0"), `t:2: arrival_time: "0.0": want seconds since 1970, above 0`},
		{"negative arrival", with("1712345678.08", "-1"), `t:2: arrival_time: "-1": ` + clock},
		{"arrival in µs", with("1712345678.08", "1712345678080000"), `t:2: arrival_time: "1712345678080000": ` + clock},
		{"huge arrival", with("1712345678.08", "1e999"), `t:2: arrival_time: "1e999": ` + clock},
		{"arrival text", with("1712345678.08", `"NaN"`), `t:2: arrival_time: "NaN": ` + clock},
		{"NaN", with("1712345678.08", "NaN"), "t:2: no JSON: invalid character 'N' looking for beginning of value"},
		{"scheduled before queued", with("10.6", "10.4"), `t:2: scheduled_ts: "10.4": want a time not before queued_ts`},
		{"first token before scheduled", with("10.7", "10.5"), `t:2: first_token_ts: "10.5": want a time not before scheduled_ts`},
		{"last token before first", with(`"last_token_ts":11`, `"last_token_ts":1`), `t:2: last_token_ts: "1": want a time not before first_token_ts`},
		{"scheduled but not queued", with(`"queued_ts":10.5`, `"queued_ts":null`), `t:2: scheduled_ts: "10.6": want a time not before queued_ts`},
		{"queued as a list", with(`"queued_ts":10.5`, `"queued_ts":[10.5]`), `t:2: queued_ts: "[": ` + clock},
	})
}
