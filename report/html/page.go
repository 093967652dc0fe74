package html

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

//go:embed assets vendor
var files embed.FS

// Licence is the licence of uPlot, which draws the charts of a page.
func Licence() string { return string(file("vendor/uPlot.LICENSE")) }

func file(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return content
}

// joined are the files with this ending: that of uPlot first, then ours by name.
func joined(vendor, ending string) string {
	var b strings.Builder
	b.WriteString("\n")
	b.Write(file(vendor))
	names, err := fs.Glob(files, "assets/*"+ending)
	if err != nil {
		panic(err) // the pattern is constant
	}
	for _, name := range names { // sorted
		b.WriteString("\n")
		b.Write(file(name))
	}
	return b.String()
}

// script and style are the same on every page, and so are their hashes.
var (
	script = sync.OnceValue(func() string { return joined("vendor/uPlot.iife.min.js", ".js") })
	style  = sync.OnceValue(func() string { return joined("vendor/uPlot.min.css", ".css") })
	policy = sync.OnceValue(func() string {
		return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hashOf(script()), hashOf(style()))
	})
)

// hashOf is the name of a text in a Content-Security-Policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// page is a page being made.
type page struct {
	sheets []*sheet
	charts []any // for the script
}

// sheet is the part of a page about one document.
type sheet struct {
	page    *page
	id      string // unique on the page
	kind    string
	name    string // of the file; may be empty
	command string
	doc     value

	title    string // HTML
	verdict  string // HTML
	body     *strings.Builder
	sections []section
	charts   int
	records  []string // of the table being written
	recorded int
	captions int
	plain    []*plainTable
}

type section struct{ id, title string }

func (s *sheet) printf(format string, args ...any) { fmt.Fprintf(s.body, format, args...) }

// section begins a section. The one before ends.
func (s *sheet) section(id, title string) {
	s.closeSection()
	id = s.id + "-" + id
	s.sections = append(s.sections, section{id, title})
	s.printf("<section id=\"%s\"><h2>%s</h2>\n", id, title)
}

func (s *sheet) closeSection() {
	if len(s.sections) > 0 {
		s.body.WriteString("</section>\n")
	}
}

// paragraph writes HTML.
func (s *sheet) paragraph(html string) { s.body.WriteString("<p>" + html + "</p>\n") }

// absent says that a part is not in the document, and how to get it.
func (s *sheet) absent(html string) { s.body.WriteString(`<p class="absent">` + html + "</p>\n") }

// code is a command or a setting.
func code(html string) string { return "<code>" + html + "</code>" }

// chart adds a chart that the script draws. Its caption says what one sees.
func (s *sheet) chart(caption, label string, make func(id string) any) {
	id := fmt.Sprintf("%s-c%d", s.id, s.charts)
	s.charts++
	s.page.charts = append(s.page.charts, make(id))
	s.printf("<figure class=\"drawn\"><figcaption>%s</figcaption><div class=\"chart\" id=\"%s\" tabindex=\"0\" role=\"application\" aria-label=\"%s\"></div></figure>\n", caption, id, escaped(label))
}

// folded begins a part that opens on demand; unfold ends it.
func (s *sheet) folded(summary string) { s.printf("<details><summary>%s</summary>\n", summary) }

func (s *sheet) unfold() { s.body.WriteString("</details>\n") }

// data is what the script reads. Marshal escapes <, >, & and the line separators of
// Unicode, so that nothing in it ends the element.
func (p *page) data() []byte {
	content, err := json.Marshal(map[string]any{"charts": append([]any{}, p.charts...)})
	if err != nil {
		panic(err) // numbers are finite or null
	}
	return content
}

// write writes the page.
func (p *page) write(w *bufio.Writer) {
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", policy())
	w.WriteString("<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	fmt.Fprintf(w, "<title>BLIS: %s</title>\n<style>%s</style>\n</head>\n<body>\n", p.heading(), style())
	w.WriteString("<a class=\"skip\" href=\"#main\">To the content</a>\n")
	w.WriteString("<header class=\"top\"><span class=\"brand\">BLIS report</span><span class=\"tools\" hidden><button type=\"button\" id=\"reset-zoom\" hidden>Reset zoom</button><button type=\"button\" id=\"theme\">Dark</button></span></header>\n")
	p.navigation(w)
	w.WriteString("<main id=\"main\">\n")
	for _, s := range p.sheets {
		s.write(w)
	}
	w.WriteString("</main>\n")
	w.WriteString("<dialog id=\"record\" aria-label=\"Record\"><div id=\"record-body\"></div><button type=\"button\" id=\"record-close\">Close</button></dialog>\n")
	fmt.Fprintf(w, "<footer><p>Made by <code>blis report</code>. Charts are drawn by uPlot 1.6.32 (MIT licence).</p><details><summary>Licence of uPlot</summary><pre>%s</pre></details></footer>\n", escaped(Licence()))
	w.WriteString("<output id=\"selftest\" hidden></output>\n")
	fmt.Fprintf(w, "<script type=\"application/json\" id=\"data\">%s</script>\n<script>%s</script>\n</body>\n</html>\n", p.data(), script())
}

// heading is the title of the window.
func (p *page) heading() string {
	if len(p.sheets) == 1 {
		return stripped(p.sheets[0].title)
	}
	return fmt.Sprintf("%d results", len(p.sheets))
}

// stripped is HTML of this package without its elements.
func stripped(html string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(html, "<")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, html, _ = strings.Cut(rest, ">")
	}
}

// navigation lists the sections of one document, or several documents with their
// verdicts.
func (p *page) navigation(w *bufio.Writer) {
	if len(p.sheets) == 1 {
		w.WriteString("<nav aria-label=\"Sections\"><ul>")
		for _, c := range p.sheets[0].sections {
			fmt.Fprintf(w, `<li><a href="#%s">%s</a></li>`, c.id, c.title)
		}
		w.WriteString("</ul></nav>\n")
		return
	}
	w.WriteString("<nav class=\"documents\" aria-label=\"Results\"><div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">Result</th><th scope=\"col\">File</th><th scope=\"col\">In short</th></tr></thead><tbody>\n")
	for _, s := range p.sheets {
		fmt.Fprintf(w, "<tr><th scope=\"row\"><a href=\"#%s\">%s</a></th><td>%s</td><td>%s</td></tr>\n", s.id, s.title, name(s.name), s.verdict)
	}
	w.WriteString("</tbody></table></div></nav>\n")
}

func (s *sheet) write(w *bufio.Writer) {
	s.closeSection()
	fmt.Fprintf(w, "<article id=\"%s\"><h1>%s</h1>\n<p class=\"verdict\">%s</p>\n", s.id, s.title, s.verdict)
	w.WriteString(s.body.String())
	w.WriteString("</article>\n")
}
