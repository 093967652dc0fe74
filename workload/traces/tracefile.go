package traces

import (
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
	var second *os.File
	defer func() {
		if second != nil {
			second.Close()
		}
	}()
	base := strings.TrimSuffix(path, ".gz")
	base = strings.TrimSuffix(base, filepath.Ext(base))
	return open(path, f, o, func(endings ...string) (string, io.Reader, error) {
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

// IsHeaderFile reports whether a file is the YAML header of a trace of format
// InferenceSim, by its beginning. One that cannot be read is none.
func IsHeaderFile(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := openLines(path, f)
	return err == nil && guess(text) == simHeader
}

// IsServeGenFile reports whether a file begins with a window of a ServeGen
// client (see IsServeGen), plain or gzip.
func IsServeGenFile(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	text, err := openLines(path, f)
	if err != nil {
		return false, err
	}
	first, err := text.next()
	if err != nil { // of an empty or broken file its reader tells
		return false, nil
	}
	return IsServeGen(first), nil
}
