package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page of a run does not depend on the number of workers, nor on where it was made.
func TestPageIsTheSameOnAnyNumberOfWorkers(t *testing.T) {
	var pages []string
	for _, workers := range []string{"1", "2"} {
		page := filepath.Join(t.TempDir(), "run.html")
		done(t, small("--workers", workers, "--report", page)...)
		pages = append(pages, read(t, page))
	}
	if pages[0] != pages[1] {
		t.Error("the page of a run on two workers is not that on one")
	}
	for _, where := range []string{os.TempDir(), hostName(t)} {
		if where != "" && strings.Contains(pages[0], where) {
			t.Errorf("the page holds %s", where)
		}
	}
}

func hostName(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil || len(name) < 5 {
		return "" // one that other words may hold
	}
	return name
}

// A stored result and the run itself make pages that differ in the command alone.
func TestPageOfAStoredResult(t *testing.T) {
	dir := t.TempDir()
	stored, of, at := filepath.Join(dir, "run.json"), filepath.Join(dir, "stored.html"), filepath.Join(dir, "once.html")
	done(t, small("--details", "--results-path", stored, "--timeseries", filepath.Join(dir, "series.json"))...)
	done(t, "report", stored, "-o", of)
	done(t, small("--details", "--report", at, "--timeseries", filepath.Join(dir, "series.csv"))...)
	command := func(page, want string) string {
		text := read(t, page)
		if !strings.Contains(text, "<code>"+want+"</code>") {
			t.Errorf("%s does not say %q", filepath.Base(page), want)
		}
		return strings.Replace(text, want, "", 1)
	}
	if command(of, "blis run --config run.json") != command(at, "blis run --num-instances=2 --num-requests=60") {
		t.Error("the pages differ in more than the command")
	}
}

// The form of a page is that of the name of its file, whoever writes it.
func TestReportsAsText(t *testing.T) {
	dir := t.TempDir()
	result := write(t, dir, "run.json", done(t, small("--format", "json")...).out)
	for name, begins := range map[string]string{"a.md": "# Run of ", "a.csv": "result,section,table,row,column,value\n", "a.html": "<!DOCTYPE html>"} {
		stored, atOnce := filepath.Join(dir, "stored-"+name), filepath.Join(dir, "at-once-"+name)
		done(t, "report", result, "-o", stored)
		done(t, small("--report", atOnce)...)
		for _, path := range []string{stored, atOnce} {
			if text := read(t, path); !strings.HasPrefix(text, begins) {
				t.Errorf("%s begins with %.40q, want %q", path, text, begins)
			}
		}
	}
}

func TestReportNamesWhatItCannotShow(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "other.json", `{"schema": "blis.size/v1"}`)
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	page := write(t, dir, "page.html", "of before")
	for _, c := range []struct{ argument, want string }{
		{filepath.Join(dir, "other.json"), `other.json: its schema is "blis.size/v1": want one of blis.run/v1`},
		{dir, `other.json: its schema is "blis.size/v1"`},
		{empty, "has no *.json and no sweep.lock.yaml"},
		{filepath.Join(dir, "none.json"), "none.json: no such file"},
		{page, "is the file of"},
	} {
		s := blis(t, nil, "report", c.argument, "-o", page)
		if s.code != exitInput || !strings.Contains(s.err, c.want) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q", c.argument, s.code, s.err, c.want)
		}
	}
	if got := read(t, page); got != "of before" {
		t.Errorf("the page of before is %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.partial")); left != nil {
		t.Errorf("%v are left", left)
	}
}

// A name that is a pattern is a folder like any other.
func TestReportOfAFolderWithAStrangeName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]*?")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "run.json", done(t, small("--format", "json")...).out)
	page := filepath.Join(dir, "page.html")
	done(t, "report", dir, "-o", page)
	if !strings.Contains(read(t, page), "<h1>Run of ") {
		t.Error("there is no run on the page")
	}
}
