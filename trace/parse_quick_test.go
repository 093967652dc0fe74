package trace

import (
	"bytes"
	"reflect"
	"testing"
)

// What parseQuickly reads, parse reads to the same record: of lines as a Writer
// has them, and of lines in which bytes are changed. It reads all of the former
// whose strings need no escape.
func TestParseQuicklyAgreesWithParse(t *testing.T) {
	d := newRandomly(t, 11, true)
	bytesOf := []byte("0123456789+-.eE\"\\,:[]{}nulltruefalse \x00\n_xé")
	quick := 0
	check := func(line []byte) {
		got, ok := parseQuickly(line)
		if !ok {
			return
		}
		quick++
		want, err := parse(line)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is read quickly, but else is\n%+v, %v, want\n%+v", line, want, err, got)
		}
	}
	for range 3000 {
		line := AppendJSON(nil, d.record(kinds[d.IntN(len(kinds))].Kind()))
		check(line)
		for range 5 {
			bad := bytes.Clone(line)
			for range 1 + d.IntN(2) {
				switch i := d.IntN(len(bad)); d.IntN(3) {
				case 0:
					bad[i] = bytesOf[d.IntN(len(bytesOf))]
				case 1:
					bad = append(bad[:i], bad[i+1:]...)
				default:
					bad = append(bad[:i], append([]byte{bytesOf[d.IntN(len(bytesOf))]}, bad[i:]...)...)
				}
			}
			check(bad)
		}
	}
	if quick < 800 {
		t.Errorf("only %d lines are read quickly", quick)
	}
	plain := newRandomly(t, 12, false)
	read := 0
	for range 1000 {
		r := plain.record("batch")
		if got, ok := parseQuickly(AppendJSON(nil, r)); ok && reflect.DeepEqual(got, r) {
			read++
		}
	}
	if read != 1000 {
		t.Errorf("%d of 1000 batches are read quickly", read)
	}
	for _, hints := range [][]Hint{nil, {{"urgent", 1}}, {{"urgent", 0}, {"heavy", -0.25}}} {
		r := &Priority{Type: "priority", Request: 7, Priority: 3, Hints: hints}
		if got, ok := parseQuickly(AppendJSON(nil, r)); !ok || !reflect.DeepEqual(got, r) {
			t.Errorf("hints %v are read as %+v, quickly %t", hints, got, ok)
		}
	}
}
