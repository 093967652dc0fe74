package traces

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// OpenFile is Open for a file of the file system. A trace of format
// InferenceSim is two files, X.yaml and X.csv: with the name of either it looks
// for the other beside it, and does without X.yaml.
func OpenFile(path string, o Options) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Begin(path, f).Open(o)
}

// File is a trace of which the beginning can be looked at before it is read. It
// is read once, so it may be a pipe.
type File struct {
	path string
	rest io.Reader
	head bytes.Buffer // what was looked at
}

// Begin is the file with this path, of which r is the content.
func Begin(path string, r io.Reader) *File { return &File{path: path, rest: r} }

// again is the content from the start.
func (f *File) again(rest io.Reader) io.Reader {
	return io.MultiReader(bytes.NewReader(bytes.Clone(f.head.Bytes())), rest)
}

// guess is what the beginning looks like; BLIS if it cannot be read.
func (f *File) guess() Format {
	text, err := openLines(f.path, f.again(io.TeeReader(f.rest, &f.head)))
	if err != nil {
		return BLIS
	}
	return guess(text)
}

// IsHeader reports whether it is the YAML header of a trace of format
// InferenceSim.
func (f *File) IsHeader() bool { return f.guess() == simHeader }

// IsServeGen reports whether it begins with a window of a ServeGen client (see
// IsServeGen).
func (f *File) IsServeGen() bool { return f.guess() == serveGen }

// Open is OpenFile. The file is at its end then.
func (f *File) Open(o Options) (*Trace, error) {
	var second *os.File
	defer func() {
		if second != nil {
			second.Close()
		}
	}()
	base := strings.TrimSuffix(f.path, ".gz")
	base = strings.TrimSuffix(base, filepath.Ext(base))
	return open(f.path, f.again(f.rest), o, func(endings ...string) (string, io.Reader, error) {
		for _, ending := range endings {
			switch f, err := os.Open(base + ending); {
			case err == nil:
				second = f
				return base + ending, f, nil
			case !errors.Is(err, fs.ErrNotExist):
				return "", nil, err
			}
		}
		return "", nil, nil
	})
}

// IsHeaderFile is File.IsHeader of a plain file; others are none.
func IsHeaderFile(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return Begin(path, f).IsHeader()
}
