package pointlog

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seeded is a random stream whose seed a failed test prints.
func seeded(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// keyOf is a key of the i-th point.
func keyOf(i int) Key {
	var k Key
	copy(k[:], fmt.Sprintf("%016d", i))
	return k
}

// pointOf is an ok row, a function of its number alone but for the wall time.
func pointOf(i int) Row {
	a, b := float64(i)/7, math.Sqrt(float64(i))
	return Row{
		Key: keyOf(i), Index: int64(i), Axes: axesOf(i), Seed: uint64(i), Status: OK, Digest: fmt.Sprintf("%016x", i*7), Version: 3,
		LatencyModel: "physics", CoefficientSet: "h100",
		Measures: []Measured{{"p99_ttft", &a}, {"cost", &b}, {"slo_attainment", nil}},
		Reasons:  map[string]string{"slo_attainment": "no targets"},
	}
}

func axesOf(i int) []Coordinate {
	return []Coordinate{{"rate", json.RawMessage(fmt.Sprint(i))}, {"policy", json.RawMessage(`"least-loaded"`)}}
}

func failedOf(i int, cause Cause) Row {
	r := pointOf(i)
	r.Status, r.Cause, r.Error, r.Digest, r.Measures, r.Reasons = Failed, cause, "it failed", "", nil, nil
	return r
}

// labels are those of points 0 to n−1.
func labels(n int) iter.Seq[Label] {
	return func(yield func(Label) bool) {
		for i := range n {
			if !yield(Label{int64(i), axesOf(i), keyOf(i)}) {
				return
			}
		}
	}
}

func open(t testing.TB, dir string, o Options) *Log {
	t.Helper()
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func appendAll(t testing.TB, l *Log, rows ...Row) {
	t.Helper()
	for i := range rows {
		if err := l.Append(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
}

func closeLog(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// points are rows of points from to to−1.
func points(from, to int) (rows []Row) {
	for i := from; i < to; i++ {
		rows = append(rows, pointOf(i))
	}
	return rows
}

// logOf writes a log of rows into a folder and closes it.
func logOf(t testing.TB, dir string, o Options, rows ...Row) {
	t.Helper()
	l := open(t, dir, o)
	appendAll(t, l, rows...)
	closeLog(t, l)
}

func read(t testing.TB, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t testing.TB, text string, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wantError wants an error of one line with all of these words.
func wantError(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not in: %v", w, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than a line: %v", err)
	}
}

// randomText is any text, rarely long.
func randomText(r *rand.Rand) string {
	const alphabet = "aZ09 _-.\"\\\n\r\t\b\x00\x1f\x7fé\u2028\U0001f600<>&{}[]:,"
	runes := []rune(alphabet)
	b := make([]rune, 1+r.IntN(12))
	for i := range b {
		b[i] = runes[r.IntN(len(runes))]
	}
	return string(b)
}

// randomFloat is any finite float: every exponent is as likely.
func randomFloat(r *rand.Rand) float64 {
	special := []float64{0, math.Copysign(0, -1), 5e-324, -5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 1e308, -math.MaxFloat64,
		1e-6, 9.99999e-7, 1e21, 999999999999999900000, 1.0 / 3, 9007199254740993, 1e-9, 1e-10}
	if r.IntN(4) == 0 {
		return special[r.IntN(len(special))]
	}
	for {
		if x := math.Float64frombits(r.Uint64()); finite(x) {
			return x
		}
	}
}

// randomRow is any row that is not wrong.
func randomRow(r *rand.Rand) Row {
	row := Row{Index: r.Int64(), Seed: r.Uint64(), Status: []Status{OK, Refused, Failed}[r.IntN(3)], Version: 1 + r.IntN(1e9), WallS: randomFloat(r)}
	text := func() string { return randomText(r) }
	if r.IntN(2) == 0 { // a line without escapes
		text = func() string { return "a" + strings.Map(unescaped, randomText(r)) }
	}
	for i := range row.Key {
		row.Key[i] = byte(r.Uint32())
	}
	if r.IntN(2) == 0 {
		seed := r.Uint64()
		row.WorkloadSeed = &seed
	}
	if row.Status == Failed {
		row.Cause = []Cause{Error, Panic, Events, Wall, Killed}[r.IntN(5)]
	}
	if row.Status != OK {
		row.Error = text()
	}
	if row.Cause == Panic {
		row.Stack = text()
	}
	if row.Status == OK || r.IntN(2) == 0 {
		row.Digest = text()
	}
	if r.IntN(2) == 0 {
		row.LatencyModel, row.CoefficientSet = text(), text()
	}
	values := []string{`1`, `-0`, `1e400`, `0.10`, `"x\n"`, `"é"`, `true`, `false`, `123456789012345678901234567890`}
	for i := range r.IntN(4) {
		row.Axes = append(row.Axes, Coordinate{fmt.Sprint(i, text()), json.RawMessage(values[r.IntN(len(values))])})
	}
	for i := range r.IntN(6) {
		m := Measured{Name: fmt.Sprint(i, text())}
		if r.IntN(3) > 0 {
			x := randomFloat(r)
			m.Value = &x
		} else {
			if row.Reasons == nil {
				row.Reasons = map[string]string{}
			}
			row.Reasons[m.Name] = text()
		}
		row.Measures = append(row.Measures, m)
	}
	return row
}

// unescaped drops what is escaped in JSON.
func unescaped(r rune) rune {
	if r < ' ' || r == '"' || r == '\\' {
		return -1
	}
	return r
}
