package pointlog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"blis/internal/testsize"
)

// TestPlainLines are those that AppendJSON writes: a line with one change is none, and a
// line without escapes is one.
func TestPlainLines(t *testing.T) {
	random := seeded(t)
	d := new(decoder)
	plain, changed := 0, 0
	for range testsize.Cases(t, 3000, 20_000, 100_000) {
		row := randomRow(random)
		line, err := row.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if random.IntN(3) > 0 {
			line = rewritten(random, line)
			changed++
		}
		var got Row
		if d.parse(line, &got) != nil {
			continue // a change that makes no sense
		}
		again, err := got.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		same := bytes.Equal(line, again)
		if d.plain && (!same || got.Stack != "") {
			t.Fatalf("said to be plain:\n%s\nis written\n%s", line, again)
		}
		if same && !d.plain && got.Stack == "" && !bytes.Contains(line, []byte(`\`)) {
			t.Fatalf("said not to be plain:\n%s", line)
		}
		if d.plain {
			plain++
		}
	}
	if plain < changed/20 {
		t.Errorf("%d plain lines are too few to tell", plain)
	}
}

var numerals = regexp.MustCompile(`[0-9.]+([eE][-+]?[0-9]+)?`)

// rewritten changes one thing of a line that may leave its meaning as it is.
func rewritten(random *rand.Rand, line []byte) []byte {
	line = slices.Clone(line)
	switch at := random.IntN(len(line)); random.IntN(4) {
	case 0:
		return slices.Insert(line, at, " \t"[random.IntN(2)])
	case 1: // another numeral, mostly of the same number
		all := numerals.FindAllIndex(line, -1)
		one := all[random.IntN(len(all))]
		text := string(line[one[0]:one[1]])
		if x, err := strconv.ParseFloat(text, 64); err == nil && random.IntN(2) == 0 {
			text = fmt.Sprintf([]string{"%.17g", "%e", "%.20f", "%v"}[random.IntN(4)], x)
		} else {
			text = []string{"-0", text + "0", text + ".0", text + "e0", "-" + text, "0.00001", "0.000001", "0.0000001", "100000", "123456789012345.5"}[random.IntN(10)]
		}
		return slices.Concat(line[:one[0]], []byte(text), line[one[1]:])
	case 2: // two members change places, or an empty one comes
		commas := regexp.MustCompile(`,"`).FindAllIndex(line, -1)
		c := commas[random.IntN(len(commas))][0]
		return slices.Insert(line, c, []byte([]string{`,"cause":""`, `,"error":""`, `,"reasons":{}`, `,"latency_model":""`, `,"wall_s":1`, `,"stack":""`}[random.IntN(6)])...)
	default:
		i, j := bytes.Index(line, []byte(`,"seed":`)), bytes.Index(line, []byte(`,"version":`))
		k := bytes.IndexByte(line[j+1:], ',') + j + 1
		return slices.Concat(line[:i], line[j:k], line[i:j], line[k:])
	}
}

// TestCopiedLines of the sorted file are those that a row writes.
func TestCopiedLines(t *testing.T) {
	random := seeded(t)
	dir := t.TempDir()
	var rows []Row
	for i := range testsize.Cases(t, 300, 3000, 10_000) {
		r := randomRow(random)
		r.Key, r.Version = keyOf(i), 3
		rows = append(rows, r)
	}
	logOf(t, dir, Options{}, rows...)
	table, err := Merge(3, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	copied := 0
	for i := range rows {
		e := table.entries[keyOf(i)]
		other := randomRow(random)
		label := Label{random.Int64(), other.Axes, keyOf(i)}
		got, err := table.appendSorted(nil, e, label)
		if err != nil {
			t.Fatal(err)
		}
		if e.plain {
			copied++
		}
		e.plain = false
		if want, err := table.appendSorted(nil, e, label); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v, copied\n%s\nwritten\n%s", err, got, want)
		}
	}
	if copied < len(rows)/10 {
		t.Errorf("only %d of %d lines were copied", copied, len(rows))
	}
}
