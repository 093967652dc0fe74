package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"blis/internal/testsize"
)

// chromium returns the browser; without one a test is skipped, unless BLIS_TOOLS is set,
// as in CI.
func chromium(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("BLIS_TOOLS") == "" {
		t.Skip("no chromium here: apt-get install chromium")
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// opened is a page after its script has run.
type opened struct{ dom, errors string }

// open opens a page of this width, with this fragment.
func open(t *testing.T, page string, width int, fragment string, more ...string) opened {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--disable-background-networking", "--user-data-dir=" + t.TempDir(),
		fmt.Sprintf("--window-size=%d,1000", width), "--virtual-time-budget=8000", "--dump-dom"}, more...)
	cmd := exec.CommandContext(ctx, chromium(t), append(args, "file://"+page+"#"+fragment)...)
	var out, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errors
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", page, err, errors.String())
	}
	return opened{out.String(), errors.String()}
}

// dark makes the browser prefer dark pages.
const dark = "--blink-settings=preferredColorScheme=0"

var verdict = regexp.MustCompile(`<output id="selftest"[^>]*>([^<]*)</output>`)

// passes checks that the self-test of a page passes without a message on the console.
func passes(t *testing.T, page string, width int, more ...string) {
	t.Helper()
	o := open(t, page, width, "selftest", more...)
	if found := verdict.FindStringSubmatch(o.dom); found == nil || found[1] != "passed" {
		t.Errorf("%s, %d pixels wide: the self-test says %q", filepath.Base(page), width, found)
	}
	for line := range strings.Lines(o.errors) {
		if strings.Contains(line, ":CONSOLE") {
			t.Errorf("%s, %d pixels wide: %s", filepath.Base(page), width, line)
		}
	}
}

// write writes a file of a folder.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// pages makes results of all kinds and their pages.
func pages(t *testing.T) (dir string, list []string) {
	t.Helper()
	dir = t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	add := func(name string, args ...string) {
		if s := blis(t, nil, append(args, "--report", at(name))...); s.code != exitDone {
			t.Fatalf("blis %q: exit %d: %s", args, s.code, s.err)
		}
		list = append(list, at(name))
	}
	add("run.html", "run", "--slo-targets", "ttft=60ms,tpot=15ms", "--summarize-trace", "--replay-regret", "2", "--check", "p99_ttft<500ms")
	if testing.Short() || !testsize.Of(false, false, true) {
		return dir, list
	}
	add("pd.html", "run", "--num-requests", "300", "--architecture", "pd", "--prefill-replicas", "2", "--decode-replicas", "2", "--rate", "60")
	add("scaled.html", "run", "--autoscale-policy", "queue-depth", "--num-instances", "2", "--max-replicas", "8", "--rate", "120", "--num-requests", "6000", "--mtbf", "30s", "--mttr", "5s", "--kv-cpu-size", "1GB")
	add("compare.html", "compare", "round-robin", "least-loaded", "weighted", "--seeds", "3", "--num-requests", "200")
	add("capacity.html", "capacity", "--slo", "p99_ttft=1s", "--over", "num-instances=1..4", "--trace", "../examples/replay/requests.csv")
	add("validate.html", "validate", "../examples/calibrate/vllm-bench.json", "--hardware", "H100", "--tp", "1")
	sweep := write(t, dir, "s.yaml", "schema: blis.sweep/v1\nbase: {num-requests: 50}\naxes: {num-instances: [1, 2], policies: [round-robin, least-loaded]}\nreplicates: 2\n")
	done(t, "sweep", sweep, "-o", at("s.sweep"))
	done(t, "report", at("s.sweep"), "-o", at("sweep.html"))
	many := at("many")
	if err := os.Mkdir(many, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.json", "b.json"} {
		write(t, many, name, done(t, small("--format", "json")...).out)
	}
	done(t, "report", many, "-o", at("many.html"))
	return dir, append(list, at("sweep.html"), at("many.html"))
}

// The pages work in a browser, wide and narrow, light and dark, without a message on the
// console, a request or anything the policy blocks: see assets/80_selftest.js.
func TestPagesInABrowser(t *testing.T) {
	chromium(t)
	dir, list := pages(t)
	for _, page := range list {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			passes(t, page, 1400)
			if len(list) > 1 {
				passes(t, page, 400, dark)
			}
			if len(list) > 1 && filepath.Base(page) == "run.html" {
				passes(t, page, 1400, dark)
				passes(t, page, 400)
			}
		})
	}
	if len(list) > 1 {
		t.Run("hostile", func(t *testing.T) { t.Parallel(); hostilePage(t, dir) })
		t.Run("injected", func(t *testing.T) { t.Parallel(); injected(t, dir, list[0]) })
	}
}

// hostilePage is a run with names that are markup, long, or turn text around.
func hostilePage(t *testing.T, dir string) {
	t.Helper()
	name := `</script><script>document.title='owned'</script><img src=x onerror="document.title='owned'">"'&` + "\x00\u202e\u2028" + strings.Repeat("A", 10000)
	quoted, err := json.Marshal(name)
	if err != nil {
		t.Fatal(err)
	}
	text := done(t, small("--format", "json", "--summarize-trace", "--slo-targets", "ttft=1ms")...).out
	for _, known := range []string{`"standard"`, `"instance-0"`, `"meta-llama/Llama-3.1-8B-Instruct"`, `""`, `"H100"`, `"in turn"`} {
		text = strings.ReplaceAll(text, known, string(quoted))
	}
	result := write(t, dir, `hostile <script>"'&.json`, text)
	page := filepath.Join(dir, "hostile.html")
	done(t, "report", result, "-o", page)
	passes(t, page, 400)
	if o := open(t, page, 1400, ""); !strings.Contains(o.dom, "&lt;/script&gt;&lt;script&gt;") || strings.Contains(o.dom, "<title>owned") {
		t.Error("a name ran, or is not shown")
	}
}

// injected checks that a script that got into the page does not run: the policy knows the
// script of the page by its hash.
func injected(t *testing.T, dir, page string) {
	t.Helper()
	text := strings.Replace(read(t, page), "<main", `<script>document.title="owned"</script><img src="x" onerror="document.title='owned'"><main`, 1)
	copied := write(t, dir, "injected.html", text)
	o := open(t, copied, 1400, "selftest")
	if strings.Contains(o.dom, "<title>owned") {
		t.Error("an injected script ran")
	}
	if !strings.Contains(o.errors, "Content Security Policy") {
		t.Errorf("the browser says nothing of the policy: %s", o.errors)
	}
	if found := verdict.FindStringSubmatch(o.dom); found == nil || !strings.HasPrefix(found[1], "failed: there are 3 scripts") {
		t.Errorf("the self-test says %q", found)
	}
}
