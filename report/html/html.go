package html

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Document is a stored result.
type Document struct {
	Name string // of the file, without its folder; empty: a result that was not stored
	JSON []byte

	// Command are the words of a command that repeats the result; none: not known. A stored
	// run repeats itself by its name.
	Command []string
}

// Error is one line about a document that cannot be shown.
type Error struct {
	Where string // file, with line and column where there are some
	Text  string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Where == "" {
		return e.Text
	}
	return e.Where + ": " + e.Text
}

// MostDocuments is how many documents a page may have: it must open fast.
const MostDocuments = 50

// shower writes the sections of one kind of document.
type shower struct {
	schema string
	what   string // the kind, as a heading has it
	show   func(s *sheet)
}

// showers are the kinds of documents that a page can have.
func showers() []shower {
	return []shower{
		{"blis.run/v1", "Run", func(s *sheet) { runPart{s}.run() }},
		{"blis.compare/v1", "Comparison", func(s *sheet) { comparePart{s}.compare() }},
		{"blis.sweep-result/v1", "Sweep", func(s *sheet) { sweepPart{s}.sweep() }},
		{"blis.capacity/v1", "Capacity", func(s *sheet) { capacityPart{s}.capacity() }},
		{"blis.frontier/v1", "Frontier", func(s *sheet) { frontierPart{s}.frontier() }},
		{"blis.validate/v1", "Validation", func(s *sheet) { validatePart{s}.validate() }},
	}
}

// Schemas are the schemas of documents that Write can show.
func Schemas() (names []string) {
	for _, s := range showers() {
		names = append(names, s.schema)
	}
	return names
}

// Write writes a page with all documents, in their order. A document that is malformed,
// truncated or of another schema is an *Error; nothing has been written then.
func Write(w io.Writer, docs []Document) error {
	p, err := newPage(docs)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	p.write(b)
	return b.Flush()
}

// newPage makes the page of documents.
func newPage(docs []Document) (*page, error) {
	if len(docs) == 0 {
		return nil, &Error{"", "there is no document: want at least one"}
	}
	if len(docs) > MostDocuments {
		return nil, &Error{"", fmt.Sprintf("%d documents are too many for a page: want at most %d", len(docs), MostDocuments)}
	}
	p := &page{}
	for i := range docs {
		if err := p.add(i, &docs[i]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add makes the sheet of a document.
func (p *page) add(i int, d *Document) error {
	name := cmp.Or(d.Name, "the result")
	content, err := parse(name, d.JSON)
	if err != nil {
		return err
	}
	schema := content.get("schema")
	switch {
	case content.kind != object:
		return &Error{name, "want a JSON object, a result of blis"}
	case schema.kind != text:
		return &Error{name, "has no schema, so it is no result of blis: want one of " + strings.Join(Schemas(), ", ")}
	}
	all := showers()
	k := slices.IndexFunc(all, func(s shower) bool { return s.schema == schema.text })
	if k < 0 {
		return &Error{name, fmt.Sprintf("its schema is %q: want one of %s", clean(schema.text, mostShown), strings.Join(Schemas(), ", "))}
	}
	s := &sheet{page: p, id: fmt.Sprintf("d%d", i), kind: all[k].what, doc: content, name: d.Name, command: shellLine(d.Command), body: &strings.Builder{}}
	p.sheets = append(p.sheets, s)
	all[k].show(s)
	return nil
}
