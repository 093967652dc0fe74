package cli

import (
	"bufio"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestEvaluate(t *testing.T) {
	policy := file(t, "a.yaml", "routing: {type: weighted}\n")
	s := done(t, "evaluate", "--policy", policy)
	a := resultOf(t, s.out)
	if score, _ := a["score"].(float64); a["ok"] != true || !(score > 0.5 && score < 1) || strings.Count(s.out, "\n") != 1 {
		t.Errorf("%s: want a score above that of the baseline, on one line", s.out)
	}
	if again := done(t, "evaluate", "--policy", policy, "--workers", "1"); again.out != s.out {
		t.Errorf("another answer on one worker:\n%s%s", s.out, again.out)
	}
	held := done(t, "evaluate", "--policy", policy, "--held-out")
	b := resultOf(t, held.out)
	if _, given := b["held_out"]; !given || b["score"] != a["score"] || b["feedback"] != a["feedback"] {
		t.Errorf("%s: want the held-out scenarios apart, all else as without them", held.out)
	}
	text := done(t, "evaluate", "--policy", policy, "--stage", "smoke", "--held-out", "--format", "text").out
	for _, want := range []string{"suite      standard\n", "the baseline has 0.5", "held out", "feedback"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
}

func TestEvaluateBadCandidate(t *testing.T) {
	for text, want := range map[string]struct { // any order: each by itself
		kind string
		line float64
	}{
		"":                                   {"", 0},
		"\nrouting:\n  type: nothing\n":      {"policy", 3},
		"routing: {type: weighted":           {"syntax", 1},
		strings.Repeat("x", 65<<10):          {"policy", 0},
		"autoscale: {type: threshold}":       {"policy", 1},
		"observability: {refresh: 1ms}":      {"policy", 1},
		strings.Repeat("[", 10000):           {"syntax", 0},
		"routing: {type: weighted, x: .nan}": {"policy", 1},
	} {
		s := done(t, "evaluate", "--policy", file(t, "a.yaml", text), "--stage", "smoke")
		a := resultOf(t, s.out)
		fault, _ := a["error"].(map[string]any)
		if want.kind == "" {
			if a["ok"] != true {
				t.Errorf("%.40q: %s, want it evaluated", text, s.out)
			}
			continue
		}
		if a["ok"] != false || a["score"] != 0.0 || fault["kind"] != want.kind || want.line > 0 && fault["line"] != want.line {
			t.Errorf("%.40q: error %v, want kind %s and line %v", text, fault, want.kind, want.line)
		}
		if message, _ := fault["message"].(string); message == "" || strings.Contains(message, "\n") {
			t.Errorf("%.40q: message %q, want one line", text, message)
		}
	}
}

func TestEvaluateBadFlags(t *testing.T) {
	policy := file(t, "a.yaml", "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "one of --policy"},
		{[]string{"--policy", policy, "--batch", "-"}, "one of --policy"},
		{[]string{"--policy", "nowhere.yaml"}, "--policy: nowhere.yaml"},
		{[]string{"--policy", policy, "--suite", "nowhere.yaml"}, "--suite: nowhere.yaml"},
		{[]string{"--policy", policy, "--suite", "standart"}, "standard"},
		{[]string{"--policy", policy, "--scenarios", "burst"}, `"bursts"`},
		{[]string{"--policy", policy, "--scenarios", "bursts-held-out"}, "held out"},
		{[]string{"--policy", policy, "--max-memory", "1MB"}, "128 MiB"},
		{[]string{"--policy", policy, "--max-steps", "-1"}, "--max-steps"},
		{[]string{"--policy", policy, "--max-events", "-1"}, "--max-events"},
		{[]string{"--policy", policy, "--max-wall", "-1s"}, "--max-wall"},
		{[]string{"--policy", policy, "--workers", "-1"}, "--workers"},
		{[]string{"--policy", policy, "--budget", "5"}, "--budget"},
		{[]string{"--batch", policy, "--format", "text"}, "--format text"},
		{[]string{"--serve", "0.0.0.0:0"}, "localhost"},
		{[]string{"--serve", "8080"}, "localhost:8080"},
		{[]string{"--batch", "nowhere.jsonl"}, "--batch: nowhere.jsonl"},
	} {
		s := blis(t, nil, append([]string{"evaluate"}, c.args...)...)
		if s.code != exitInput || strings.Count(s.err, "\n") != 1 || !strings.Contains(s.err, c.want) {
			t.Errorf("%q: exit %d: %s, want exit 2 and one line with %q", c.args, s.code, s.err, c.want)
		}
	}
}

func TestEvaluateLimits(t *testing.T) {
	policy := file(t, "a.yaml", "routing: least-loaded")
	a := resultOf(t, done(t, "evaluate", "--policy", policy, "--max-wall", "1us").out)
	if fault, _ := a["error"].(map[string]any); a["score"] != 0.0 || fault["kind"] != "wall" {
		t.Errorf("score %v, error %v, want 0 by wall", a["score"], fault)
	}
	// A limit that the baseline breaks is a mistake of the user.
	if s := blis(t, nil, "evaluate", "--policy", policy, "--max-events", "10"); s.code != exitInput || !strings.Contains(s.err, "the baseline fails") {
		t.Errorf("exit %d: %s, want exit 2, since the baseline fails", s.code, s.err)
	}
}

func TestEvaluateBatchAsItComes(t *testing.T) {
	c := process(t.TempDir(), "evaluate", "--batch", "-", "--stage", "smoke")
	in, _ := c.StdinPipe()
	out, _ := c.StdoutPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReaderSize(out, 1<<20)
	for n := range 3 { // each answer comes before the next line is written
		fmt.Fprintf(in, "{\"id\": %d, \"policy\": \"routing: least-loaded\"}\n", n)
		line, err := answers.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, fmt.Sprintf(`{"id":%d,`, n)) || !strings.Contains(line, `"score":0.5,`) {
			t.Fatalf("answer %d: %v: %.200s", n, err, line)
		}
	}
	in.Close()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// A parent that is killed leaves no children behind, not even those that wait.
func TestEvaluateChildrenDieWithTheirParent(t *testing.T) {
	if _, err := exec.LookPath("pgrep"); err != nil {
		t.Skip("no pgrep")
	}
	c := process(t.TempDir(), "evaluate", "--batch", "-", "--stage", "smoke")
	in, _ := c.StdinPipe()
	out, _ := c.StdoutPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, `{"id": 1, "policy": "routing: least-loaded"}`)
	if _, err := bufio.NewReaderSize(out, 1<<20).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	children := func() string {
		text, _ := exec.Command("pgrep", "-P", fmt.Sprint(c.Process.Pid)).Output()
		return strings.TrimSpace(string(text))
	}
	var list []string
	for range 100 { // they start ahead, a little later
		if list = strings.Fields(children()); len(list) > 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if len(list) == 0 {
		t.Fatal("no child waits for work")
	}
	c.Process.Signal(syscall.SIGKILL)
	c.Wait()
	for _, pid := range list {
		gone := false
		for range 100 {
			if gone = exec.Command("kill", "-0", pid).Run() != nil; gone {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if !gone {
			t.Errorf("child %s goes on", pid)
		}
	}
}

func TestEvaluateServes(t *testing.T) {
	c := process(t.TempDir(), "evaluate", "--serve", "localhost:0", "--stage", "smoke", "--budget", "2")
	out, _ := c.StdoutPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.TrimSpace(url)
	post := func() int {
		r, err := http.Post(url+"/evaluate", "application/json", strings.NewReader(`{"candidate": "routing: least-loaded"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		return r.StatusCode
	}
	if a, b, c := post(), post(), post(); a != 200 || b != 200 || c != 429 {
		t.Errorf("statuses %d, %d, %d, want 200, 200 and 429", a, b, c)
	}
	c.Process.Signal(syscall.SIGINT)
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d after Ctrl-C, want %d", code, exitInterrupted)
	}
}
