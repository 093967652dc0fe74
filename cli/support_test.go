package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// session is one call of the command.
type session struct {
	out, err string
	code     int
}

// blis calls the command in an environment of name, value pairs.
func blis(t *testing.T, env map[string]string, args ...string) session {
	t.Helper()
	return blisUntil(t, context.Background(), env, args...)
}

func blisUntil(t *testing.T, ctx context.Context, env map[string]string, args ...string) session {
	t.Helper()
	var out, errors bytes.Buffer
	c := &console{
		in: strings.NewReader(""), out: &out, err: &errors, tempo: usualTempo,
		lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		environ: func() []string {
			var list []string
			for name, value := range env {
				list = append(list, name+"="+value)
			}
			return list
		},
	}
	code := execute(ctx, args, c)
	return session{out.String(), errors.String(), code}
}

// done is blis that must end well.
func done(t *testing.T, args ...string) session {
	t.Helper()
	s := blis(t, nil, args...)
	if s.code != exitDone {
		t.Fatalf("blis %q: exit %d: %s", args, s.code, s.err)
	}
	return s
}

// resultOf reads a JSON result.
func resultOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return v
}

// file writes a file of its own folder and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// small is a run that takes milliseconds.
func small(more ...string) []string {
	return append([]string{"run", "--num-requests", "60", "--num-instances", "2"}, more...)
}
