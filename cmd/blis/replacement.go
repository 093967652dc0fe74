package main

import (
	"errors"
	"os"
	"path/filepath"
)

// replacement is a file that takes the place of another once it is whole: what
// stands there stays until then, whatever becomes of the command.
type replacement struct {
	file *os.File
	path string // to be taken; empty: file is a device, a pipe or a link and is written itself
}

// replace begins a file beside the one that it is for, so that a place where
// nothing can be written is known before the work. An empty path is no file.
func replace(flag, path string) (*replacement, error) {
	if path == "" {
		return nil, nil
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return nil, &inputError{"--" + flag + ": " + pathProblem(err)}
		}
		return &replacement{file: file}, nil
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		var cause *os.PathError
		if errors.As(err, &cause) {
			err = &os.PathError{Op: cause.Op, Path: path, Err: cause.Err}
		}
		return nil, &inputError{"--" + flag + ": " + pathProblem(err)}
	}
	return &replacement{file, path}, nil
}

// save gives the file its content and its place.
func (r *replacement) save(content []byte) error {
	if r == nil {
		return nil
	}
	_, err := r.file.Write(content)
	if r.path == "" {
		return firstOf(err, r.file.Close())
	}
	for _, step := range []func() error{r.file.Close, func() error { return os.Chmod(r.file.Name(), 0o644) }, func() error { return os.Rename(r.file.Name(), r.path) }} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		os.Remove(r.file.Name())
	}
	return err
}

// discard leaves things as they were.
func (r *replacement) discard() {
	if r == nil {
		return
	}
	r.file.Close()
	if r.path != "" {
		os.Remove(r.file.Name())
	}
}
