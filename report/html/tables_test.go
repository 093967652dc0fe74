package html

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
)

// Tables as Markdown and as CSV say what the page says, whatever names are.
func TestTablesAsText(t *testing.T) {
	hostile := "a|b <script>*x* `y` [z](w)_\n\"q\",\u202e" + strings.Repeat("long", 30)
	docs := []Document{{Name: "run.json", JSON: small(hostile)}}
	page := pageOf(t, docs...)
	var md, table bytes.Buffer
	if err := Markdown(&md, docs); err != nil {
		t.Fatal(err)
	}
	if err := CSV(&table, docs); err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"<script>", "\u202e", " *x*", " [z]"} {
		if strings.Contains(md.String(), raw) {
			t.Errorf("Markdown has %q", raw)
		}
	}
	pipes := 0
	for line := range strings.Lines(md.String()) {
		if !strings.HasPrefix(line, "|") {
			pipes = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if pipes > 0 && n != pipes {
			t.Errorf("a table has rows of %d and %d cells: %s", pipes-1, n-1, line)
		}
		pipes = n
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, r := range rows[1:] {
		if r[0] != "run.json" || r[1] == "" || r[2] == "" || r[4] == "" {
			t.Errorf("row %q", r)
		}
		found = found || r[1] == "Latencies" && r[3] == "TTFT" && r[4] == "p99" && r[5] == "1.99"
	}
	if !found || !strings.Contains(page, "1.99") {
		t.Errorf("the p99 TTFT of 1.99 ms is not there: %q", rows)
	}
	if sections := strings.Count(md.String(), "\n## "); sections < 4 {
		t.Errorf("%d sections", sections)
	}
	for _, write := range []func() error{func() error { return Markdown(&md, nil) }, func() error { return CSV(&md, []Document{{JSON: []byte("{}")}}) }} {
		if err := write(); err == nil {
			t.Error("no error")
		}
	}
}

// Every kind of document has tables as text, however odd its values.
func TestTablesOfAllKinds(t *testing.T) {
	for _, schema := range Schemas() {
		for _, write := range []func(*bytes.Buffer, []Document) error{
			func(b *bytes.Buffer, d []Document) error { return Markdown(b, d) }, func(b *bytes.Buffer, d []Document) error { return CSV(b, d) },
		} {
			var b bytes.Buffer
			if err := write(&b, []Document{{Name: "x.json", JSON: []byte(`{"schema": "` + schema + `"}`)}}); err != nil || b.Len() == 0 {
				t.Errorf("%s: %v, %d bytes", schema, err, b.Len())
			}
		}
	}
}
