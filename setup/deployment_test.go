package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A name that is a built-in model's is that, unless there is such a file.
func TestOpenModel(t *testing.T) {
	t.Chdir(t.TempDir())
	path, err := filepath.Abs("config.json")
	if err != nil {
		t.Fatal(err)
	}
	text := `{"hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 2048, "vocab_size": 1000}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, model string }{
		{"config.json", "config.json"}, {".", "config.json"}, {path, path}, {"mixtral", "mistralai/Mixtral-8x7B-v0.1"}, {"meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B"},
	} {
		if s, err := OpenModel(c.name); err != nil || s.Name != c.model {
			t.Errorf("%s is %q, %v; want %q", c.name, s.Name, err, c.model)
		}
	}
	for name, want := range map[string]string{
		"other.json": "other.json: no such file",
		t.TempDir():  "config.json: no such file",
		"mistrel":    "config.json, or its folder",
	} {
		if _, err := OpenModel(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestOpenHardware(t *testing.T) {
	if g, err := OpenHardware("H100", ""); err != nil || g.Name != "H100" {
		t.Errorf("%q, %v", g.Name, err)
	}
	for _, c := range []struct{ name, file, want string }{
		{"H1000", "", "unknown GPU"},
		{"H100", "none.yaml", "--hardware-config: none.yaml: no such file"},
	} {
		if _, err := OpenHardware(c.name, c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %q: %v, want %q", c.name, c.file, err, c.want)
		}
	}
}
