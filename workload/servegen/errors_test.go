package servegen

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"blis/cputime"
)

const (
	goodTrace   = "0,0.5,1,Gamma,1,2\n"
	goodDataset = `{"0": {"input_tokens": "{5: 1.0}", "output_tokens": "{5: 1.0}"}}`
)

// dataset is a file of one window with the given dictionaries.
func dataset(input, output string) string {
	return "{\n \"0\": {\n  \"input_tokens\": \"" + input + "\",\n  \"output_tokens\": \"" + output + "\"\n }\n}\n"
}

// bad is one client with something wrong and the line of error it gives.
type bad struct{ name, trace, dataset, want string }

// refused writes the two files, reads them and compares the error.
func refused(t *testing.T, cases []bad) {
	t.Helper()
	for _, c := range cases {
		t.Chdir(t.TempDir())
		if err := os.Mkdir("d", 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, "d", "c-1-trace.csv", []byte(c.trace))
		write(t, "d", "c-1-dataset.json", []byte(c.dataset))
		var err error
		took := cputime.Of(func() { _, _, err = Read("d", Options{}) })
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
		if took > time.Second {
			t.Errorf("%s: %v, want at most a second", c.name, took)
		}
	}
}

func TestBadTracesAreOneLineThatNamesTheField(t *testing.T) {
	const f, param = "d/c-1-trace.csv:", "a number from 0 to 1e+09"
	const start, rate = "want a whole number of seconds from 0 to 1000000000", "want requests per second from 0 to 1e+06"
	var cases []bad
	add := func(name, trace, want string) { cases = append(cases, bad{name, trace, goodDataset, f + want}) }
	add("empty", "", " no windows: want rows start,rate,cv,family,param1,param2")
	add("blank", "\r\n \n", " no windows: want rows start,rate,cv,family,param1,param2")
	add("header", "start,rate,cv,family,param1,param2\n", `1: start: "start": `+start)
	add("missing column", goodTrace+"600,1,1,Gamma,1\n", `2: row: "600,1,1,Gamma,1": want 6 fields start,rate,cv,family,param1,param2, not 5`)
	add("more columns", "0,1,1,Gamma,1,1,1", `1: row: "0,1,1,Gamma,1,1,1": want 6 fields start,rate,cv,family,param1,param2, not 7`)
	add("binary", "\x00\x01\x02", `1: row: "\x00\x01\x02": want 6 fields start,rate,cv,family,param1,param2, not 1`)
	add("start negative", "-600,1,1,Gamma,1,1", `1: start: "-600": `+start)
	add("start decimal", "0.5,1,1,Gamma,1,1", `1: start: "0.5": `+start)
	add("start too late", "1000000001,1,1,Gamma,1,1", `1: start: "1000000001": `+start)
	add("start overflow", "99999999999999999999,1,1,Gamma,1,1", `1: start: "99999999999999999999": `+start)
	add("start that wraps to 600", "18446744073709552216,1,1,Gamma,1,1", `1: start: "18446744073709552216": `+start)
	add("start empty", "\n,1,1,Gamma,1,1", `2: start: "": `+start)
	add("same window twice", goodTrace+"600,0,0,,0,0\n\n600,0,0,,0,0", `4: start: "600": want more than 600 of line 2: windows ascend and do not overlap`)
	add("inverted", "600,0,0,,0,0\n0,1,1,Gamma,1,1", `2: start: "0": want more than 600 of line 1: windows ascend and do not overlap`)
	add("rate negative", "0,-1,1,Gamma,1,1", `1: rate: "-1": `+rate)
	add("rate NaN", "0,NaN,1,Gamma,1,1", `1: rate: "NaN": `+rate)
	add("rate infinite", "0,inf,1,Gamma,1,1", `1: rate: "inf": `+rate)
	add("rate overflow", "0,1e999,1,Gamma,1,1", `1: rate: "1e999": `+rate)
	add("rate too high", "0,1e9,1,Gamma,1,1", `1: rate: "1e9": `+rate)
	add("rate hexadecimal", "0,0x1p3,1,Gamma,1,1", `1: rate: "0x1p3": `+rate)
	add("rate text", "0,fast,1,Gamma,1,1", `1: rate: "fast": `+rate)
	add("cv NaN", "0,1,nan,Gamma,1,1", `1: cv: "nan": want a number from 0 to 1e+06`)
	add("cv zero", "0,1,0,Gamma,1,1", `1: cv: "0": want at least 1e-06 with a family`)
	add("family", "0,1,1,Wiebull,1,1", `1: family: "Wiebull": want Gamma, Weibull or nothing, the nearest is "Weibull"`)
	add("family without rate", "0,0,0,gamma,1,1", `1: family: "gamma": want Gamma, Weibull or nothing, the nearest is "Gamma"`)
	add("parameter without family", "0,1,1,,1,1", `1: param1: "1": want 0 without a family`)
	add("shape zero", "0,1,1,Gamma,0,1", `1: param1: "0": want a shape that gives gaps a CV from 0.001 to 100`)
	add("shape tiny", "0,1,1,Weibull,1e-9,1", `1: param1: "1e-9": want a shape that gives gaps a CV from 0.001 to 100`)
	add("shape tiniest", "0,1,1,Weibull,1e-320,1", `1: param1: "1e-320": want a shape that gives gaps a CV from 0.001 to 100`)
	add("shape huge", "0,1,1,Weibull,1e8,1", `1: param1: "1e8": want a shape that gives gaps a CV from 0.001 to 100`)
	add("shape negative", "0,1,1,Gamma,-1,1", `1: param1: "-1": want `+param)
	add("scale zero", "0,1,1,Gamma,1,0", `1: param2: "0": want a scale of at least 1e-09 s`)
	add("scale infinite", "0,1,1,Gamma,1,Infinity", `1: param2: "Infinity": want `+param)
	add("long value", "0,1,1,Gamma,1,"+strings.Repeat("9", 100000), `1: param2: "`+strings.Repeat("9", 40)+`"…: want `+param)
	refused(t, cases)
}

func TestBadDatasetsAreOneLineThatNamesThePlace(t *testing.T) {
	const f, tokens = "d/c-1-dataset.json:", "want a whole number of tokens from 1 to 10000000"
	const shape = `an object {"input_tokens": …, "output_tokens": …} for window 0`
	var cases []bad
	add := func(name, dataset, want string) { cases = append(cases, bad{name, goodTrace, dataset, f + want}) }
	input := func(name, literal, want string) {
		add(name, dataset(literal, "{5: 1.0}"), "2: window 0: input_tokens: position "+want)
	}
	add("empty", "", `1: the JSON ends too early; want the whole file`)
	add("cut", "{\"0\":\n {\"input_tokens\": \"{5: 1.0}\", \"outp", `2: the JSON ends too early; want the whole file`)
	add("list", "[1]", `1: JSON: [: want an object {start of a window: lengths, …}`)
	add("null", "null", `1: JSON: null: want an object {start of a window: lengths, …}`)
	add("no JSON", "{\n  '0': 1}", `2: want JSON: invalid character '\''`)
	add("NaN in JSON", `{"0": NaN}`, `1: want JSON: invalid character 'N' looking for beginning of value`)
	add("number overflow", `{"0": 1e999}`, `1: want JSON: json: cannot unmarshal number 1e999 into Go value of type float64`)
	add("no windows", "{}", ` no windows: want an object {start of a window: lengths, …}`)
	add("more after it", goodDataset+"\n{}", `2: want nothing after the object`)
	add("window is a number", `{"0": 7}`, `1: JSON: 7: want `+shape)
	add("window is null", `{"0": null}`, `1: JSON: null: want `+shape)
	add("window is text", `{"0": "x"}`, `1: JSON: "x": want `+shape)
	add("start", `{"-1": {}}`, `1: window: "-1": want a whole number of seconds from 0 to 1000000000`)
	add("start too late", `{"1000000000000": {}}`, `1: window: "1000000000000": want a whole number of seconds from 0 to 1000000000`)
	add("twice", strings.TrimSuffix(goodDataset, "}")+",\n\"0\": {}}", `2: window: "0": want more than 0 of line 1: windows ascend and do not overlap`)
	add("input missing", "{\"0\": {\"output_tokens\": \"{}\"\n}}", `2: window 0: there is no input_tokens: want input_tokens and output_tokens`)
	add("output missing", `{"0": {"input_tokens": "{}"}}`, `1: window 0: there is no output_tokens: want input_tokens and output_tokens`)
	add("unknown key", `{"0": {"input_token": "{}"}}`, `1: window 0: "input_token": want one of the keys input_tokens, output_tokens, reason_ratio, the nearest is "input_tokens"`)
	add("key twice", `{"0": {"input_tokens": "{}", "input_tokens": "{}"}}`, `1: window 0: "input_tokens": want this key once`)
	add("object for a dictionary", `{"0": {"input_tokens": {"5": 1}}}`, `1: window 0: input_tokens: {: want a dictionary in a string`)
	add("number for a dictionary", `{"0": {"input_tokens": 5}}`, `1: window 0: input_tokens: 5: want a dictionary in a string`)
	add("no lengths", dataset("{}", "{5: 1.0}"), `2: window 0: input_tokens: empty: want lengths for line 1 of d/c-1-trace.csv, which has rate 0.5`)
	add("no outputs", dataset("{5: 1.0}", " { } "), `2: window 0: output_tokens: empty: want lengths for line 1 of d/c-1-trace.csv, which has rate 0.5`)
	add("output position", dataset("{5: 1.0}", "{-1: 1.0}"), `2: window 0: output_tokens: position 2: "-1": want a whole number of tokens from 0 to 10000000`)
	add("ratio", `{"0": {"input_tokens": "{5: 1.0}", "output_tokens": "{5: 1.0}", "reason_ratio": "{1.5: 1.0}"}}`, `1: window 0: reason_ratio: position 2: "1.5": want a share from 0 to 1`)
	add("ratio empty text", `{"0": {"input_tokens": "{5: 1.0}", "output_tokens": "{5: 1.0}", "reason_ratio": ""}}`, `1: window 0: reason_ratio: position 1: "": want a dictionary {key: probability, …}`)

	input("length 10⁹", "{5: 0.5, 1000000000: 0.5}", `10: "1000000000": `+tokens)
	input("length 0", "{0: 1.0}", `2: "0": `+tokens)
	input("length decimal", "{5.0: 1.0}", `2: "5.0": `+tokens)
	input("length NaN", "{nan: 1.0}", `2: "nan": `+tokens)
	input("length in quotes", "{'5': 1.0}", `2: "'5'": `+tokens)
	input("length missing", "{: 1.0}", `2: "": `+tokens)
	input("length twice", "{7: 0.25, 5: 0.5, 7: 0.25}", `19: 7: want each key once, it is at position 2 too`)
	input("probability negative", "{5: -0.5, 6: 1.5}", `5: "-0.5": want a probability from 0 to 1`)
	input("probability NaN", "{5: nan}", `5: "nan": want a probability from 0 to 1`)
	input("probability infinite", "{5: inf}", `5: "inf": want a probability from 0 to 1`)
	input("probability above 1", "{5: 1.5}", `5: "1.5": want a probability from 0 to 1`)
	input("probability missing", "{5: }", `5: "": want a probability from 0 to 1`)
	input("sum too low", "{5: 0.25, 6: 0.5}", `1: 0.75: want probabilities that add up to 1`)
	input("sum too high", "{5: 0.75, 6: 0.5}", `1: 1.25: want probabilities that add up to 1`)
	input("sum zero", "{5: 0.0}", `1: 0: want probabilities that add up to 1`)
	input("sum a little off", "{5: 0.5, 6: 0.50000001}", `1: 1.00000001: want probabilities that add up to 1`)
	input("no dictionary", "[5, 6]", `1: "[5, 6]": want a dictionary {key: probability, …}`)
	input("empty text", "", `1: "": want a dictionary {key: probability, …}`)
	input("colon", "{5, 6}", `3: ", 6}": want a colon after the key`)
	input("comma", "{5: 0.5 6: 0.5}", `9: "6: 0.5}": want a comma or } after the probability`)
	input("not closed", "{5: 1.0", `8: "": want a comma or } after the probability`)
	input("comma at the end", "{5: 1.0, }", `10: "": `+tokens)
	input("after it", "{5: 1.0} {", `10: "{": want nothing after the dictionary`)
	refused(t, cases)
}

func TestWindowsWithTrafficNeedLengths(t *testing.T) {
	later := strings.Replace(goodDataset, `"0"`, `"600"`, 1)
	two := strings.TrimSuffix(goodDataset, "}") + `, "600": {"input_tokens": "{5: 1.0}", "output_tokens": "{5: 1.0}"}}`
	refused(t, []bad{
		{"before the first", goodTrace, later, "d/c-1-dataset.json: no window holds second 0: want lengths for line 1 of d/c-1-trace.csv, which has rate 0.5"},
		{"after the last", goodTrace + "1200,1,1,Gamma,1,1\n", two, "d/c-1-dataset.json: no window holds second 1200: want lengths for line 2 of d/c-1-trace.csv, which has rate 1"},
		{"no traffic", "0,0,0,,0,0\n", goodDataset, "d: no traffic: want windows with a rate above 0 wholly inside the span; 1 are without rate, 0 outside"},
	})
}

func TestBadFilesAndFoldersAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, f := range []string{"empty", "lone", "orphan", "both", "odd", "odd/c-1-trace.csv"} {
		if err := os.Mkdir(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	packed := pack(t, []byte(goodTrace))
	wrong := bytes.Clone(packed)
	wrong[len(wrong)-8] ^= 1 // the checksum
	write(t, "lone", "c-1-trace.csv", []byte(goodTrace))
	write(t, "odd", "c-1-dataset.json", []byte(goodDataset))
	write(t, "orphan", "c-1-dataset.json", []byte(goodDataset))
	for _, f := range []string{"c-1-trace.csv", "c-1-trace.csv.gz", "c-1-dataset.json"} {
		write(t, "both", f, packed)
	}
	for name, text := range map[string][]byte{ // any order
		"cut-trace.csv": packed[:len(packed)/2], "header-trace.csv": packed[:5], "sum-trace.csv": wrong, "fake-trace.csv.gz": []byte(goodTrace),
		"bomb-trace.csv": pack(t, make([]byte, maxFile+1)), "long-trace.csv": make([]byte, maxFile+1), "-trace.csv": []byte(goodTrace), "x.csv": []byte(goodTrace),
	} {
		write(t, ".", name, text)
		if client, ok := stem(name, traceEnd); ok {
			write(t, ".", client+datasetEnd, []byte(goodDataset))
		}
	}
	const wantFiles = ": want a folder of ServeGen's files, or one "
	for _, c := range []struct{ path, want string }{
		{"nowhere", "nowhere" + wantFiles + "*-trace.csv: no such file or directory"},
		{"x.csv", "x.csv" + wantFiles + "NAME-trace.csv (or NAME-trace.csv.gz) with NAME-dataset.json beside it"},
		{"-trace.csv", "-trace.csv" + wantFiles + "NAME-trace.csv (or NAME-trace.csv.gz) with NAME-dataset.json beside it"},
		{"empty", "empty: want files NAME-trace.csv and NAME-dataset.json in this folder, there are none"},
		{"lone", "lone/c-1-dataset.json: there is no such file; want it, or c-1-dataset.json.gz, beside lone/c-1-trace.csv"},
		{"lone/c-1-trace.csv", "lone/c-1-dataset.json: there is no such file; want it, or c-1-dataset.json.gz, beside lone/c-1-trace.csv"},
		{"orphan", "orphan/c-1-trace.csv: there is no such file; want it, or c-1-trace.csv.gz, beside orphan/c-1-dataset.json"},
		{"both", "both/c-1-trace.csv: want this file or c-1-trace.csv.gz, not both"},
		{"odd", "odd/c-1-trace.csv: want a regular file"},
		{"cut-trace.csv", "cut-trace.csv: the gzip data ends too early: want the whole file"},
		{"header-trace.csv", "header-trace.csv: the gzip data ends too early: want the whole file"},
		{"sum-trace.csv", "sum-trace.csv: gzip: invalid checksum"},
		{"fake-trace.csv.gz", "fake-trace.csv.gz: want gzip data, as its name says"},
		{"bomb-trace.csv", "bomb-trace.csv: want at most 16 MiB, unpacked"},
		{"long-trace.csv", "long-trace.csv: want at most 16 MiB, unpacked"},
	} {
		if _, _, err := Read(c.path, Options{}); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.path, err, c.want)
		}
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{From: -1}, "from: -1: want seconds from 0 to 1000000000"},
		{Options{From: 600, To: 600}, "to: 600: want seconds, more than from 600, or 0 for the end"},
		{Options{To: -5, RateScale: -1}, "to: -5: want seconds, more than from 0, or 0 for the end; rate-scale: -1: want a finite factor above 0"},
		{Options{RateScale: math.NaN()}, "rate-scale: NaN: want a finite factor above 0"},
		{Options{RateScale: math.Inf(1)}, "rate-scale: +Inf: want a finite factor above 0"},
		{Options{RateScale: 1e6}, "../../testdata/servegen/chunk-2-trace.csv:3: rate: 2: want at most 1e+06 requests per second, and above 0, after rate-scale 1e+06"},
		{Options{RateScale: 5e-324}, "../../testdata/servegen/chunk-2-trace.csv:1: rate: 0.5: want at most 1e+06 requests per second, and above 0, after rate-scale 5e-324"},
		{Options{From: 100000}, "../../testdata/servegen: no traffic: want windows with a rate above 0 wholly inside the span; 2 are without rate, 5 outside"},
	} {
		if _, _, err := Read(samples, c.o); err == nil || err.Error() != c.want {
			t.Errorf("%+v:\n got %v\nwant %s", c.o, err, c.want)
		}
	}
}
