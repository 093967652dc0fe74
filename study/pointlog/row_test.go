package pointlog

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"blis/internal/testsize"

	"github.com/google/go-cmp/cmp"
)

// sameBits compares floats by their bits, so that −0 is not 0.
var sameBits = cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })

// jsonRow is a line for encoding/json, the slow twin of reader and writer.
type jsonRow struct {
	Schema         string                     `json:"schema"`
	Key            string                     `json:"key"`
	Index          int64                      `json:"index"`
	Axes           map[string]json.RawMessage `json:"axes"`
	Seed           uint64                     `json:"seed"`
	WorkloadSeed   *uint64                    `json:"workload_seed,omitempty"`
	Status         Status                     `json:"status"`
	Cause          Cause                      `json:"cause,omitempty"`
	Error          string                     `json:"error,omitempty"`
	Stack          string                     `json:"stack,omitempty"`
	Digest         string                     `json:"digest,omitempty"`
	Version        int                        `json:"version"`
	LatencyModel   string                     `json:"latency_model,omitempty"`
	CoefficientSet string                     `json:"coefficient_set,omitempty"`
	Measures       map[string]*float64        `json:"measures"`
	Reasons        map[string]string          `json:"reasons,omitempty"`
	WallS          float64                    `json:"wall_s"`
}

func twinOf(r *Row) jsonRow {
	j := jsonRow{Schema, r.Key.String(), r.Index, map[string]json.RawMessage{}, r.Seed, r.WorkloadSeed, r.Status, r.Cause, r.Error, r.Stack, r.Digest,
		r.Version, r.LatencyModel, r.CoefficientSet, map[string]*float64{}, r.Reasons, r.WallS}
	for _, c := range r.Axes {
		j.Axes[c.Axis] = c.Value
	}
	for _, m := range r.Measures {
		j.Measures[m.Name] = m.Value
	}
	return j
}

// TestRowsAreReadAsTheyWereWritten: by our reader and by encoding/json, to the bit;
// and what encoding/json writes, our reader reads.
func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	random := seeded(t)
	d := new(decoder)
	var reused Row
	for range testsize.Cases(t, 500, 3000, 10_000) {
		row := randomRow(random)
		line, err := row.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsAny(line, "\n\r") || !json.Valid(line) {
			t.Fatalf("no JSON in one line: %s", line)
		}
		got, err := Parse(line)
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if diff := cmp.Diff(row, got, sameBits); diff != "" {
			t.Fatalf("%s\n%s", line, diff)
		}
		if err := d.parse(line, &reused); err != nil {
			t.Fatal(err)
		}
		if again, err := reused.AppendJSON(nil); err != nil || !bytes.Equal(line, again) {
			t.Fatalf("a decoder that is used again: %v\n%s\n%s", err, line, again)
		}
		slow := json.NewDecoder(bytes.NewReader(line))
		slow.DisallowUnknownFields()
		var twin jsonRow
		if err := slow.Decode(&twin); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(twinOf(&row), twin, sameBits); diff != "" {
			t.Fatalf("%s\n%s", line, diff)
		}
		theirs, err := json.Marshal(twin)
		if err != nil {
			t.Fatal(err)
		}
		got, err = Parse(theirs)
		if err != nil {
			t.Fatalf("%v in %s", err, theirs)
		}
		if diff := cmp.Diff(twin, twinOf(&got), sameBits); diff != "" {
			t.Fatalf("%s\n%s", theirs, diff)
		}
	}
}

// TestFloats are written as encoding/json writes them, and read as the same bits.
func TestFloats(t *testing.T) {
	random := seeded(t)
	list := []float64{1e20, 999999999999999868928, 1e21, 1e-6, 9.999999999999999e-7, 1e-7, 1e-10, 1e100, 5e-324, 1e308, math.MaxFloat64, math.Copysign(0, -1)}
	for range testsize.Cases(t, 10_000, 100_000, 500_000) {
		list = append(list, randomFloat(random), random.ExpFloat64())
	}
	for _, x := range list {
		want, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		d := decoder{text: appendFloat(nil, x)}
		if got, err := d.float(); string(d.text) != string(want) || err != nil || math.Float64bits(got) != math.Float64bits(x) {
			t.Fatalf("%s is read as %v, %v; encoding/json writes %s", d.text, got, err, want)
		}
	}
}

// TestALine shows one.
func TestALine(t *testing.T) {
	row := pointOf(2)
	row.WallS = 0.25
	line, err := row.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"schema":"blis.point/v1","key":"30303030303030303030303030303032","index":2,"axes":{"rate":2,"policy":"least-loaded"},"seed":2,` +
		`"status":"ok","digest":"000000000000000e","version":3,"latency_model":"physics","coefficient_set":"h100",` +
		`"measures":{"p99_ttft":0.2857142857142857,"cost":1.4142135623730951,"slo_attainment":null},"reasons":{"slo_attainment":"no targets"},"wall_s":0.25}`
	if string(line) != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
}

// TestBadLines: each is a good line with one thing changed.
func TestBadLines(t *testing.T) {
	row := pointOf(2)
	line, err := row.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"seed":2`, `"sed":2`, `column 126: unknown field "sed"`},
		{`"seed":2`, `"seed":2,"seed":2`, `field "seed" occurs twice`},
		{`"seed":2,`, ``, `no field "seed"`},
		{`"seed":2`, `"seed":-2`, "not an unsigned"},
		{`"seed":2`, `"seed":18446744073709551616`, "not an unsigned"},
		{`"seed":2`, `"seed":02`, "want a number"},
		{`"index":2`, `"index":2.0`, "not a 64-bit integer"},
		{`"index":2`, `"index":-1`, "index is -1"},
		{`"index":2`, `"index":null`, "want a number"},
		{Schema, `blis.point/v2`, `want "blis.point/v1"`},
		{`3032"`, `303"`, "has 31 digits"},
		{`3032"`, `303G"`, "not in lower-case hex"},
		{`3032"`, `303A"`, "not in lower-case hex"},
		{`"ok"`, `"done"`, `status is "done"`},
		{`"ok"`, `"refused"`, "want an error unless ok"},
		{`"ok"`, `"failed"`, `cause is ""`},
		{`"ok"`, `"failed","cause":"tired","error":"e"`, `cause is "tired"`},
		{`"ok"`, `"ok","cause":"wall"`, "only failed rows have a cause"},
		{`"ok"`, `"refused","error":"e","stack":"s"`, "a stack and no panic"},
		{`"digest":"000000000000000e",`, ``, "no digest"},
		{`"version":3`, `"version":0`, "version is 0"},
		{`"rate":2`, `"rate":[2]`, "want a number"},
		{`"rate":2`, `"policy":2`, `axis "policy" occurs twice`},
		{`"cost":1.4`, `"cost":NaN1.4`, "want a number"},
		{`"cost":1.4142135623730951`, `"cost":1e999`, "not a 64-bit float"},
		{`"cost":1.4142135623730951`, `"cost":1.`, "want a digit after the point"},
		{`"cost":1.4142135623730951`, `"cost":1e`, "want a digit in the exponent"},
		{`"cost":1.4142135623730951`, `"cost":"1"`, "want a number"},
		{`"cost"`, `"p99_ttft"`, `measure "p99_ttft" occurs twice`},
		{`"cost":1.4142135623730951`, `"cost":null`, `"cost" is null and reasons does not say why`},
		{`"slo_attainment":null`, `"slo_attainment":1`, "reasons has 1 entries, want 0"},
		{`"physics"`, "\"phy\xffsics\"", "not UTF-8"},
		{`"physics"`, `"phy\qsics"`, "bad escape"},
		{`"physics"`, "\"phy\tsics\"", "control character"},
		{`"wall_s":0}`, `"wall_s":0`, "want , or }"},
		{`"wall_s":0}`, `"wall_s":0}}`, "text after the object"},
		{`"wall_s":0}`, `"wall_s":0,}`, "want a string"},
		{`"wall_s":0}`, `"wall_s":"`, "want a number"},
		{`{"schema"`, `["schema"`, "column 1: want {"},
	} {
		bad := strings.Replace(string(line), c.old, c.new, 1)
		if bad == string(line) {
			t.Fatalf("%s is not in %s", c.old, line)
		}
		_, err := Parse([]byte(bad))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
	if _, err := Parse(nil); err == nil {
		t.Error("an empty line is a row")
	}
}

// TestWrongRowsAreNotWritten: what cannot be read is not written either.
func TestWrongRowsAreNotWritten(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		want  string
		spoil func(*Row)
	}{
		{`"cost" is NaN`, func(r *Row) { r.Measures[1].Value = &nan }},
		{`"cost" is +Inf`, func(r *Row) { r.Measures[1].Value = &inf }},
		{"wall_s is NaN", func(r *Row) { r.WallS = nan }},
		{"does not say why", func(r *Row) { r.Reasons = nil }},
		{"occurs twice", func(r *Row) { r.Axes = append(r.Axes, r.Axes[0]) }},
		{"want a JSON string", func(r *Row) { r.Axes[0].Value = json.RawMessage(`1 `) }},
		{"want a JSON string", func(r *Row) { r.Axes[0].Value = json.RawMessage("\"a\nb\"") }},
		{"want a JSON string", func(r *Row) { r.Axes[0].Value = nil }},
		{"not UTF-8", func(r *Row) { r.Axes[0].Axis = "a\xff" }},
		{"not UTF-8", func(r *Row) { r.Measures[0].Name = "a\xff" }},
		{"want at most 1048576", func(r *Row) { r.Digest = strings.Repeat("d", MaxLine) }},
	} {
		r := pointOf(2)
		c.spoil(&r)
		if b, err := r.AppendJSON([]byte("x")); err == nil || !strings.Contains(err.Error(), c.want) || string(b) != "x" {
			t.Errorf("%v, want %q, and %.20q", err, c.want, b)
		}
	}
	r := pointOf(2)
	r.LatencyModel = "a\xffb"
	if b, err := r.AppendJSON(nil); err != nil || !strings.Contains(string(b), "a\ufffdb") {
		t.Errorf("bytes that are not UTF-8: %s, %v", b, err)
	}
}

// TestTheLongestLine is read, one byte more is refused.
func TestTheLongestLine(t *testing.T) {
	r := pointOf(2)
	line, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Digest += strings.Repeat("d", MaxLine-1-len(line))
	dir := t.TempDir()
	logOf(t, dir, Options{}, r)
	l := open(t, dir, Options{})
	if got, there, err := l.Row(r.Key); err != nil || !there || got.Digest != r.Digest {
		t.Errorf("%v, %v", there, err)
	}
	r.Digest += "d"
	wantError(t, l.Append(&r), "want at most 1048576")
}

// FuzzParse: what the reader takes is JSON, and is written so that it reads the
// same.
func FuzzParse(f *testing.F) {
	r := pointOf(3)
	line, _ := r.AppendJSON(nil)
	f.Add(line)
	r = failedOf(4, Panic)
	r.Stack = "a\nb"
	line, _ = r.AppendJSON(nil)
	f.Add(line)
	f.Add([]byte(`{"schema" : "blis.point\/v1"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		row, err := Parse(line)
		if err != nil {
			return
		}
		if !json.Valid(line) {
			t.Fatalf("no JSON: %q", line)
		}
		again, err := row.AppendJSON(nil)
		if err != nil {
			t.Fatalf("%v of %q", err, line)
		}
		back, err := Parse(again)
		if err != nil {
			t.Fatalf("%v of %q", err, again)
		}
		if diff := cmp.Diff(row, back, sameBits); diff != "" {
			t.Fatal(diff)
		}
	})
}
