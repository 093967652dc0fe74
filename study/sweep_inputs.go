package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"blis/input"
	"blis/setup"
	"blis/workload/spec"
)

// InputFile is a file or folder that a sweep reads.
type InputFile struct {
	Path   string
	SHA256 string // of the content, in hexadecimal digits; of a folder over the paths and contents in it
}

// inputFiles reads each file that configurations name once, and keeps it: runs of a study
// read the same ones.
type inputFiles struct {
	next func(path string) (io.ReadCloser, error) // opens a file; nil: os.Open

	mutex   sync.Mutex
	sums    map[string]string
	content map[string][]byte
	missing map[string]error // files that were not there: they stay so for the sweep
	kept    int64
	named   map[string][]string // by specification: the files that it names
}

// mostKept bounds the bytes of files that are kept in memory. Others are read each time.
const mostKept = 1 << 30

// open opens a file for a run.
func (f *inputFiles) open(path string) (io.ReadCloser, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if text, known := f.content[path]; known {
		return io.NopCloser(bytes.NewReader(text)), nil
	}
	if err := f.missing[path]; err != nil {
		return nil, err
	}
	open := f.next
	if open == nil {
		open = func(path string) (io.ReadCloser, error) { return os.Open(path) }
	}
	file, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if f.missing == nil {
			f.missing = map[string]error{}
		}
		f.missing[path] = err
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || f.kept+info.Size() > mostKept {
		return file, nil
	}
	text, err := io.ReadAll(io.LimitReader(file, mostKept-f.kept+1))
	if err != nil || f.kept+int64(len(text)) > mostKept {
		return struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(text), file), file}, err
	}
	if f.content == nil {
		f.content = map[string][]byte{}
	}
	f.content[path], f.kept = text, f.kept+int64(len(text))
	return io.NopCloser(bytes.NewReader(text)), file.Close()
}

// appendNamed appends the hashes of the files that a specification names.
func (f *inputFiles) appendNamed(text []byte, path string) ([]byte, error) {
	f.mutex.Lock()
	names, known := f.named[path]
	f.mutex.Unlock()
	if !known {
		file, err := f.open(path)
		if err != nil {
			return nil, fileFault(err)
		}
		defer file.Close()
		content, err := input.ReadAll(path, file, input.Specification)
		if err != nil {
			return nil, fileFault(err)
		}
		s, err := spec.Parse(path, content)
		if err != nil {
			return nil, &setup.InputError{Text: err.Error()}
		}
		names = s.Files()
		f.mutex.Lock()
		if f.named == nil {
			f.named = map[string][]string{}
		}
		f.named[path] = names
		f.mutex.Unlock()
	}
	for _, name := range names {
		sum, err := f.sum(name)
		if err != nil {
			return nil, err
		}
		text = append(append(text, " and "...), sum...)
	}
	return text, nil
}

// fileFault is the error of a file that cannot be read.
func fileFault(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return &setup.InputError{Text: at.Path + ": " + at.Err.Error()}
	}
	return &setup.InputError{Text: err.Error()}
}

// sum is the hash of a file or folder.
func (f *inputFiles) sum(path string) (string, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if sum, known := f.sums[path]; known {
		return sum, nil
	}
	sum, err := f.hash(path) // not of content: a folder of ServeGen is read by itself
	if err != nil {
		return "", fileFault(err)
	}
	if f.sums == nil {
		f.sums = map[string]string{}
	}
	f.sums[path] = sum
	return sum, nil
}

// hash is the hash of a file or folder, or of what the sweep's own Open gives for its
// path.
func (f *inputFiles) hash(path string) (string, error) {
	if f.next == nil {
		return hashOf(path)
	}
	file, err := f.next(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// has reports whether there is a file of that path.
func (f *inputFiles) has(path string) bool {
	if f.next == nil {
		_, err := os.Stat(path)
		return err == nil
	}
	file, err := f.next(path)
	if err == nil {
		file.Close()
	}
	return err == nil
}

// list are the files that were hashed, by path.
func (f *inputFiles) list() (list []InputFile) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for path, sum := range f.sums { // any order: sorted below
		list = append(list, InputFile{path, sum})
	}
	slices.SortFunc(list, func(a, b InputFile) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func hashOf(path string) (string, error) {
	sum := sha256.New()
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		err = hashFile(sum, path)
		return hex.EncodeToString(sum.Sum(nil)), err
	}
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error { // in order of name
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		inside, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		one := sha256.New()
		if err := hashFile(one, name); err != nil {
			return err
		}
		fmt.Fprintf(sum, "%x %q\n", one.Sum(nil), filepath.ToSlash(inside))
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

func hashFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
