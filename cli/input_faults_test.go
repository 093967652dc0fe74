package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/big"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// digestOf is the digest that a result in text has.
func digestOf(t *testing.T, text string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^digest +([0-9a-f]{16})`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no digest in %s", text)
	}
	return found[1]
}

// A pipe can be opened once: what it is is seen in what is read.
func TestFaultF4TracesThroughPipes(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ok.csv"), []byte("arrival_us,input_tokens,output_tokens\n1,20,5\n70000,30,9\n90000,40,8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain, code := shell(t, folder, "$BLIS run --trace ok.csv")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, plain)
	}
	want := digestOf(t, plain)
	for _, script := range []string{
		"cat ok.csv | $BLIS run --trace /dev/stdin",
		"$BLIS run --trace <(gzip -c ok.csv)",
		"mkfifo f; cat ok.csv >f & $BLIS run --trace f",
		"$BLIS run --trace - <ok.csv || $BLIS run --trace /dev/stdin <ok.csv",
		"cat ok.csv | $BLIS workload convert /dev/stdin again.csv && $BLIS run --trace again.csv",
		"cat ok.csv | $BLIS run --trace /dev/stdin --num-instances 1 --routing-policy least-loaded --replay-regret 2",
	} {
		said, code := shell(t, folder, script)
		if code != 0 || digestOf(t, said) != want && !strings.Contains(script, "regret") {
			t.Errorf("%s: exit %d, want digest %s:\n%s", script, code, want, said)
		}
	}
	for _, script := range []string{
		"cat ok.csv | $BLIS verify --trace /dev/stdin",
		"cat ok.csv | $BLIS compare round-robin least-loaded --trace /dev/stdin --seeds 3",
		"cat ok.csv | $BLIS workload show /dev/stdin",
		"echo 'deployments: [{id: a, model: Llama-3.1-8B-Instruct, replicas: 2}]' | $BLIS run --deployments /dev/stdin --num-requests 20",
		"echo 'deployments: [{id: a, model: Llama-3.1-8B-Instruct, replicas: 2}]' | $BLIS compare round-robin least-loaded --deployments /dev/stdin --num-requests 20 --seeds 3",
		"echo 'deployments: [{id: a, model: Llama-3.1-8B-Instruct, replicas: 2}]' | $BLIS verify --deployments /dev/stdin --num-requests 20",
		"$BLIS verify --workload-spec <($BLIS workload scenarios diurnal-cycle) --num-requests 20",
	} {
		if said, code := shell(t, folder, script); code != 0 {
			t.Errorf("%s: exit %d:\n%s", script, code, said)
		}
	}
}

// Inputs are read with a limit, whatever their names lead to.
func TestFaultF5EndlessInputs(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("this system has no endless device")
	}
	for _, args := range []string{
		"run --config /dev/zero", "run --policy-config /dev/zero", "run --hardware-config /dev/zero", "run --coefficients /dev/zero",
		"run --model-config-folder /dev/zero", "run --trace /dev/zero", "run --workload-spec /dev/zero", "compare /dev/zero round-robin",
		"models show /dev/zero", "models show Llama-3.1-8B --hardware-config /dev/zero", "bench --compare /dev/zero",
		"validate --coefficients /dev/zero ../testdata", "workload show /dev/zero",
		"train --steps /dev/zero --model Llama-3.1-8B --hardware H100", "train /dev/zero", "validate --otlp /dev/zero --model Llama-3.1-8B --hardware H100",
	} {
		s := blis(t, nil, strings.Fields(args)...)
		if s.code != exitInput || strings.Count(s.err, "\n") != 1 || !strings.Contains(s.err, "/dev/zero") {
			t.Errorf("%s: exit %d: %.300s", args, s.code, s.err)
		}
	}
}

// What stands behind gzip data is called so; zeros are padding, and more gzip data
// go on with the text.
func TestFaultF12GarbageBehindGzip(t *testing.T) {
	folder := t.TempDir()
	said, code := shell(t, folder, `rows() { echo arrival_us,input_tokens,output_tokens; echo 1,20,5; }
		(rows | gzip -c; echo garbage) >a.gz; $BLIS run --trace a.gz; (rows | gzip -c; echo g) >b.gz; $BLIS run --trace b.gz
		(rows | gzip -c; echo 2,30,7 | gzip -c; head -c 1000 /dev/zero) >c.gz; $BLIS workload convert c.gz c.csv 2>/dev/null; wc -l <c.csv
		rows | gzip -c | head -c 40 >d.gz; $BLIS run --trace d.gz`)
	const want = "blis: a.gz: after line 2: something else follows the gzip data: want the gzip file alone\n" +
		"blis: b.gz: after line 2: something else follows the gzip data: want the gzip file alone\n" +
		"3\nblis: d.gz: after line 0: the gzip data ends too early: want the whole file\n"
	if said != want || code != exitInput {
		t.Errorf("exit %d: got\n%swant\n%s", code, said, want)
	}
}

// What is nested deeply is refused before the parser sees it, which would take
// minutes.
func TestFaultF7DeepYAML(t *testing.T) {
	for name, text := range map[string]string{
		"brackets": "a: " + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000),
		"braces":   strings.Repeat("{a: ", 100_000) + strings.Repeat("}", 100_000),
		"open":     "a: " + strings.Repeat("[", 300_000),
		"dashes":   strings.Repeat("- ", 100_000) + "a",
		"names":    strings.Repeat("a", 100_000) + ": 1",
	} {
		path := file(t, "deep.yaml", text)
		for _, flag := range []string{"--config", "--hardware-config", "--coefficients", "--workload-spec"} {
			s := blis(t, nil, "run", flag, path)
			if s.code != exitInput || !strings.Contains(s.err, ":1: nested deeper than ") && !strings.Contains(s.err, ":1: a name of ") {
				t.Errorf("%s, %s: exit %d: %.200s", flag, name, s.code, s.err)
			}
		}
	}
}

// Ctrl-C is heeded while a command waits for its input, or for the reader of its
// output. A command that does not heed it hangs until the test ends.
func TestFaultF6InterruptedWhileItWaits(t *testing.T) {
	folder := t.TempDir()
	if said, code := shell(t, folder, "mkfifo never.csv"); code != 0 {
		t.Skip(said)
	}
	for _, args := range []string{
		"run --config never.csv", "run --trace never.csv", "run --workload-spec never.csv", "run --policy-config never.csv",
		"run --hardware-config never.csv", "compare never.csv round-robin", "compare round-robin least-loaded --trace never.csv",
		"verify --trace never.csv", "workload show never.csv", "models show never.csv", "validate --otlp never.csv --model Llama-3.1-8B --hardware H100",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			s := blisUntil(t, ctx, nil, strings.Fields(strings.ReplaceAll(args, "never.csv", filepath.Join(folder, "never.csv")))...)
			if s.code != exitInterrupted || !strings.HasSuffix(s.err, "blis: interrupted\n") {
				t.Errorf("exit %d: %s", s.code, s.err)
			}
		})
	}
	c := process(folder, "run", "--num-requests", "3000", "--requests-out", "never.csv")
	said, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	c.Process.Signal(os.Interrupt) // whenever it comes
	text, _ := io.ReadAll(said)
	if c.Wait() == nil {
		t.Errorf("it ended well: %s", text)
	}
}

// A terminal that goes away ends a run like Ctrl-C, but not under nohup.
func TestFaultF9Hangup(t *testing.T) {
	signals := map[string]os.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM}
	for _, name := range []string{"HUP", "INT", "TERM"} {
		if signal.Ignored(signals[name]) {
			t.Logf("%s: the test itself runs under nohup", name)
			continue
		}
		folder := earlier(t)
		c := process(folder, "run", "--num-requests", "100000000", "--requests-out", "keep.csv", "--results-path", "keep.json", "--format", "json")
		rows := filepath.Join(folder, "keep.csv.partial")
		var out, said bytes.Buffer
		c.Stdout, c.Stderr = &out, &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for !exists(rows) { // the run has begun
			time.Sleep(5 * time.Millisecond)
		}
		c.Process.Signal(signals[name])
		c.Wait()
		if code := c.ProcessState.ExitCode(); code != exitInterrupted || !strings.HasSuffix(said.String(), "keep.csv.partial, keep.json.partial\nblis: interrupted\n") {
			t.Errorf("%s: exit %d: %s", name, code, said.String())
		}
		isEarlier(t, folder, "keep.csv.partial", "keep.json.partial")
		for _, text := range []string{out.String(), read(t, filepath.Join(folder, "keep.json.partial"))} {
			if resultOf(t, text)["partial"] != true {
				t.Errorf("%s: a result that is not marked", name)
			}
		}
		if text := read(t, rows); !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: the last row is cut off: %.100q", name, text[max(0, len(text)-100):])
		}
	}
	said, code := shell(t, t.TempDir(), "trap '' HUP; $BLIS run --num-requests 200000 >out & p=$!; kill -HUP $p; kill -HUP $p; wait $p && grep -c digest out")
	if code != 0 || !strings.Contains(said, "1\n") {
		t.Errorf("nohup: exit %d: %s", code, said)
	}
}

// Coefficients of which the books would overflow are an error of the input, not
// books that do not balance.
func TestFaultF10CoefficientsBeyondTheBooks(t *testing.T) {
	const given = "run --latency-model blackbox --num-requests 9 "
	for args, want := range map[string]string{
		"--alpha-coeffs 0,0,0 --beta-coeffs 1e18,0,0":                                                                          "--beta-coeffs: a full step takes 1e+18 µs: want at most 1e+12",
		"--alpha-coeffs 0,0,0 --beta-coeffs 1e15,0,0 --output-tokens 5000":                                                     "--beta-coeffs: a full step takes 1e+15 µs: want at most 1e+12",
		"--alpha-coeffs 0,0,1e17 --beta-coeffs 1,0,0":                                                                          "overhead per token is 1e+17 µs: want 0 to 2147483648",
		"--alpha-coeffs 1e300,0,0 --beta-coeffs 1,0,0":                                                                         "--alpha-coeffs: a request of one token waits 1e+300 µs",
		"--alpha-coeffs 0,0,0 --beta-coeffs 1e12,0,0 --output-tokens 70000 --output-tokens-stdev 0 --output-tokens-max 100000": "would pass 2⁶²: want faster steps (--beta-coeffs), or an earlier end (--horizon)",
	} {
		if s := blis(t, nil, strings.Fields(given+args)...); s.code != exitInput || !strings.Contains(s.err, want) || strings.Contains(s.err, "books") {
			t.Errorf("%s: exit %d: %s", args, s.code, s.err)
		}
	}
}

// A sum over the instances that passes 64 bits says so; its parts are exact.
func TestFaultF11BlockMicrosOfManyInstances(t *testing.T) {
	const args = `run --latency-model blackbox --alpha-coeffs 0,0,0 --beta-coeffs 1e8,0,0 --num-instances 1000 --num-requests 4000 --rate 1000 --format json
		--prompt-tokens 100000 --prompt-tokens-stdev 0 --prompt-tokens-max 100000 --output-tokens 10000 --output-tokens-stdev 0 --output-tokens-max 10000`
	s := done(t, strings.Fields(args)...)
	var r struct {
		Setup   struct{ Notes []string }
		Overall struct {
			Resources struct {
				Counters struct {
					BlockMicros json.Number `json:"block_us"`
				}
			}
		}
		KVUse struct {
			BlockMicros []json.Number `json:"block_us"`
		} `json:"kv_use"`
	}
	if err := json.Unmarshal([]byte(s.out), &r); err != nil {
		t.Fatal(err)
	}
	sum := new(big.Int)
	for _, part := range r.KVUse.BlockMicros {
		n, _ := new(big.Int).SetString(part.String(), 10)
		sum.Add(sum, n)
	}
	if sum.IsInt64() {
		t.Fatalf("%v fits", sum)
	}
	const want = "block_us of all instances passes 2⁶³−1 and is cut off there; those of single instances and of kv_use are exact"
	if r.Overall.Resources.Counters.BlockMicros != "9223372036854775807" || !slices.Contains(r.Setup.Notes, want) {
		t.Errorf("%v, notes %q", r.Overall.Resources.Counters.BlockMicros, r.Setup.Notes)
	}
}
