package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"blis/input"
	"blis/report"
	"blis/report/html"
	"blis/study"
	"blis/study/sweepfile"
)

// reportCmd is blis report.
type reportCmd struct {
	Results []string `arg:"" name:"result" help:"JSON results of blis run, compare, sweep show, capacity and validate; folders with such files; folders of sweeps."`
	Out     string   `short:"o" type:"path" default:"report.html" placeholder:"FILE" help:"The page. FILE.md has its tables as Markdown, FILE.csv as CSV, a line per cell."`

	Measures []string `group:"Output" placeholder:"NAME,…" help:"Measures of a sweep; not given: those that blis compare ranks by."`
	Pareto   []string `group:"Output" placeholder:"NAME,NAME" help:"Mark the combinations of a sweep that no other beats in all of these measures; not given: the first two of the measures."`
}

// Help is what blis report does, with examples.
func (*reportCmd) Help() string {
	return `Makes one HTML page of stored results. The page needs no network and no server; equal results give equal pages. docs/reports.md says what is on it.

Examples:

    blis run --details --format json > run.json; blis report run.json -o run.html
    blis report today.json tomorrow.json -o both.html
    blis report routing.sweep --pareto cost,p99_ttft
    blis report run.json -o tables.md`
}

// Run carries the command out.
func (r *reportCmd) Run(ctx context.Context, c *console) error {
	files, err := resultFiles(r.Results)
	if err != nil {
		return err
	}
	if len(files) > html.MostDocuments {
		return inputErrorf("%d results are too many for a page: want at most %d", len(files), html.MostDocuments)
	}
	if err := checkDistinct([]named{{"--out", r.Out}}, files); err != nil {
		return err
	}
	out, err := create(ctx, "out", r.Out)
	if err != nil {
		return err
	}
	c.begun.Store(true)
	var docs []html.Document
	for _, f := range files {
		doc, err := r.read(ctx, f)
		if err != nil {
			out.discard()
			return err
		}
		docs = append(docs, doc)
	}
	return writePage(out, pageWriter(r.Out), docs)
}

// pageWriter writes the form of a page that the name of a file asks for.
func pageWriter(path string) func(io.Writer, []html.Document) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md":
		return html.Markdown
	case ".csv":
		return html.CSV
	}
	return html.Write
}

// writePage writes and finishes a page. A document that cannot be shown is an input error.
func writePage(out *output, write func(io.Writer, []html.Document) error, docs []html.Document) error {
	err := write(out, docs)
	var fault *html.Error
	if errors.As(err, &fault) {
		out.discard()
		return inputError(fault.Error())
	}
	return out.finishWhole(err)
}

// savePage writes the page of one result to the file of --report: see output.end.
func savePage(file *output, result report.Document, command []string, whole bool, kept *[]string) error {
	if file == nil {
		return nil
	}
	var b bytes.Buffer
	err := result.JSON(&b)
	if err == nil {
		err = pageWriter(file.to.path)(file, []html.Document{{JSON: b.Bytes(), Command: command}})
	}
	return file.end(err, whole, kept, (*output).finishWhole)
}

// resultFiles are the results that arguments name: files as they are, folders of sweeps,
// and the JSON files of other folders in the order of their names.
func resultFiles(arguments []string) (list []named, err error) {
	for _, path := range arguments {
		info, err := os.Stat(path)
		if err != nil {
			return nil, inputError(pathProblem(err))
		}
		if !info.IsDir() || isSweep(path) {
			list = append(list, named{path, path})
			continue
		}
		files, err := filepath.Glob(filepath.Join(globQuoted(path), "*.json"))
		if err != nil {
			return nil, inputErrorf("%s: %v", path, err)
		}
		if len(files) == 0 {
			return nil, inputErrorf("%s: has no *.json and no %s: want results of blis as JSON, or the folder of a sweep", path, sweepfile.LockName)
		}
		for _, f := range files {
			list = append(list, named{f, f})
		}
	}
	return list, nil
}

// globQuoted is a path as a pattern that matches it alone.
func globQuoted(path string) string {
	var b bytes.Buffer
	for _, c := range []byte(path) {
		if bytes.IndexByte([]byte(`*?[\`), c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// isSweep reports whether a folder is that of a sweep.
func isSweep(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, sweepfile.LockName))
	return err == nil
}

// read reads a result.
func (r *reportCmd) read(ctx context.Context, f named) (html.Document, error) {
	doc := html.Document{Name: filepath.Base(f.path)}
	if isSweep(f.path) {
		var err error
		doc.JSON, err = r.sweep(ctx, f.path)
		return doc, err
	}
	content, err := input.ReadFile(f.path, input.Report)
	if err != nil {
		return doc, inputError(pathProblem(err))
	}
	doc.JSON = content
	return doc, nil
}

// sweep is the result of the points of a folder, as JSON.
func (r *reportCmd) sweep(ctx context.Context, dir string) ([]byte, error) {
	view := sweepView{Measures: r.Measures, Pareto: r.Pareto, Format: "json"}
	v, err := loadSweep(ctx, dir, "", &view)
	if err != nil {
		return nil, err
	}
	if len(r.Pareto) == 0 && len(v.Measures) > 1 { // a page without a front says little
		view.Pareto = measureNames(v.Measures[:2])
		if v, err = loadSweep(ctx, dir, "", &view); err != nil {
			return nil, err
		}
	}
	v.Finish()
	var b bytes.Buffer
	err = (&report.Sweep{SweepView: v, Name: dir}).JSON(&b)
	return b.Bytes(), err
}

func measureNames(list []study.Measure) (names []string) {
	for _, m := range list {
		names = append(names, m.Name)
	}
	return names
}
