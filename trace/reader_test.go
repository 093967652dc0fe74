package trace

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"
)

// written is records in a form, after a header that fits.
func written(t testing.TB, form Form, records ...Record) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, form)
	for _, r := range append([]Record{&Header{Type: "header", Schema: Schema, Level: "detailed", Targets: []ClassTargets{}}}, records...) {
		if err := w.Consume(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readAll reads until an error, io.EOF included.
func readAll(text []byte, form Form) (list []Record, err error) {
	r := NewReader(bytes.NewReader(text), form, "t")
	for {
		record, err := r.Next()
		if err != nil {
			return list, err
		}
		list = append(list, record)
	}
}

func inOrder(records []Record) []Record {
	for i, r := range records {
		reflect.ValueOf(r).Elem().FieldByName("At").SetInt(int64(10 * i))
	}
	return records
}

// What a Writer writes a Reader reads, in both forms.
func TestRecordsReadBack(t *testing.T) {
	for seed := range uint64(20) {
		d := newRandomly(t, seed, false)
		var records []Record
		for range 100 {
			records = append(records, d.record(kinds[1+d.IntN(len(kinds)-1)].Kind()))
		}
		inOrder(records)
		for _, form := range []Form{JSONLines, MessagePack} {
			got, err := readAll(written(t, form, records...), form)
			if err != io.EOF || len(got) != len(records)+1 {
				t.Fatalf("form %d: %d records, error %v", form, len(got), err)
			}
			for i, want := range records {
				if !reflect.DeepEqual(got[i+1], want) {
					t.Fatalf("form %d, record %d:\n got %s\nwant %s", form, i, AppendJSON(nil, got[i+1]), AppendJSON(nil, want))
				}
			}
		}
	}
}

const header = `{"type":"header","schema":"blis.trace/v1","level":"decisions","seed":42,"instances":2,"admission":"a","priority":"p","routing":"r","scheduler":"s","autoscale":"none","counterfactual_k":0,"slo_targets":[]}` + "\n"

const priority = `{"type":"priority","at_us":5,"request":1,"slo_class":"a","priority":0}`

// Errors name file, line and field, and what would be right.
func TestReaderIsStrict(t *testing.T) {
	routing := string(AppendJSON(nil, &Routing{Candidates: []Candidate{{}, {Breakdown: []Breakdown{{}}}}, Snapshots: &Snapshots{QueueDepth: []int32{1, 2}}}))
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "t: line 1: the file is empty, want a header"},
		{"no header", priority, "t: line 1: the first record is of type priority, want a header"},
		{"two headers", header + header, "t: line 2: a second header"},
		{"other schema", strings.Replace(header, "v1", "v9", 1), "t: line 1: field schema: it is \"blis.trace/v9\", want blis.trace/v1"},
		{"level none", strings.Replace(header, "decisions", "none", 1), "field level"},
		{"blank line", header + "\n" + priority, "t: line 2: want a JSON object"},
		{"array", header + "[1]", "t: line 2: want a JSON object"},
		{"cut", header + priority[:39], "t: line 2: field request: the line ends within the JSON object"},
		{"more", header + priority + priority, "t: line 2: there is more after the JSON object"},
		{"no type", header + `{"at_us":5}`, "t: line 2: field type: it is missing"},
		{"unknown type", header + `{"type":"rooting"}`, `t: line 2: field type: there is no type "rooting", the nearest is "routing"`},
		{"type no string", header + `{"type":3}`, "field type: want a string"},
		{"unknown field", header + strings.Replace(priority, "slo_class", "slo_clas", 1), `t: line 2: there is no field "slo_clas", the nearest is "slo_class"`},
		{"missing", header + `{"type":"priority","at_us":5,"request":1,"slo_class":"a"}`, "t: line 2: field priority: it is missing"},
		{"twice", header + strings.Replace(priority, `"request":1`, `"request":1,"request":2`, 1), "field request: it is given twice"},
		{"null", header + strings.Replace(priority, `"request":1`, `"request":null`, 1), "field request: null is no whole number of 64 bits"},
		{"text for a number", header + strings.Replace(priority, `"at_us":5`, `"at_us":"5"`, 1), `field at_us: "5" is no whole number`},
		{"fraction", header + strings.Replace(priority, `"at_us":5`, `"at_us":5.5`, 1), "field at_us: 5.5 is no whole number"},
		{"infinite", header + strings.Replace(priority, `"priority":0`, `"priority":1e999`, 1), "field priority: 1e999 is no finite number"},
		{"null text", header + strings.Replace(priority, `"a"`, "null", 1), "field slo_class: want a string"},
		{"time", header + priority + "\n" + strings.Replace(priority, `"at_us":5`, `"at_us":4`, 1), "t: line 3: field at_us: 4 comes after 5: time goes back"},
		{"bool", header + strings.Replace(routing, `"forced":false`, `"forced":0`, 1), "field forced: want true or false"},
		{"deep", header + strings.Replace(routing, `"share":0`, `"share":[]`, 1), "field candidates[1].breakdown[0].share: [] is no finite number"},
		{"range", header + strings.Replace(routing, "[1,2]", "[1,3000000000]", 1), "field snapshots.queue_depth[1]: 3000000000 is no whole number of 32 bits"},
		{"no list", header + strings.Replace(routing, "[1,2]", "{}", 1), "field snapshots.queue_depth: want an array"},
		{"no number", strings.Replace(header, "42", "-42", 1), "field seed: -42 is no whole number from 0"},
	} {
		_, err := readAll([]byte(c.text), JSONLines)
		if err == nil || err == io.EOF || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %v", c.name, err)
		}
	}
}

// A record of msgpack that is cut anywhere is an error, as is one with a value
// of another type.
func TestMsgpackReaderIsStrict(t *testing.T) {
	head := len(written(t, MessagePack))
	text := written(t, MessagePack, &Priority{Type: "priority", At: 5, Request: 1, Class: "a"})
	for n := head + 1; n < len(text); n++ {
		if _, err := readAll(text[:n], MessagePack); err == nil || !strings.Contains(err.Error(), "t: record 2: ") || !strings.Contains(err.Error(), "ends within the record") {
			t.Fatalf("cut at %d of %d: %v", n, len(text), err)
		}
	}
	step := written(t, MessagePack, &Batch{Type: "batch", Running: 1})[head:]
	record := func(tail ...byte) []byte { return append(bytes.Clone(text[:head]), tail...) }
	key := func(s string) []byte { return append([]byte{0xa0 | byte(len(s))}, s...) }
	for _, c := range []struct {
		name string
		tail []byte
		want string
	}{
		{"no map", []byte{0x91, 1}, "want a map"},
		{"empty map", []byte{0x80}, "field type: it is missing"},
		{"type is not first", append([]byte{0x85}, key("at_us")...), `the first key is "at_us", want type`},
		{"unknown type", append(append([]byte{0x81}, key("type")...), key("skale")...), `the nearest is "scale"`},
		{"missing", append(append([]byte{0x81}, key("type")...), key("scale")...), "field at_us: it is missing"},
		{"many", append(append([]byte{0xdf, 255, 255, 255, 255}, key("type")...), key("scale")...), "ends within"},
		{"negative length", bytes.Replace(text[head:], append(key("request"), 1), append(key("request"), 0xc3), 1), "field request: want a whole number"},
		{"nil", bytes.Replace(text[head:], append(key("request"), 1), append(key("request"), 0xc0), 1), "field request: want a whole number"},
		{"out of range", bytes.Replace(text[head:], append(key("request"), 1), append(key("request"), 0xcf, 255, 0, 0, 0, 0, 0, 0, 0), 1), "field request: 18374686479671623680 is out of range"},
		{"out of 32 bits", bytes.Replace(step, append(key("running"), 1), append(key("running"), 0xd3, 0, 0, 0, 1, 0, 0, 0, 0), 1), "field running: 4294967296 is out of range"},
		{"class is a number", bytes.Replace(text[head:], append(key("slo_class"), key("a")...), append(key("slo_class"), 7), 1), "field slo_class: want a string"},
		{"not finite", bytes.Replace(text[head:], append(key("priority"), 0xcb, 0, 0, 0, 0, 0, 0, 0, 0), append(key("priority"), 0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0), 1), "field priority: +Inf is not finite"},
	} {
		_, err := readAll(record(c.tail...), MessagePack)
		if err == nil || !strings.Contains(err.Error(), "t: record 2: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}

// FuzzReader: whatever is read, the Reader says what is wrong in one line, or
// yields records that it reads again when they are written.
func FuzzReader(f *testing.F) {
	d := newRandomly(f, 7, false)
	var records []Record
	for _, k := range kinds[1:] {
		records = append(records, d.record(k.Kind()))
	}
	inOrder(records)
	f.Add(written(f, JSONLines, records...), false)
	f.Add(written(f, MessagePack, records...), true)
	f.Add([]byte(header+priority), false)
	f.Fuzz(func(t *testing.T, text []byte, packed bool) {
		form := JSONLines
		if packed {
			form = MessagePack
		}
		got, err := readAll(text, form)
		if err != io.EOF && strings.Contains(err.Error(), "\n") && !packed {
			t.Fatalf("more than one line: %q", err)
		}
		for _, r := range got {
			if !r.finite() {
				t.Fatalf("%+v is not finite", r)
			}
		}
		if err != io.EOF {
			return
		}
		var b bytes.Buffer
		w := NewWriter(&b, form)
		for _, r := range got {
			if err := w.Consume(r); err != nil {
				t.Fatal(err)
			}
		}
		w.Flush()
		again, err := readAll(b.Bytes(), form)
		if err != io.EOF || !packed && !reflect.DeepEqual(got, again) {
			t.Fatalf("written and read again: %v\n%+v\n%+v", err, got, again)
		}
	})
}
