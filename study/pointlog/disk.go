package pointlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// file is what a log needs of a file. Tests have files that fail.
type file interface {
	io.Writer
	io.ReaderAt
	io.Closer
	Name() string
	Sync() error
	Truncate(size int64) error
}

// disk is what a log needs of a filesystem.
type disk interface {
	open(path string) (file, error)               // to read and to append; it is made if it is not there
	createTemp(dir, pattern string) (file, error) // as os.CreateTemp
	rename(from, to string) error
	syncFolder(dir string) error
}

// realDisk is the filesystem.
type realDisk struct{}

func (realDisk) open(path string) (file, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
}

func (realDisk) createTemp(dir, pattern string) (file, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err == nil {
		err = f.Chmod(0o644) // others may read results
	}
	return f, err
}

func (realDisk) rename(from, to string) error { return os.Rename(from, to) }

// syncFolder makes sure that names in a folder are on disk. Filesystems that cannot
// do that for a folder have nothing that could be done.
func (realDisk) syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// WriteFile writes a file whole or not at all: what write writes goes to a
// temporary file beside it, which is synced and then renamed. Whoever reads the
// path sees the old content or the new one, after a loss of power too.
func WriteFile(path string, write func(io.Writer) error) error {
	return writeFile(realDisk{}, path, write)
}

func writeFile(d disk, path string, write func(io.Writer) error) error {
	temporary, err := writeTemporary(d, path, write)
	if err != nil {
		return err
	}
	if err := d.rename(temporary, path); err != nil {
		os.Remove(temporary)
		return err
	}
	return d.syncFolder(filepath.Dir(path))
}

// temporaryPattern is the pattern of names of temporary files for a path.
func temporaryPattern(path string) string { return "." + filepath.Base(path) + ".*.tmp" }

// writeTemporary writes and syncs a temporary file for a path, and returns its
// path.
func writeTemporary(d disk, path string, write func(io.Writer) error) (temporary string, err error) {
	f, err := d.createTemp(filepath.Dir(path), temporaryPattern(path))
	if err != nil {
		return "", err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return f.Name(), nil
}

// CreateFile writes a file whole unless there is one already, which it returns
// then: of several processes that create a file at a time, one does, and the
// others get its content. found is nil where content was written.
func CreateFile(path string, content []byte) (found []byte, err error) {
	found, err = os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	temporary, err := writeTemporary(realDisk{}, path, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(content))
		return err
	})
	if err != nil {
		return nil, err
	}
	defer os.Remove(temporary)
	switch err := os.Link(temporary, path); {
	case errors.Is(err, fs.ErrExist):
		return os.ReadFile(path)
	case err != nil: // a filesystem without links: the last one wins
		if err := os.Rename(temporary, path); err != nil {
			return nil, err
		}
	}
	return nil, realDisk{}.syncFolder(filepath.Dir(path))
}

// removeTemporary removes what processes that were killed left of WriteFile and
// CreateFile. Nobody else may write into the folder.
func removeTemporary(dir string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return // they are in nobody's way
	}
	for _, f := range list {
		if strings.HasPrefix(f.Name(), ".") && strings.HasSuffix(f.Name(), ".tmp") && f.Type().IsRegular() {
			os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}
