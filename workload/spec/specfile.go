package spec

import (
	"errors"
	"fmt"
	"os"

	"blis/yamldoc"
)

// OpenFile is Parse for a file of the file system.
func OpenFile(path string) (*Spec, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// readFile reads a file that is no longer than a specification may be.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, plain(path, err)
	}
	defer f.Close()
	text, err := readAll(f)
	if err != nil {
		return nil, plain(path, err)
	}
	return text, nil
}

// plain is an error without the name of the system call.
func plain(path string, err error) error {
	if inner := (*os.PathError)(nil); errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("%s: %w", yamldoc.OneLine(path), err)
}
