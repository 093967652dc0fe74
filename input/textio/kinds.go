package textio

import (
	"bytes"
	"fmt"
	"strings"
)

// kinds are files that are no text, by the bytes they begin with, and what to do
// with them.
var kinds = []struct{ magic, what, advice string }{
	{"\x28\xb5\x2f\xfd", "data packed with zstd", unpackFirst + " (zstd -d)"},
	{"BZh", "data packed with bzip2", unpackFirst + " (bunzip2)"},
	{"\xfd7zXZ\x00", "data packed with xz", unpackFirst + " (unxz)"},
	{"\x04\x22\x4d\x18", "data packed with lz4", unpackFirst + " (lz4 -d)"},
	{"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", unpackFirst},
	{"Rar!\x1a\x07", "a RAR archive", unpackFirst},
	{"PAR1", "a Parquet file", exportFirst + ` (pandas: read_parquet(FILE).to_csv("FILE.csv", index=False))`},
	{"SQLite format 3\x00", "a SQLite database, as Nsight Systems writes too", exportFirst + " (sqlite3 -header -csv FILE 'select ...')"},
	{"ARROW1", "an Arrow or Feather file", exportFirst + ` (pandas: read_feather(FILE).to_csv("FILE.csv", index=False))`},
	{"FEA1", "a Feather file", exportFirst},
	{"ORC", "an ORC file", exportFirst},
	{"Obj\x01", "an Avro file", exportFirst},
	{"\x89HDF\r\n\x1a\n", "an HDF5 file", exportFirst},
	{"\x93NUMPY", "a NumPy array", exportFirst},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a spreadsheet or document of old Microsoft Office", exportFirst},
	{"\x80\x04\x95", "a Python pickle", exportFirst},
	{"\x80\x05\x95", "a Python pickle", exportFirst},
	{"%PDF-", "a PDF document", "want the file of numbers behind it"},
	{"\x89PNG", "a picture", "want the file of numbers behind it"},
	{"\x7fELF", "a program", "want a file of text"},
	{"version https://git-lfs.github.com/spec/", "a Git LFS pointer in place of the file", "want the file itself (git lfs pull)"},
}

const (
	unpackFirst = "want text, plain or packed with gzip: unpack it first"
	exportFirst = "want text: export it as CSV or JSON first"
)

// refuse names a file that is no text by the beginning of it; nil if it may be
// text.
func refuse(head []byte) error {
	for _, k := range kinds {
		if bytes.HasPrefix(head, []byte(k.magic)) && !(k.magic == "ORC" && isText(head)) {
			return fmt.Errorf("%s: %s", k.what, k.advice)
		}
	}
	if len(head) > 262 && string(head[257:262]) == "ustar" {
		return fmt.Errorf("a tar archive: want one file of text: unpack it first (tar -x)")
	}
	start := strings.ToLower(strings.TrimLeft(string(head[:min(len(head), 64)]), " \t\r\n"))
	switch {
	case strings.HasPrefix(start, "<!doctype html"), strings.HasPrefix(start, "<html"):
		return fmt.Errorf("a web page (HTML) in place of the file: want the file itself, as the page's download or raw link gives it")
	case strings.HasPrefix(start, "<?xml"):
		return fmt.Errorf("XML: want CSV or JSON")
	}
	if at := bytes.IndexByte(head, 0); at >= 0 {
		return fmt.Errorf("binary data (a zero byte at position %d): want a file of text", at)
	}
	return nil
}

// isText reports whether a beginning is printable.
func isText(head []byte) bool {
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}
