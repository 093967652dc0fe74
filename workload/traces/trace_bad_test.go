package traces

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"blis/cputime"
)

// badFile is a text that is no trace of its format, and the one line that says so.
type badFile struct{ name, text, want string }

// csvFormat is what the faults that any CSV file may have need to know.
type csvFormat struct {
	format   Format
	required []string
	optional []string
	others   bool              // columns that are not known are ignored
	row      map[string]string // a good row of the required columns
	time     string            // the column with the arrival; empty: none
	badTime  string            // what is wanted there
	low      int               // least input
}

// faults are the files that are bad in every CSV format alike.
func (c csvFormat) faults() []badFile {
	head := strings.Join(c.required, ",")
	row := func(column, value string) string {
		var fields []string
		for _, name := range c.required {
			v := c.row[name]
			if name == column {
				v = value
			}
			fields = append(fields, v)
		}
		return strings.Join(fields, ",")
	}
	good, width := row("", ""), len(c.required)
	input, output := c.required[width-2], c.required[width-1]
	columns := head
	if len(c.optional) > 0 {
		columns += " and any of " + strings.Join(c.optional, ",")
	}
	want := fmt.Sprintf("want the columns %s (format %s)", columns, c.format)
	inputs := fmt.Sprintf("want a whole number from %d to 2147483647", c.low)
	const outputs = "want a whole number from 0 to 2147483647"
	list := []badFile{
		{"empty", "", "t: no requests: the file is empty"},
		{"blank lines", " \n\n\t\n", "t: no requests: the file is empty"},
		{"header only", head + "\n", "t: no requests"},
		{"column twice", head + "," + input + "\n" + good + ",1", fmt.Sprintf("t:1: header: %s: given twice %s: %s", quote([]byte(head+","+input)), input, want)},
		{"unclosed quote in the header", `"` + head + "\n" + good, fmt.Sprintf("t:1: header: %s: want quotes that are closed before the next comma", quote([]byte(`"`+head)))},
		{"unclosed quote", head + "\n\"" + good, fmt.Sprintf("t:2: row: %s: want quotes that are closed before the next comma", quote([]byte(`"`+good)))},
		{"text behind a quote", head + "\n\"1\"x," + good, fmt.Sprintf("t:2: row: %s: want quotes that are closed before the next comma", quote([]byte(`"1"x,`+good)))},
		{"field missing", head + "\n" + good[:strings.LastIndex(good, ",")], fmt.Sprintf("t:2: row: %q: want %d fields as in the header, not %d", good[:strings.LastIndex(good, ",")], width, width-1)},
		{"field too many", head + "\n" + good + ",", fmt.Sprintf("t:2: row: %q: want %d fields as in the header, not %d", good+",", width, width+1)},
		{"second row", head + "\n" + good + "\n\n" + row(input, "?"), fmt.Sprintf("t:4: %s: %q: %s", input, "?", inputs)},
		{"not gzip", "\x1f\x8b" + head, "t: after line 0: gzip: invalid header"},
	}
	for k, missing := range c.required {
		rest := strings.Join(append(append([]string(nil), c.required[:k]...), c.required[k+1:]...), ",")
		list = append(list, badFile{"missing " + missing, rest + "\n1,1", fmt.Sprintf("t:1: header: %q: missing %s: %s", rest, missing, want)})
	}
	if !c.others {
		list = append(list, badFile{"unknown column", head + ",colour\n", fmt.Sprintf("t:1: header: %s: unknown \"colour\": %s; trace-ignore-columns leaves others out", quote([]byte(head+",colour")), want)})
	}
	for _, v := range []string{"-1", "NaN", "Inf", "1.5", "1e3", "0x10", "ten", "", "2147483648", "1000000000000000000000000000000"} {
		list = append(list,
			badFile{"input " + v, head + "\n" + row(input, v), fmt.Sprintf("t:2: %s: %q: %s", input, v, inputs)},
			badFile{"output " + v, head + "\n" + row(output, v), fmt.Sprintf("t:2: %s: %q: %s", output, v, outputs)})
		if c.time != "" {
			list = append(list, badFile{"time " + v, head + "\n" + row(c.time, strings.Replace(v, "1.5", "1.5s", 1)), ""})
			last := &list[len(list)-1]
			value := strings.Replace(v, "1.5", "1.5s", 1)
			if v == "2147483648" || v == "1000000000000000000000000000000" {
				value = "99999999999999999999"
				last.text = head + "\n" + row(c.time, value)
			}
			last.want = fmt.Sprintf("t:2: %s: %q: %s", c.time, value, c.badTime)
		}
	}
	return list
}

var csvFormats = []csvFormat{
	{
		format: BLIS, required: blisNames[:blisTenant], optional: blisNames[blisTenant:], low: 1,
		row:  map[string]string{"arrival_us": "1", "input_tokens": "5", "output_tokens": "1"},
		time: "arrival_us", badTime: "want a whole number from 0 to 4611686018427387903",
	},
	{
		format: Azure, required: []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}, low: 1,
		row:  map[string]string{"TIMESTAMP": "2023-02-28 18:17:03", "ContextTokens": "5", "GeneratedTokens": "1"},
		time: "TIMESTAMP", badTime: "want a date such as 2023-11-16 18:17:03.9799600, with a zone (+01:00, Z) or without, from 1970 to 2261",
	},
	{
		format: BurstGPT, required: burstNames[:burstTotal], optional: burstNames[burstTotal:], low: 1,
		row:  map[string]string{"Timestamp": "1.5", "Request tokens": "5", "Response tokens": "1"},
		time: "Timestamp", badTime: "want seconds from 0 to 4611686018427, without exponent",
	},
	{
		format: InferenceSim, required: simNames[:simSend], optional: simNames[simSend:], others: true,
		row:  map[string]string{"arrival_time_us": "1", "input_tokens": "5", "output_tokens": "1"},
		time: "arrival_time_us", badTime: "want a whole number from 0 to 4611686018427387903",
	},
	{
		format: Vidur, required: append([]string{arrivedAt}, lengthsNames[:2]...), optional: lengthsNames[2:], low: 1,
		row: map[string]string{"arrived_at": "1.5", "num_prefill_tokens": "5", "num_decode_tokens": "1"},
	},
	{
		format: Lengths, required: lengthsNames[:2], optional: lengthsNames[2:], low: 1,
		row: map[string]string{"num_prefill_tokens": "5", "num_decode_tokens": "1"},
	},
}

// jsonFaults are the files that are bad in every format of a JSON object a
// line. A good line has the keys in this order.
func jsonFaults(format Format) []badFile {
	keys, values, time := mooncakeNames, []string{"1", "5", "1", "[7]"}, "want milliseconds from 0 to 4611686018427387, without exponent"
	if format == Tokens {
		keys, values, time = tokensNames, []string{"1", "2", "1", "[7,8]", "[9]"}, "want whole nanoseconds from 0 to 9223372036854775807"
	}
	with := func(key int, value string) string {
		var parts []string
		for k, name := range keys {
			v := values[k]
			if k == key {
				v = value
			}
			parts = append(parts, fmt.Sprintf("%q:%s", name, v))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	good := with(-1, "")
	cut := good[:len(good)-1]
	object := func(text, why string) string {
		return fmt.Sprintf("t:1: row: %s: want one JSON object a line: %s", quote([]byte(text)), why)
	}
	list := []badFile{
		{"empty", "", "t: no requests"},
		{"blank lines", "\n \n", "t: no requests"},
		{"not gzip", "\x1f\x8b" + good, "t: after line 0: gzip: invalid header"},
		{"cut", cut, object(cut, "unexpected end of JSON input")},
		{"two objects", good + good, object(good+good, "invalid character '{' after top-level value")},
		{"a list without end", "[" + good + ",\n", "t: after line 2: the list has no end: want the whole file"},
		{"more behind a list", "[" + good + "]\n" + good, "t:2: more behind the list of requests: want one list"},
		{"a list of lists", "[[" + good + "]]", object("["+good+"]", "json: cannot unmarshal array into Go value of type map[string]json.RawMessage")},
		{"an empty list", "[]", "t: no requests"},
		{"NaN", with(1, "NaN"), object(with(1, "NaN"), "invalid character 'N' looking for beginning of value")},
		{"second line", good + "\n\n" + with(1, "0"), fmt.Sprintf("t:3: %s: \"0\": want a whole number from 1 to 2147483647", keys[1])},
	}
	for k := range 3 {
		text := strings.Replace(good, keys[k], "x", 1)
		list = append(list, badFile{"missing " + keys[k], text, fmt.Sprintf("t:1: %s: \"\": want this key in every line", keys[k])})
	}
	if format == Tokens { // elsewhere the ids may be missing
		list = append(list, badFile{"missing " + keys[3], strings.Replace(good, keys[3], "x", 1), fmt.Sprintf("t:1: %s: \"\": want this key in every line", keys[3])})
	}
	for _, v := range []string{"-1", "1.5e3", "1e9", `"5"`, "null", "true", "2147483648", "1000000000000000000000000000000"} {
		list = append(list,
			badFile{"input " + v, with(1, v), fmt.Sprintf("t:1: %s: %q: want a whole number from 1 to 2147483647", keys[1], v)},
			badFile{"output " + v, with(2, v), fmt.Sprintf("t:1: %s: %q: want a whole number from 0 to 2147483647", keys[2], v)})
		if v != "2147483648" {
			list = append(list, badFile{"time " + v, with(0, v), fmt.Sprintf("t:1: %s: %q: %s", keys[0], v, time)})
		}
	}
	return list
}

// withinASecond fails when do does not return want, or takes more than a second
// of processor time.
func withinASecond(t *testing.T, what string, do func() string, want string) {
	t.Helper()
	var got string
	if took := cputime.Of(func() { got = do() }); took > time.Second {
		t.Errorf("%s: took %v", what, took)
	}
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func TestBadFilesOfEveryFormat(t *testing.T) {
	lists := map[Format][]badFile{Mooncake: jsonFaults(Mooncake), Tokens: jsonFaults(Tokens)}
	for _, c := range csvFormats {
		lists[c.format] = c.faults()
	}
	own := ownFaults()
	for _, name := range Formats() {
		format := Format(name)
		list := append(lists[format], own[format]...)
		if len(lists[format]) < 20 && !isTool(format) { // those have a package of their own
			t.Errorf("only %d bad files of format %s", len(list), format)
		}
		for _, c := range list {
			withinASecond(t, string(format)+", "+c.name, func() string {
				_, err := Open("t", strings.NewReader(c.text), Options{Format: format, Pace: &steps{gap: 1}})
				return fmt.Sprint(err)
			}, c.want)
		}
	}
}

// ownFaults are those that only one format can have.
func ownFaults() map[Format][]badFile {
	const (
		burst = "Timestamp,Request tokens,Response tokens,Total tokens,Session ID\n"
		sim   = "arrival_time_us,input_tokens,output_tokens,prefix_group,prefix_length,deadline_us,priority,send_time_us,server_input_tokens,round_index,session_id\n"
		vidur = "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n"
		ids   = `{"arrival_time_ns":1,"input_toks":%s,"output_toks":1,"input_tok_ids":%s,"output_tok_ids":%s}`
		from0 = "want a whole number from 0 to "
	)
	million := strings.Repeat("7,", 999_999) + "7"
	return map[Format][]badFile{
		BLIS: {
			{"output content", "arrival_us,input_tokens,output_tokens,output_content\n1,5,1,-1", `t:2: output_content: "-1": ` + from0 + "18446744073709551615"},
			{"hint", "arrival_us,input_tokens,output_tokens,priority_hint\n1,5,1,NaN", `t:2: priority_hint: "NaN": want a finite number, higher is more urgent`},
			{"hint too large", "arrival_us,input_tokens,output_tokens,priority_hint\n1,5,1,1e999", `t:2: priority_hint: "1e999": want a finite number, higher is more urgent`},
		},
		BurstGPT: {
			{"total", burst + "1,5,1,7,a", `t:2: Total tokens: "7": want the sum of input and output, 5 + 1 = 6`},
			{"no total", burst + "1,5,1,,a", `t:2: Total tokens: "": want the sum of input and output, 5 + 1 = 6`},
		},
		Lengths: {
			{"total", vidur + "5,1,4,5", `t:2: num_total_tokens: "4": want the sum of input and output, 5 + 1 = 6`},
			{"total with decimals", vidur + "5,1,6.5,5", `t:2: num_total_tokens: "6.5": want the sum of input and output, 5 + 1 = 6`},
		},
		Tokens: {
			{"fewer ids", fmt.Sprintf(ids, "3", "[1,2]", "[1]"), `t:1: input_tok_ids: "[1,2]": want as many ids as input_toks says, 3, not 2`},
			{"10⁹ ids promised", fmt.Sprintf(ids, "1000000000", "[1,2]", "[1]"), `t:1: input_tok_ids: "[1,2]": want as many ids as input_toks says, 1000000000, not 2`},
			{"10⁶ ids", fmt.Sprintf(ids, "3", "["+million+"]", "[1]"), `t:1: input_tok_ids: "[` + million[:59] + `"…: want as many ids as input_toks says, 3, not 1000000`},
			{"output ids", fmt.Sprintf(ids, "1", "[1]", "[]"), `t:1: output_tok_ids: "[]": want as many ids as output_toks says, 1, not 0`},
			{"no list", fmt.Sprintf(ids, "1", "7", "[1]"), `t:1: input_tok_ids: "7": want a list of token ids`},
			{"negative id", fmt.Sprintf(ids, "1", "[-7]", "[1]"), `t:1: input_tok_ids: "-7": want token ids, whole numbers from 0 to 4294967295`},
			{"large id", fmt.Sprintf(ids, "1", "[4294967296]", "[1]"), `t:1: input_tok_ids: "4294967296": want token ids, whole numbers from 0 to 4294967295`},
			{"id in quotes", fmt.Sprintf(ids, "1", "[1]", `["1"]`), `t:1: output_tok_ids: "\"1\"": want token ids, whole numbers from 0 to 4294967295`},
			{"list in a list", fmt.Sprintf(ids, "2", "[1,[2]]", `[1]`), `t:1: input_tok_ids: "[2]": want token ids, whole numbers from 0 to 4294967295`},
		},
		InferenceSim: {
			{"prefix", sim + "1,5,1,g,-3,,,,,,", `t:2: prefix_length: "-3": ` + from0 + "2147483647"},
			{"prompt too long", sim + "1,2000000000,1,g,2000000000,,,,,,", `t:2: input_tokens: "2000000000": want from 1 to 2147483647 tokens of the prompt, prefix_length 2000000000 included`},
			{"no prompt", sim + "1,0,1,,,,,,,,", `t:2: input_tokens: "0": want from 1 to 2147483647 tokens of the prompt, prefix_length 0 included`},
			{"early deadline", sim + "7,5,1,,,6,,,,,", `t:2: deadline_us: "6": want 0 for none, or an absolute time, a whole number from arrival_time_us 7 to 4611686018427387903`},
			{"deadline", sim + "7,5,1,,,x,,,,,", `t:2: deadline_us: "x": want 0 for none, or an absolute time, a whole number from arrival_time_us 7 to 4611686018427387903`},
			{"priority", sim + "1,5,1,,,,-1,,,,", `t:2: priority: "-1": ` + from0 + "2147483647"},
			{"sent", sim + "1,5,1,,,,,-1,,,", `t:2: send_time_us: "-1": ` + from0 + "4611686018427387903"},
			{"server's count", sim + "1,5,1,,,,,,x,,", `t:2: server_input_tokens: "x": ` + from0 + "2147483647"},
			{"round", sim + "1,5,1,,,,,,,1.0,a", `t:2: round_index: "1.0": ` + from0 + "2147483647"},
		},
	}
}

// Sessions that accumulate are checked when all rows are known.
func TestBadAccumulatedSessions(t *testing.T) {
	const head = "arrival_time_us,input_tokens,output_tokens,session_id,round_index,input_tokens_reset\n"
	const rounds = "as rounds of a session that accumulates count from 0 without a gap"
	for _, c := range []badFile{
		{"gap", head + "1,5,1,a,0,\n2,5,1,a,2,\n", `t:3: round_index: "2": want 1, ` + rounds},
		{"twice", head + "1,5,1,a,0,\n2,5,1,b,0,\n3,5,1,a,0,\n", `t:4: round_index: "0": want 1, ` + rounds},
		{"no first", head + "\n1,5,1,a,1,\n", `t:3: round_index: "1": want 0, ` + rounds},
		{"too long", head + "1,2000000000,1,a,0,\n2,2000000000,1,a,1,\n", `t:3: input_tokens: "2000000000": want from 1 to 2147483647 tokens of the prompt that the session has accumulated, not 4000000001`},
		{"too long by answers", head + "1,2000000000,2000000000,a,0,\n2,0,1,a,1,\n", `t:3: input_tokens: "0": want from 1 to 2147483647 tokens of the prompt that the session has accumulated, not 4000000000`},
		{"nothing said", head + "1,0,1,a,0,\n", `t:2: input_tokens: "0": want from 1 to 2147483647 tokens of the prompt that the session has accumulated, not 0`},
		{"reset", head + "1,5,1,a,0,\n2,5,1,a,1,0\n", `t:3: input_tokens_reset: "0": want a whole number from 1 to 2147483647`},
	} {
		_, err := open("t", strings.NewReader(c.text), Options{}, func(endings ...string) (string, io.Reader, error) {
			return "t.yaml", strings.NewReader("trace_version: 3\nsession_context_growth: accumulate\n"), nil
		})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

// A line of 100 MB ends in an error, whatever the format, once 64 MiB of it have
// been read. The memory that this takes bounds what is done with them.
func TestEndlessLinesAreRefused(t *testing.T) {
	long := strings.Repeat("7,", 50_000_000)
	for _, c := range []struct {
		format Format
		head   string
	}{
		{BLIS, ""}, {Azure, "TIMESTAMP,ContextTokens,GeneratedTokens\n"}, {BurstGPT, "Timestamp,Request tokens,Response tokens\n"},
		{Lengths, "num_prefill_tokens,num_decode_tokens\n"}, {InferenceSim, "arrival_time_us,input_tokens,output_tokens\n\""},
		{Mooncake, `{"hash_ids":[`}, {Tokens, `{"input_tok_ids":[`},
	} {
		text := &counted{Reader: io.MultiReader(strings.NewReader(c.head), strings.NewReader(long))}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Open("t", text, Options{Format: c.format, Pace: &steps{gap: 1}})
		runtime.ReadMemStats(&after)
		if want := fmt.Sprintf("t:%d: want lines of at most 64 MiB", 1+strings.Count(c.head, "\n")); fmt.Sprint(err) != want {
			t.Errorf("%s:\n got %v\nwant %s", c.format, err, want)
		}
		const line = 64 << 20
		if taken := after.TotalAlloc - before.TotalAlloc; text.read > line+1<<20 || taken > 8*line {
			t.Errorf("%s: read %d bytes and took %d: want little more than %d, and at most 8 times that", c.format, text.read, taken, line)
		}
	}
}

// counted counts what is read of a Reader.
type counted struct {
	io.Reader
	read int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

// A length that is large and legal is no reason to be slow, or to take memory.
func TestLargeLengthsAreRead(t *testing.T) {
	for _, c := range []badFile{
		{string(BLIS), "arrival_us,input_tokens,output_tokens,prefix_group,prefix_tokens\n1,1000000000,1000000000,g,999999999\n", "1:1000000000:1000000000"},
		{string(Azure), "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-02-28 18:17:03,1000000000,2147483647\n", "0:1000000000:2147483647"},
		{string(Mooncake), `{"timestamp":1,"input_length":1000000000,"output_length":1000000000,"hash_ids":[1]}`, "1000:1000000000:1000000000"},
		{string(BurstGPT), "Timestamp,Request tokens,Response tokens\n1,1000000000,1000000000\n", "1000000:1000000000:1000000000"},
		{string(InferenceSim), "arrival_time_us,input_tokens,output_tokens\n1,1000000000,1000000000\n", "1:1000000000:1000000000"},
		{string(Lengths), "num_prefill_tokens,num_decode_tokens\n1000000000,1000000000\n", "1:1000000000:1000000000"},
		{string(Tokens), `{"arrival_time_ns":1000,"input_toks":1,"output_toks":1000000000,"input_tok_ids":[1]}`, "1:1:1000000000"},
	} {
		withinASecond(t, c.name, func() string {
			trace := traceText(t, c.text, Options{Pace: &steps{gap: 1}})
			return string(trace.Format()) + " " + brief(pull(t, trace))
		}, c.name+" "+c.want)
	}
	ids := strings.TrimSuffix(strings.Repeat("123456,", 1_000_000), ",")
	text := fmt.Sprintf(`{"arrival_time_ns":1000,"input_toks":1000000,"output_toks":%d,"input_tok_ids":[%s]}`, math.MaxInt32, ids)
	withinASecond(t, "10⁶ ids", func() string {
		return brief(pull(t, traceText(t, text+"\n"+text, Options{})))
	}, "1:1000000:2147483647 1:1000000:2147483647")
}
