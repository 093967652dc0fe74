package cli

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"blis/calibrate"
	"blis/calibrate/measured"
	"blis/latency"
	"blis/vtime"
)

var update = flag.Bool("update", false, "write what train and validate print into testdata, for a person to read")

// golden holds text to a file of testdata. The digits of fits are those of amd64:
// elsewhere least squares round differently, and from there schedules drift
// apart.
func golden(t *testing.T, name, text string) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		return
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := read(t, path); text != want {
		t.Errorf("%s is not what is printed, see go test -update:\n%s", path, text)
	}
}

// served are the coefficients of the servers behind servedRuns.
var served = calibrate.Coefficients{
	Alpha: latency.AlphaVector{0: 0.004, 2: 0.02, 3: 0.0045},
	Beta:  latency.BetaVector{0: 1.5, 1: 2, 2: 1.35, 4: 1.4, 8: 1.2, 12: 1, 13: 1, 15: 0.0012},
}

const servedColumns = "id,model,gpu,tp,engine,max_num_seqs,max_num_batched_tokens,max_model_len,block_size,kv_blocks,prefix_caching,chunked_prefill,async_scheduling,data_parallel,system_prompt_tokens,stages"

// servedRuns is a folder of measured runs that no server was needed for: a replay
// with coefficients, each time off by up to 2 %. There are two loads of one
// model, one of another, one that overloads it and one of two schedulers.
func servedRuns(t *testing.T) string {
	t.Helper()
	files := map[string]string{}
	table := []string{servedColumns}
	for i, x := range []struct {
		id, model     string
		tp            int
		requests      int
		rate          float64
		input, output int32
		seats         int
		schedulers    int
		stages        string
	}{
		{"chat", "Llama-3.1-8B", 1, 150, 3, 900, 60, 64, 1, "3x20;3x1000;3x9"},
		{"code", "Llama-3.1-8B", 1, 150, 8, 400, 100, 64, 1, ""},
		{"large", "Llama-2-70b-hf", 4, 100, 2, 900, 60, 64, 1, ""},
		{"flood", "Llama-3.1-8B", 1, 100, 60, 900, 60, 4, 1, ""},
		{"twins", "Llama-3.1-8B", 1, 1, 1, 9, 9, 64, 2, ""},
	} {
		table = append(table, fmt.Sprintf("%s,meta-llama/%s,H100,%d,vLLM 0.15.1,%d,2048,4096,16,9000,1,1,1,%d,40,%s", x.id, x.model, x.tp, x.seats, x.schedulers, x.stages))
		random := rand.New(rand.NewPCG(uint64(i), 1))
		rows := []string{"arrival_us,input_tokens,output_tokens,ttft_us,e2e_us,prompt,ok"}
		at := 0.0
		for range x.requests {
			prompt := random.Int32N(50)
			length := 50 + prompt*(x.input-50)/50 // equal prompts are equally long
			rows = append(rows, fmt.Sprintf("%.0f,%d,%d,1,1,%d,1", 1e6*at, length, 2+random.Int32N(x.output), prompt))
			at += random.ExpFloat64() / x.rate
		}
		files["requests/"+x.id+".csv"] = strings.Join(rows, "\n") + "\n"
	}
	files["runs.csv"] = strings.Join(table, "\n") + "\n"
	dir := folder(t, files)
	serve(t, dir)
	return dir
}

// serve fills in the times of the requests in a folder, as served has them.
func serve(t *testing.T, dir string) {
	t.Helper()
	samples, _, err := calibrate.Load([]string{dir}, calibrate.Overrides{}, calibrate.DefaultClientTimeout)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 7))
	off := func(us float64) int64 { return int64(us * (0.98 + float64(0.04*random.Float64()))) }
	for _, s := range samples {
		model, err := s.Model(&served)
		if err != nil {
			t.Fatal(err)
		}
		timeout := vtime.Duration(0)
		if s.Run.ID == "flood" {
			timeout = 5 * vtime.Second
		}
		predicted, err := s.Server.Replay(s.Run, model, timeout)
		if err != nil {
			t.Fatal(err)
		}
		rows := []string{"arrival_us,input_tokens,output_tokens,ttft_us,e2e_us,prompt,ok"}
		for i, p := range predicted {
			rows = append(rows, servedRow(&s.Run.Requests[i], &p, off))
		}
		if err := os.WriteFile(filepath.Join(dir, "requests", s.Run.ID+".csv"), []byte(strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func servedRow(q *measured.Request, p *calibrate.Predicted, off func(float64) int64) string {
	if !p.Completed {
		return fmt.Sprintf("%d,0,%d,,,%d,0", int64(q.Arrival), q.Output, q.Prompt)
	}
	ttft := off(p.TTFT)
	return fmt.Sprintf("%d,%d,%d,%d,%d,%d,1", int64(q.Arrival), q.Input, q.Output, ttft, ttft+off(p.E2E-p.TTFT), q.Prompt)
}

// folder is a folder of its own with these files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
