package input

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// endless counts what is read of it.
type endless int64

func (e *endless) Read(p []byte) (int, error) {
	*e += endless(len(p))
	return len(p), nil
}

func TestReadAllStopsAtItsLimit(t *testing.T) {
	var e endless
	text, err := ReadAll("zero", &e, 100_000)
	if at := (*fs.PathError)(nil); text != nil || !errors.Is(err, ErrTooLong) || !errors.As(err, &at) || at.Path != "zero" {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if e > 200_000 {
		t.Errorf("%d bytes were read", e)
	}
	for n, ok := range map[int]bool{9: true, 10: true, 11: false} {
		text, err := ReadAll("x", strings.NewReader(strings.Repeat("x", n)), 10)
		if (err == nil) != ok || ok && len(text) != n {
			t.Errorf("%d of at most 10: %q, %v", n, text, err)
		}
	}
}

func TestReadFileNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if _, err := ReadFile(path, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(path, make([]byte, 3<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path, 2<<10); err == nil || err.Error() != "read "+path+": has more than 2 KiB, want at most that" {
		t.Error(err)
	}
}
