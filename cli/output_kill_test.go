package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"blis/internal/testsize"
	"blis/trace"
)

// killed is how many commands are killed: a few, or as many as BLIS_KILLS says.
func killed(t *testing.T) int {
	text := os.Getenv("BLIS_KILLS")
	if text == "" {
		return testsize.Of(6, 6, 14)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const victimRequests = 15_000

// victims are commands with outputs of every kind, and how to tell that an
// output under its own name is whole.
var victims = []struct {
	args  string
	whole map[string]func(path string) error
}{
	{fmt.Sprintf("run --num-requests %d --results-path keep.json --requests-out keep.csv --record keep.msgpack --trace-out keep.jsonl", victimRequests),
		map[string]func(string) error{"keep.json": wholeJSON, "keep.csv": wholeRows, "keep.jsonl": wholeTrace, "keep.msgpack": anything}},
	{fmt.Sprintf("workload export --num-requests %d --out keep.csv", 4*victimRequests), map[string]func(string) error{"keep.csv": wholeTraceRows}},
	{fmt.Sprintf("workload export --num-requests %d --out keep.csv.gz", 4*victimRequests), map[string]func(string) error{"keep.csv.gz": wholeTraceRows}},
	{"compare round-robin least-loaded --seeds 4 --num-requests 2000 --results-path keep.json", map[string]func(string) error{"keep.json": wholeJSON}},
}

func anything(string) error { return nil }

func wholeJSON(path string) error {
	text, err := os.ReadFile(path)
	var v map[string]any
	if err = errors.Join(err, json.Unmarshal(text, &v)); err == nil && v["partial"] != false {
		err = fmt.Errorf("partial is %v", v["partial"])
	}
	return err
}

// lines counts the lines of a text, gzip or not, which must end with one.
func lines(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err == nil && bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(text)); err == nil {
			text, err = io.ReadAll(r)
		}
	}
	if err == nil && !bytes.HasSuffix(text, []byte("\n")) {
		err = errors.New("the last line is cut off")
	}
	return bytes.Count(text, []byte("\n")), err
}

func wantLines(path string, want int) error {
	n, err := lines(path)
	if err == nil && n != want {
		err = fmt.Errorf("%d lines, want %d", n, want)
	}
	return err
}

func wholeRows(path string) error      { return wantLines(path, 1+victimRequests) }
func wholeTraceRows(path string) error { return wantLines(path, 1+4*victimRequests) }

func wholeTrace(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, outcomes := trace.NewReader(f, trace.JSONLines, path), 0
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if record.Kind() == "outcome" {
			outcomes++
		}
	}
	if outcomes != victimRequests {
		return fmt.Errorf("%d outcomes", outcomes)
	}
	return nil
}

// Whenever and however a command ends, what earlier ones wrote is as it was or
// has been replaced by what is whole, and what is not whole has the partial
// name.
func TestOutputsSurviveKilling(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("BLIS_KILLS_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("BLIS_KILLS_SEED=%d", seed)
	d := rand.New(rand.NewPCG(seed, 1))
	typical := make([]time.Duration, len(victims))
	counts := map[string]int{}
	for i := range killed(t) {
		v := d.IntN(len(victims))
		if i < len(victims) {
			v = i
		}
		how := []string{"KILL", "INT", "HUP", "TERM", "full"}[d.IntN(5)]
		if i < len(victims) {
			how = "left alone"
		}
		folder := t.TempDir()
		before := map[string]string{}
		for name := range victims[v].whole {
			before[name] = "earlier " + name
			if d.IntN(4) == 0 { // there was none
				delete(before, name)
				continue
			}
			if err := os.WriteFile(filepath.Join(folder, name), []byte(before[name]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c := process(folder, strings.Fields(victims[v].args)...)
		if how == "full" { // at a random size
			c.Args = append([]string{"bash", "-c", fmt.Sprintf(`trap '' XFSZ; ulimit -f %d; exec "$0" "$@"`, 1+d.IntN(4000))}, append([]string{os.Args[0]}, c.Args[1:]...)...)
			c.Path, _ = exec.LookPath("bash")
		}
		began := time.Now()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if s, ok := map[string]os.Signal{"KILL": syscall.SIGKILL, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "TERM": syscall.SIGTERM}[how]; ok {
			time.Sleep(time.Duration(1.2 * d.Float64() * float64(typical[v])))
			c.Process.Signal(s)
		}
		c.Wait()
		if how == "left alone" {
			typical[v] = time.Since(began)
		}
		what := fmt.Sprintf("%d: %s, %s, exit %d", i, victims[v].args, how, c.ProcessState.ExitCode())
		for problem, n := range survived(folder, before, victims[v].whole, how) {
			if n < 0 {
				t.Errorf("%s: %s", what, problem)
			} else {
				counts[problem] += n
			}
		}
		if how == "left alone" && !c.ProcessState.Success() {
			t.Errorf("%s", what)
		}
	}
	t.Logf("outputs found: %v", counts)
}

// survived looks at what is in a folder. It counts what it finds; problems count
// −1.
func survived(folder string, before map[string]string, whole map[string]func(string) error, how string) map[string]int {
	found := map[string]int{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return map[string]int{err.Error(): -1}
	}
	for name, text := range before {
		if _, err := os.Stat(filepath.Join(folder, name)); errors.Is(err, fs.ErrNotExist) {
			found[name+" of an earlier run is gone, it was "+text] = -1
		}
	}
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(folder, e.Name())
		text, err := os.ReadFile(path)
		final, partial := strings.CutSuffix(name, partialEnd)
		switch {
		case err != nil:
			found[err.Error()] = -1
		case whole[final] == nil:
			found[name+" is there"] = -1
		case !partial && string(text) == before[name] && before[name] != "":
			found["as before"]++
		case !partial:
			found["whole"]++
			if err := whole[name](path); err != nil {
				found[name+": "+err.Error()] = -1
			}
		case how == "KILL" || how == "full":
			found["cut"]++
		default: // it could end as it wanted to
			found["partial"]++
			if problem := markedPart(name, path); problem != nil {
				found[name+": "+problem.Error()] = -1
			}
		}
	}
	return found
}

// markedPart checks a part that a command left on purpose.
func markedPart(name, path string) error {
	switch {
	case strings.HasSuffix(name, ".json"+partialEnd):
		if err := wholeJSON(path); err == nil || !strings.HasPrefix(err.Error(), "partial is true") {
			return fmt.Errorf("a part that is not marked: %v", err)
		}
	case strings.HasSuffix(name, ".csv"+partialEnd), strings.HasSuffix(name, ".jsonl"+partialEnd):
		_, err := lines(path)
		return err
	}
	return nil
}
