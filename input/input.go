package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Limits of files, in bytes: many times what the largest sensible one has.
const (
	Bundle   = 64 << 10  // policies; the limit of package policy
	Program  = 64 << 10  // of a policy; the limit of package policy
	Settings = 1 << 20   // YAML of settings, GPUs or coefficients
	Model    = 16 << 20  // a model's config.json
	Report   = 256 << 20 // JSON that blis wrote

	Specification = 32 << 20 // the limit of package workload/spec
)

// ReadFile is os.ReadFile for at most limit bytes. Its errors are *fs.PathError:
// for a longer file one that is ErrTooLong.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(path, f, limit)
}

// ReadAll is ReadFile of an open file with this path.
func ReadAll(path string, r io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		text, err = nil, tooLong(limit)
	}
	if at := (*fs.PathError)(nil); err != nil && !errors.As(err, &at) {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return text, err
}

// ErrTooLong is the error of a file that is longer than its limit.
var ErrTooLong = errors.New("too long")

// tooLong is ErrTooLong with the limit.
type tooLong int64

func (l tooLong) Error() string {
	if l >= 1<<20 {
		return fmt.Sprintf("has more than %d MiB, want at most that", int64(l)>>20)
	}
	return fmt.Sprintf("has more than %d KiB, want at most that", int64(l)>>10)
}

func (tooLong) Is(target error) bool { return target == ErrTooLong }
