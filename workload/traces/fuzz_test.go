package traces

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fuzzTrace feeds the reader of one format: the result is requests, all valid
// and in order, or one line of error. Skipping bad rows finds the same
// requests when there is nothing to skip.
func fuzzTrace(f *testing.F, format Format, seeds ...string) {
	files, err := filepath.Glob("../../testdata/traces/*")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds in testdata/traces", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, false, uint8(0))
	}
	for _, s := range seeds {
		f.Add([]byte(s), true, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, spread bool, offset uint8) {
		o := Options{Format: format, SpreadTies: spread, Offset: int64(offset), Speedup: 1 + float64(offset)/3}
		o.Pace = &steps{gap: 10}
		strict, err := Open("t", bytes.NewReader(text), o)
		o.SkipBadRows, o.Pace = true, &steps{gap: 10}
		lax, laxErr := Open("t", bytes.NewReader(text), o)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "t") {
				t.Errorf("not one line that names its place: %v", err)
			}
			if laxErr == nil {
				pull(t, lax)
			}
			return
		}
		if laxErr != nil {
			t.Fatal(laxErr)
		}
		if n, _ := lax.Skipped(); n != 0 {
			t.Errorf("%d rows skipped of a good file", n)
		}
		if a, b := brief(pull(t, strict)), brief(pull(t, lax)); a != b || a == "" {
			t.Errorf("strict: %s\nlax:    %s", a, b)
		}
	})
}

func FuzzAzure(f *testing.F) {
	const head = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	fuzzTrace(f, Azure, head+"2023-11-16 18:17:03,4,5", head+"2261-12-31 23:59:59.999999999-14:59,4,5", head+"\"2023-11-16 18:17:03\",\"4\",5")
}

func FuzzMooncake(f *testing.F) {
	fuzzTrace(f, Mooncake,
		`{"timestamp":1.2345,"input_length":1,"output_length":2147483647,"hash_ids":null}`,
		`{"time\u0073tamp":1,"input_length":1e3,"x":{"y":[1,"]"]},"output_length":0,"hash_ids":[ ]}`)
}

func FuzzOwn(f *testing.F) {
	const head = "arrival_us,input_tokens,output_tokens,content,prefix_group,prefix_tokens,deadline_us\n"
	fuzzTrace(f, BLIS, head+"4611686018427387903,5,5,1:2|3:3,,,", head+"1000000000001,5,5,,\"a,\"\"b\",5,1000000000002\n0,1,0,,,,")
}

func FuzzBurstGPT(f *testing.F) {
	fuzzTrace(f, BurstGPT, "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"+
		"19440110.000001,a,43,GPT-4,906,446,1352,x\n4611686018426.99999999,,,\"a,\"\"b\",1,0,1,\n")
}

func FuzzLengths(f *testing.F) {
	fuzzTrace(f, Lengths, "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n2147483647,2147483647,4294967294,x\n1,0,1,\n")
}

func FuzzTokens(f *testing.F) {
	fuzzTrace(f, Tokens,
		`{"input_toks":2,"output_toks":1,"arrival_time_ns":1,"input_tok_ids":[1,2],"output_tok_ids":[3]}`+"\n"+
			`{"input_toks":3,"output_toks":1,"arrival_time_ns":2,"input_tok_ids":[1, 2 ,3],"output_tok_ids":[4294967295]}`+"\n"+
			`{"input_toks":1,"output_toks":7,"arrival_time_ns":0,"input_tok_ids":[1],"output_tok_ids":null}`)
}

func FuzzInferenceSim(f *testing.F) {
	fuzzTrace(f, InferenceSim, "input_tokens,output_tokens,arrival_time_us,send_time_us,deadline_us,prefix_group,prefix_length,error_message\n"+
		"4,5,6,7,8,g,3,\"a\nb\"\n0,5,4611686018427387903,4611686018427387903,0,g,2147483647,\n")
}

// FuzzInferenceSimHeader reads any header beside any rows: requests, all valid
// and in order, or one line of error.
func FuzzInferenceSimHeader(f *testing.F) {
	for _, name := range []string{"sim", "sim_accumulate"} {
		var seed [2][]byte
		for i, ending := range []string{".yaml", ".csv"} {
			text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "traces", name+ending))
			if err != nil {
				f.Fatal(err)
			}
			seed[i] = text
		}
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, header, rows []byte) {
		beside := func(endings ...string) (string, io.Reader, error) {
			if endings[0] == ".csv" {
				return "t.csv", bytes.NewReader(rows), nil
			}
			return "t.yaml", bytes.NewReader(header), nil
		}
		for _, o := range []Options{{}, {SkipBadRows: true}} {
			o.Pace = &steps{gap: 10}
			trace, err := open("t", bytes.NewReader(header), o, beside)
			switch {
			case err == nil:
				pull(t, trace)
			case strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "t"):
				t.Errorf("not one line that names its place: %v", err)
			}
		}
	})
}

// FuzzMooncakeScanner holds the fast scanner to the JSON library: whatever it
// accepts, the library accepts with the same values.
func FuzzMooncakeScanner(f *testing.F) {
	for _, s := range []string{
		`{"timestamp": 0, "input_length": 1300, "output_length": 52, "hash_ids": [0, 1, 2]}`,
		`{"timestamp":0,"timestamp":12,"hash_ids":[],"a":"b"}`,
		`{"timestamp":007}`, `{"hash_ids":[1,]}`, `{"hash_ids":[,1]}`, `{"timestamp":1}x`, `{}`, `{"a":"é"}`, "{\"timestamp\":1\v}",
		`{"timestamp":1,}`, `{"timestamp" 1}`, `{timestamp:1}`, `{"hash_ids":[1 2]}`, `{"hash_ids":[01]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var fast, slow [mooncakeKeys][]byte
		if !scanObject(line, mooncakeNames, fast[:]) {
			return
		}
		if !json.Valid(line) {
			t.Fatalf("%q is not JSON", line)
		}
		if err := decodeObject(line, mooncakeNames, slow[:]); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for k := range fast {
			if !bytes.Equal(fast[k], slow[k]) || (fast[k] == nil) != (slow[k] == nil) {
				t.Errorf("%q: %s is %q, the library has %q", line, mooncakeNames[k], fast[k], slow[k])
			}
		}
	})
}

func TestScannerTakesTheUsualForm(t *testing.T) {
	for line, want := range map[string]bool{
		`{"timestamp": 0, "input_length": 1300, "output_length": 52, "hash_ids": [0, 1, 2]}`: true,
		`{"hash_ids":[],"note":"x","timestamp":1,"input_length":5,"output_length":7}`:        true,
		`{"timestamp": 0.5, "input_length": 1300, "output_length": 52, "hash_ids": [0]}`:     false,
		`{"timestamp": 007}`: false,
	} {
		var values [mooncakeKeys][]byte
		if got := scanObject([]byte(line), mooncakeNames, values[:]); got != want {
			t.Errorf("%s: taken by the fast scanner: %v", line, got)
		}
	}
}
