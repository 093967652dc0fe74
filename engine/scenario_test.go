package engine

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected part of the scenario files")

// TestScenarios plays the scripts of testdata/scenarios, each of which shows
// one rule of the scheduler. A script says in prose (lines that begin with #)
// what to look at, then how the instance is set up and what arrives:
//
//	engine blocks=64 block-size=16 budget=64 max-seqs=8 step=1000,10,0
//	request 0 at=0 prompt=48 output=3
//	request 1 at=0 prompt=a:32,16 output=3
//
// Below a line of dashes stands what comes of it, written by -update: a line
// for each formation and one for each request. A step takes step[0] µs, plus
// step[1] for each prefill token, plus step[2] for each decode token. The parts
// of a prompt are named content that others may share (name:tokens), and last
// the request's own. Switches of the engine are async, priority, no-reserve,
// no-chunks, no-caching, and the numbers threshold and max-model-len; a request
// may have limit, deadline, priority (higher is more urgent).
//
// Every mode of the engine must agree on the result, and those that keep a
// ledger on each line of it.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("../testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { playScript(t, file) })
	}
}

const dashes = "----\n"

func playScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	script, want, found := strings.Cut(string(text), dashes)
	if !found && !*update {
		t.Fatalf("%s has no line of dashes with the expected part below it", file)
	}
	sc, err := parseScript(script)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var first []ledgerRow
	var results map[int64][]any
	for i, m := range modes {
		rows, res, err := play(sc, m)
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		for k := range rows {
			rows[k] = normal(rows[k])
			rows[k].FL = "" // of the block twin alone
		}
		if i == 0 {
			first, results = rows, res
			continue
		}
		if !m.silent && !reflect.DeepEqual(rows, first) {
			t.Errorf("%s differs from %s:\n%s", m.name, modes[0].name, cmp.Diff(first, rows))
		}
		if !reflect.DeepEqual(res, results) {
			t.Errorf("%s: other results than %s:\n%s", m.name, modes[0].name, cmp.Diff(results, res))
		}
	}
	got := describe(sc, first, results)
	if *update {
		if err := os.WriteFile(file, []byte(script+dashes+got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("%s (-want +got):\n%s", file, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
	}
}

// describe prints a ledger and the results for people.
func describe(sc *scenario, rows []ledgerRow, results map[int64][]any) string {
	var b strings.Builder
	for i := range rows {
		describeRow(&b, &rows[i])
	}
	for _, r := range sc.Requests {
		res := results[r.ID]
		fmt.Fprintf(&b, "request %d", r.ID)
		if res == nil {
			b.WriteString(" has no outcome\n")
			continue
		}
		status := res[5].(string)
		if status == "aborted" {
			status = "timed out"
		}
		fmt.Fprintf(&b, " %s, %d tokens", status, res[4])
		if res[1] != nil {
			fmt.Fprintf(&b, ", the first at %d", res[1])
		}
		if res[2] != nil {
			fmt.Fprintf(&b, ", done at %d", res[2])
		}
		if n := res[3].(int64); n > 0 {
			fmt.Fprintf(&b, ", preempted %d×", n)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func describeRow(b *strings.Builder, r *ledgerRow) {
	if r.Form != nil {
		fmt.Fprintf(b, "formed at %d for ", *r.Form)
	}
	fmt.Fprintf(b, "%d–%d:", r.Start, r.End)
	if len(r.Scheduled) == 0 {
		b.WriteString(" nothing")
	}
	for i, s := range r.Scheduled {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, " request %d ×%d", s[0], s[1])
	}
	for _, list := range []struct {
		name string
		ids  []int64
	}{{"new", r.New}, {"resumed", r.Resumed}, {"preempted", r.Preempted}} {
		if len(list.ids) > 0 {
			fmt.Fprintf(b, "; %s %s", list.name, strings.Trim(fmt.Sprint(list.ids), "[]"))
		}
	}
	for _, c := range r.Cached {
		if c[1] > 0 {
			fmt.Fprintf(b, "; %d has %d cached", c[0], c[1])
		}
	}
	fmt.Fprintf(b, " | %d running, %d waiting, %d blocks free", r.Running, r.Waiting, r.Free)
	if len(r.Finished) > 0 {
		fmt.Fprintf(b, " | at its end %s done", strings.Trim(fmt.Sprint(r.Finished), "[]"))
	}
	if len(r.Aborted) > 0 {
		fmt.Fprintf(b, " | at its end %s timed out", strings.Trim(fmt.Sprint(r.Aborted), "[]"))
	}
	b.WriteByte('\n')
}

// parseScript reads the upper part of a scenario file.
func parseScript(text string) (*scenario, error) {
	sc := &scenario{}
	c := &sc.Config
	c.Caching, c.Chunked, c.Reserve, c.BlockSize, c.Seats, c.Budget = true, true, true, 16, 256, 2048
	c.Beta = [3]float64{1000, 0, 0}
	for number, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		var err error
		switch words[0] {
		case "engine":
			err = sc.parseEngine(words[1:])
		case "request":
			err = sc.parseRequest(words[1:])
		default:
			err = fmt.Errorf("%q: want #, engine or request", words[0])
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number+1, err)
		}
	}
	if c.NumGPUBlocks < 2 {
		return nil, fmt.Errorf("no engine with blocks=N")
	}
	if most := int32(c.NumGPUBlocks-1) * c.BlockSize; c.MaxModelLen == 0 || c.MaxModelLen > most {
		c.MaxModelLen = most
	}
	return sc, nil
}

func (sc *scenario) parseEngine(words []string) error {
	c := &sc.Config
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		n, err := strconv.Atoi(value)
		switch name {
		case "blocks":
			c.NumGPUBlocks = n + 1 // as vLLM counts
		case "block-size":
			c.BlockSize = int32(n)
		case "budget":
			c.Budget = int32(n)
		case "max-seqs":
			c.Seats = int32(n)
		case "threshold":
			c.Threshold = int32(n)
		case "max-model-len":
			c.MaxModelLen = int32(n)
		case "step":
			_, err = fmt.Sscanf(value, "%f,%f,%f", &c.Beta[0], &c.Beta[1], &c.Beta[2])
		default:
			err = sc.parseSwitch(w)
		}
		if err != nil {
			return fmt.Errorf("%q: %w", w, err)
		}
	}
	return nil
}

func (sc *scenario) parseSwitch(w string) error {
	c := &sc.Config
	switch w {
	case "async":
		c.Async = true
	case "priority":
		c.Policy = "priority"
	case "no-reserve":
		c.Reserve = false
	case "no-chunks":
		c.Chunked = false
	case "no-caching":
		c.Caching = false
	default:
		return fmt.Errorf("no such setting")
	}
	return nil
}

func (sc *scenario) parseRequest(words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("want a number after request")
	}
	id, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil {
		return err
	}
	r := scenarioRequest{ID: id}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		if name == "prompt" {
			if err := r.parsePrompt(value); err != nil {
				return err
			}
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("%q: %w", w, err)
		}
		limit := int32(n)
		switch name {
		case "at":
			r.Arrival = n
		case "output":
			r.Output = limit
		case "limit":
			r.MaxOutput = &limit
		case "deadline":
			r.Abort = &n
		case "priority":
			r.Priority = float64(-n) // as vLLM counts
		default:
			return fmt.Errorf("%q: no such setting", w)
		}
	}
	sc.Requests = append(sc.Requests, r)
	return nil
}

// parsePrompt reads "a:32,b:16,20": named content, and last the request's own.
func (r *scenarioRequest) parsePrompt(text string) error {
	for _, part := range strings.Split(text, ",") {
		name, length, named := strings.Cut(part, ":")
		content := 1_000_000 + r.ID
		if !named {
			length = name
		} else {
			content = int64(name[0]) // one letter is a name
		}
		n, err := strconv.ParseInt(length, 10, 32)
		if err != nil || n < 1 || named && len(name) != 1 {
			return fmt.Errorf("prompt %q: want parts like a:32 and a last one like 20", text)
		}
		r.Prompt = append(r.Prompt, [2]int64{content, n})
	}
	return nil
}
