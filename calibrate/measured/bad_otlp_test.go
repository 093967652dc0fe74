package measured

import (
	"fmt"
	"strings"
	"testing"
)

// export is one export with spans.
func export(spans ...string) string {
	return `{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"scope":{"name":"x"},"spans":[` + strings.Join(spans, ",") + `]}]}]}`
}

// spanOf is a span of a name and an id, with attributes as attributes makes them
// and events as eventOf does. It begins at second start and lasts some.
func spanOf(name, id string, start, seconds int64, attributes string, events ...string) string {
	return fmt.Sprintf(`{"traceId":"t%s","spanId":"%s","name":"%s","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s],"events":[%s]}`,
		id, id, name, start*1e9, (start+seconds)*1e9, attributes, strings.Join(events, ","))
}

// eventOf is an event at a time in ns.
func eventOf(name string, at int64, attributes string) string {
	return fmt.Sprintf(`{"name":"%s","timeUnixNano":"%d","attributes":[%s]}`, name, at, attributes)
}

// attributes are given as key and value, one after the other; values are of the
// type that OTLP has for them.
func attributes(pairs ...any) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		value := ""
		switch v := pairs[i+1].(type) {
		case int:
			value = fmt.Sprintf(`{"intValue":"%d"}`, v)
		case float64:
			value = fmt.Sprintf(`{"doubleValue":%v}`, v)
		case string:
			value = fmt.Sprintf(`{"stringValue":%q}`, v)
		case raw:
			value = string(v)
		}
		list = append(list, fmt.Sprintf(`{"key":%q,"value":%s}`, pairs[i], value))
	}
	return strings.Join(list, ",")
}

// raw is the JSON of a value of an attribute.
type raw string

// stepOf is a step.BATCH_SUMMARY of a prefill of 10 tokens and 2 decodes, with
// some attributes given other values.
func stepOf(id int, changed ...any) string {
	pairs := []any{"step.id", id, "step.ts_start_ns", 1000 + 2_000_000*id, "batch.num_prefill_reqs", 1, "batch.num_decode_reqs", 2,
		"batch.prefill_tokens", 10, "batch.decode_tokens", 2, "batch.scheduled_tokens", 12, "kv.usage_gpu_ratio", 0.5,
		"kv.blocks_total_gpu", 100, "kv.blocks_free_gpu", 50, "step.duration_us", 30, "queue.running_depth", 4, "queue.waiting_depth", 1}
	for i := 0; i < len(changed); i += 2 {
		for k := 0; k < len(pairs); k += 2 {
			if pairs[k] == changed[i] {
				pairs[k+1] = changed[i+1]
			}
		}
	}
	return eventOf("step.BATCH_SUMMARY", 0, attributes(pairs...))
}

// snapshotOf is a step.REQUEST_SNAPSHOT.
func snapshotOf(id, prompt, computed, output, chunk int) string {
	return eventOf("step.REQUEST_SNAPSHOT", 0, attributes("step.id", id, "request.id", "r", "request.phase", "PREFILL", "request.num_prompt_tokens", prompt,
		"request.num_computed_tokens", computed, "request.num_output_tokens", output, "request.scheduled_tokens_this_step", chunk))
}

func steps(events ...string) string {
	return export(spanOf("scheduler_steps", "5", 1, 1, "", events...))
}

func TestBadTracesAreOneClearLine(t *testing.T) {
	const prompt, latency = "gen_ai.usage.prompt_tokens", "gen_ai.latency.time_in_model_prefill"
	request := func(pairs ...any) string { return export(spanOf("llm_request", "a1", 5, 2, attributes(pairs...))) }
	good := request(prompt, 5)
	times := func(start, end string) string {
		return export(`{"name":"llm_request","spanId":"a1","startTimeUnixNano":` + start + `,"endTimeUnixNano":` + end + `}`)
	}
	const none = "t: no spans: want OTLP-JSON, objects with resourceSpans"
	const nanos = "want nanoseconds since 1970, from 1 to 4611686018427387904"
	const seconds = "want seconds from 0 to 4611686018427"
	const count = "want a whole number from 0 to 1099511627776"
	refuse(t, readOTLP, []badFile{
		{"empty", "", none},
		{"empty list", "[]", none},
		{"no spans", export(), none},
		{"other signals", `{"resourceLogs":[{"scopeLogs":[]}]}`, none},
		{"number", "7", `t:1: export: "7": want an object with resourceSpans, or a list of them`},
		{"list of numbers", "[7]", `t:1: export: "7": want an object`},
		{"second line", good + "\n\"x\"", `t:2: export: "x": want an object with resourceSpans, or a list of them`},
		{"no JSON", good + "\nspan\n", "t:2: no JSON: invalid character 's' looking for beginning of value"},
		{"cut", good + "\n" + good[:200], "t: after line 2: the data end too early: want the whole file"},
		{"cut list", "[" + good + ",", "t: after line 1: the data end too early: want the whole file"},
		{"brackets", strings.Repeat("[", 100_000), `t:1: export: "[": want an object`},
		{"deep attribute", `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Repeat(`{"a":`, 20_000), "t:1: no JSON: invalid character '{' exceeded max depth"},
		{"cut gzip", zipped(good + good)[:100], "t: after line 1: the data end too early: want the whole file"},
		{"resourceSpans", `{"resourceSpans":{}}`, `t:1: resourceSpans: "{": want a list`},
		{"scopeSpans", `{"resourceSpans":[{"scopeSpans":7}]}`, `t:1: scopeSpans: "7": want a list`},
		{"span", `{"resourceSpans":[{"scopeSpans":[{"spans":[` + "\n" + `7]}]}]}`, `t:2: span: a JSON number: want an object`},
		{"name", export(`{"name":7}`), `t:1: span.name: a JSON number: want a string`},
		{"attributes", export(`{"name":"llm_request","attributes":{}}`), `t:1: span.attributes: a JSON object: want a list`},
		{"value", request(prompt, raw("7")), `t:1: span.attributes.value: a JSON number: want an object`},
		{"no start", times("null", `"5"`), `t:1: llm_request "a1": startTimeUnixNano: "null": ` + nanos},
		{"negative start", times("-5", `"5"`), `t:1: llm_request "a1": startTimeUnixNano: "-5": ` + nanos},
		{"start in seconds", times("1.5", `"5"`), `t:1: llm_request "a1": startTimeUnixNano: "1.5": ` + nanos},
		{"late end", times("5", `"18446744073709551615"`), `t:1: llm_request "a1": endTimeUnixNano: "18446744073709551615": ` + nanos},
		{"end before start", good + "\n" + times("5", `"4"`), `t:2: llm_request "a1": endTimeUnixNano: "4": want a time not before startTimeUnixNano 5`},
		{"no tokens", request(prompt, 0), `t:1: llm_request "a1": gen_ai.usage.prompt_tokens: "0": want a whole number from 1 to 2147483647`},
		{"tokens", request(prompt, "many"), `t:1: llm_request "a1": gen_ai.usage.prompt_tokens: "many": want a whole number from 1 to 2147483647`},
		{"list of tokens", request(prompt, raw(`{"arrayValue":{"values":[]}}`)), `t:1: llm_request "a1": gen_ai.usage.prompt_tokens: "": want a whole number from 1 to 2147483647`},
		{"negative latency", request(latency, -0.5), `t:1: llm_request "a1": gen_ai.latency.time_in_model_prefill: "-0.5": ` + seconds},
		{"NaN latency", request(latency, raw(`{"doubleValue":"NaN"}`)), `t:1: llm_request "a1": gen_ai.latency.time_in_model_prefill: "NaN": ` + seconds},
		{"infinite latency", request(latency, raw(`{"doubleValue":"Infinity"}`)), `t:1: llm_request "a1": gen_ai.latency.time_in_model_prefill: "Infinity": ` + seconds},
		{"first token after the end", request("gen_ai.latency.time_to_first_token", 2.5, "gen_ai.latency.e2e", 2.25), `t:1: llm_request "a1": gen_ai.latency.time_to_first_token: "2.5": want at most gen_ai.latency.e2e 2250ms`},
		{"events out of order", export(spanOf("llm_core", "a1", 5, 2, "", eventOf("journey.QUEUED", 7e9, ""), eventOf("journey.SCHEDULED", 6e9, ""))), `t:1: llm_core "a1": SCHEDULED: "6000000000": want a time not before 7000000000, that of the event that comes before it`},
		{"event without time", export(spanOf("llm_core", "a1", 5, 2, "", eventOf("QUEUED", 7e9, ""), `{"name":"SCHEDULED"}`)), `t:1: llm_core "a1" event 2: timeUnixNano: "": ` + nanos},

		{"step without id", steps(strings.Replace(stepOf(1), "step.id", "step", 1)), `t:1: scheduler_steps "5" event 1: step.id: "": want a whole number from 0 to 4611686018427387904`},
		{"step counts", steps(stepOf(1), stepOf(2, "batch.num_decode_reqs", -2)), `t:1: scheduler_steps "5" event 2: batch.num_decode_reqs: "-2": ` + count},
		{"step sum", steps(stepOf(1, "batch.scheduled_tokens", 13)), `t:1: scheduler_steps "5" event 1: batch.scheduled_tokens: "13": want 12, as batch.prefill_tokens + batch.decode_tokens is`},
		{"step tokens", steps(stepOf(1, "batch.num_prefill_reqs", 0)), `t:1: scheduler_steps "5" event 1: batch.prefill_tokens: "10": want 0, as batch.num_prefill_reqs is`},
		{"step usage", steps(stepOf(1, "kv.usage_gpu_ratio", 1.5)), `t:1: scheduler_steps "5" event 1: kv.usage_gpu_ratio: "1.5": want a number from 0 to 1`},
		{"step usage NaN", steps(stepOf(1, "kv.usage_gpu_ratio", raw(`{"doubleValue":"NaN"}`))), `t:1: scheduler_steps "5" event 1: kv.usage_gpu_ratio: "NaN": want a number from 0 to 1`},
		{"step span", export(spanOf("step.BATCH_SUMMARY", "5", 1, 1, attributes("step.id", 1))), `t:1: span "5": batch.num_prefill_reqs: "": ` + count},
		{"two engines", steps(stepOf(1), stepOf(2)) + "\n" + export(spanOf("scheduler_steps", "6", 1, 1, "", stepOf(1))), `t:2: step.id: 1: a second step of this number: want the steps of one engine`},
		{"time goes back", steps(stepOf(1), stepOf(2, "step.ts_start_ns", 5)), `t:1: step.ts_start_ns: 5: want a time after 2001000, when step 1 began: the steps of one engine`},
		{"snapshot", steps(stepOf(1), snapshotOf(1, -1, 0, 0, 5)), `t:1: scheduler_steps "5" event 2: request.num_prompt_tokens: "-1": want a whole number from 0 to 16777216`},
		{"snapshots beyond sums", steps(strings.Repeat(snapshotOf(1, 1<<24, 1<<24-1, 1<<24, 1<<24)+",", 11_000) + stepOf(1)), `t:1: scheduler_steps "5" event 10923: request.num_computed_tokens: "16777215": want fewer requests, or shorter ones, in one step`},
		{"snapshots of more", steps(stepOf(1), snapshotOf(1, 20, 0, 0, 13)), `t:1: step.id: 1: its step.REQUEST_SNAPSHOTs have 1 requests and 13 tokens: want at most the 3 and 12 of its step.BATCH_SUMMARY`},
	})
}
