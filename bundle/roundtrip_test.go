package bundle

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"blis/policy"
	"blis/vtime"
)

func number(text string) json.Number { return json.Number(text) }

// checkRoundTrip holds what a bundle promises of its written forms and of its
// completion.
func checkRoundTrip(t testing.TB, b Bundle) {
	t.Helper()
	checkWritten(t, b)
	full, err := b.Complete()
	if err != nil {
		t.Fatalf("%+v is not complete: %v", b, err)
	}
	checkWritten(t, full)
	again, err := full.Complete()
	if diff := cmp.Diff(full, again, sameContent); err != nil || diff != "" {
		t.Fatalf("complete twice is another: %v once −, twice +\n%s", err, diff)
	}
}

// checkWritten reads back each of the forms in which a bundle is written.
func checkWritten(t testing.TB, b Bundle) {
	t.Helper()
	compact, err := json.Marshal(b) // escapes < > & too
	if err != nil {
		t.Fatal(err)
	}
	indented, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{compact, indented} {
		var back Bundle
		err := json.Unmarshal(text, &back)
		if diff := cmp.Diff(b, back, sameContent); err != nil || diff != "" {
			t.Fatalf("%s: %v, wrote −, read +\n%s", text, err, diff)
		}
	}
	text, err := b.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > maxText {
		return
	}
	var back Bundle
	err = back.UnmarshalText(text)
	if diff := cmp.Diff(b, back, sameContent); err != nil || diff != "" {
		t.Fatalf("%s: %v, wrote −, read +\n%s", text, err, diff)
	}
}

// TestAnyBundleRoundTrips writes and reads random bundles of what is
// registered; rapid prints the seed of a failure.
func TestAnyBundleRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBundle(t)
		compact, _ := json.Marshal(b)
		var back Bundle
		err := json.Unmarshal(compact, &back)
		if diff := cmp.Diff(b, back, sameContent); err != nil || diff != "" {
			t.Fatalf("%s: %v, wrote −, read +\n%s", compact, err, diff)
		}
		text, _ := b.MarshalText()
		back, err = Parse("p.yaml", text)
		if diff := cmp.Diff(b, back, sameContent); err != nil || diff != "" {
			t.Fatalf("%s: %v, wrote −, read +\n%s", text, err, diff)
		}
		full, err := b.Complete()
		if err != nil {
			t.Fatal(err)
		}
		again, err := full.Complete()
		if diff := cmp.Diff(full, again, sameContent); err != nil || diff != "" {
			t.Fatalf("complete twice is another: %v once −, twice +\n%s", err, diff)
		}
	})
}

func anyBundle(t *rapid.T) Bundle {
	var b Bundle
	list := sections()
	for i := range list {
		if s := &list[i]; s.selection != nil && rapid.Bool().Draw(t, s.name) {
			*s.selection(&b) = anySelection(t, policy.Kind(s.name))
		}
	}
	duration := rapid.Map(rapid.Int64Range(1, 1<<53), func(d int64) *vtime.Duration { return us(vtime.Duration(d)) })
	if rapid.Bool().Draw(t, "interval") {
		b.Autoscale.Interval = duration.Draw(t, "interval")
	}
	if rapid.Bool().Draw(t, "refresh") {
		b.Observability.Refresh = duration.Draw(t, "refresh")
	}
	for _, r := range policy.SignalTable() {
		if r.Key == "" {
			continue
		}
		*b.Observability.Fresh.Of(r.Bit) = rapid.SampledFrom([]string{"", policy.Immediate, policy.OnDemand, "50ms", "7"}).Draw(t, "freshness")
	}
	b.Observability.InFlight = rapid.SampledFrom([]string{"", "immediate", "periodic"}).Draw(t, "in_flight")
	b.Observability.PrefixIndex = rapid.SampledFrom([]string{"", "routed", "events"}).Draw(t, "prefix_index")
	if rapid.Bool().Draw(t, "kv_event_delay") {
		b.Observability.KVEventDelay = duration.Draw(t, "kv_event_delay")
	}
	if rapid.Bool().Draw(t, "metadata") {
		b.Metadata = anyMapping(t, 3)
	}
	return b
}

func anySelection(t *rapid.T, kind policy.Kind) Selection {
	template := rapid.SampledFrom(policy.OfKind(kind)).Draw(t, "template")
	c := Selection{Type: template.Name}
	for _, i := range rapid.Permutation(indices(len(template.Parameters))).Draw(t, "order") {
		p := &template.Parameters[i]
		if !rapid.Bool().Draw(t, "given") {
			continue
		}
		name := rapid.SampledFrom(append([]string{p.Name}, p.Aliases...)).Draw(t, "name")
		c.Params = append(c.Params, policy.Setting{Name: name, Value: anyText(t, p)})
	}
	if template.Open != nil {
		for _, name := range rapid.SliceOfNDistinct(rapid.StringN(1, 20, maxName), 0, 3, rapid.ID).Draw(t, "open") {
			c.Params = append(c.Params, policy.Setting{Name: policy.TenantsPrefix + name, Value: anyText(t, template.Open)})
		}
	}
	return c
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// anyText is an allowed value of a parameter.
func anyText(t *rapid.T, p *policy.Parameter) string {
	switch p.Type {
	case policy.Flag:
		return strconv.FormatBool(rapid.Bool().Draw(t, "flag"))
	case policy.Choice:
		return rapid.SampledFrom(p.Choices).Draw(t, "choice")
	case policy.Duration:
		return rapid.SampledFrom([]string{p.Default, vtime.Duration(min(p.Max, p.Min+1234567)).String()}).Draw(t, "duration")
	}
	if p.Type == policy.Count {
		return strconv.Itoa(rapid.IntRange(int(p.Min), int(p.Max)).Draw(t, "count"))
	}
	x := rapid.Float64Range(p.Min, p.Max).Draw(t, "number")
	return strconv.FormatFloat(x, rapid.SampledFrom([]byte("gf")).Draw(t, "format"), -1, 64)
}

func anyMapping(t *rapid.T, depth int) Mapping {
	m := Mapping{}
	for _, name := range rapid.SliceOfNDistinct(rapid.StringN(0, 20, maxName), 0, 4, rapid.ID).Draw(t, "names") {
		m = append(m, Entry{name, anyValue(t, depth)})
	}
	return m
}

func anyValue(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "value") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return number(strconv.FormatFloat(rapid.Float64Range(-1e300, 1e300).Draw(t, "number"), 'g', -1, 64))
	case 3:
		return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"null", "True", "1e5", "0x10", "5s", "1_000s", "-", "~", "a: b", "#", "é\u0085", ".inf", "<<", "a-b.c"})).Draw(t, "string")
	case 4:
		return anyMapping(t, depth-1)
	}
	list := make([]any, rapid.IntRange(0, 4).Draw(t, "length"))
	for i := range list {
		list[i] = anyValue(t, depth-1)
	}
	return list
}

// FuzzParse: no input panics or hangs, faults are one line, and what is
// accepted reads back from what it writes.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", documented, `{"routing":{"type":"weighted","params":{"queue-depth":1e0,"tie":"random"}}}`,
		"metadata:\n  a: |\n    x\n  b: >-\n    y\n\n    z\n  c: [1, {d: ~}, [a: b]]\n  'e f': \"\\u2028\\x7f\"\n", "? a\n: &b !!c *d\n<<: e\n%f\n--- |2\n...\n",
		"priority:\n- a\n-  - b: 1\n     c: .nan\n", "autoscale: {type: none, interval: 15s, params: {}}\nobservability:\n  refresh: 0x1F\n  in_flight: periodic\n"} {
		f.Add([]byte(text))
	}
	for _, text := range []string{"{a: [1, \"x\", 'y', .5, 0o17], b: ~}", "\n  a:\n  - b\n  - c: |\n      d\n    e: 5s"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkInput(t, text)
		checkInput(t, append([]byte("metadata: "), text...)) // where most is allowed
	})
}

func checkInput(t *testing.T, text []byte) {
	t.Helper()
	b, err := Parse("p.yaml", text)
	if err == nil {
		checkRoundTrip(t, b)
	} else if strings.Contains(err.Error(), "\n") {
		t.Fatalf("more than a line: %q", err.Error())
	}
}

// TestLargeBundlesReadBack: a file of any allowed size can be written, however
// much longer it is in JSON.
func TestLargeBundlesReadBack(t *testing.T) {
	for name, unit := range map[string]string{"escapes": "\\0", "angles": "<", "entries": ""} { // any order
		t.Run(name, func(t *testing.T) {
			text := "metadata:\n  a: \"" + strings.Repeat(unit, (maxText-100)/max(1, len(unit))) + "\""
			if name == "entries" {
				text = "metadata:\n  a:\n" + strings.Repeat("  - a\n", (maxText-100)/6)
			}
			b := mustParse(t, text)
			compact, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			indented, err := json.MarshalIndent(b, strings.Repeat(" ", 80), "\t")
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range [][]byte{compact, indented} {
				var back Bundle
				if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(b, back, sameContent) {
					t.Errorf("%d bytes of JSON: %v", len(text), err)
				}
			}
		})
	}
}
