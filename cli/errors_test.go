package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blis/actors"
	"blis/engine"
	"blis/lookahead"
	"blis/study"
)

// Every error is one line on standard error that says what, where, and what
// would be right, and nothing is printed as a result.
func TestErrorsAreOneLine(t *testing.T) {
	for _, c := range []struct {
		name string
		args string // FILE stands for one with the text
		text string
		code int
		want string
	}{
		{"unknown flag", "run --num-instanses 3", "", 2, `unknown flag --num-instanses, did you mean "--num-instances"?`},
		{"unknown flag far from all", "run --routing-plan x", "", 2, "unknown flag --routing-plan, the nearest is --routing-policy"},
		{"unknown command", "rum", "", 2, `did you mean "run"?`},
		{"a command of nothing like it", "frobnicate", "", 2, "there is no command frobnicate"},
		{"help of no command", "help polices", "", 2, `help: there is no command polices, the nearest is "policies"`},
		{"help about nothing", "help run instanses", "", 2, `help: no flag of blis run is about "instanses", the nearest is "instances" (groups: model, instances`},
		{"help with too much", "help run kv prefix", "", 2, "help: want a command and at most one topic, like blis help run kv"},
		{"completion of another shell", "completion tcsh", "", 2, `must be one of "bash","zsh","fish"`},
		{"bad number", "run --num-instances four", "", 2, `--num-instances: "four": want a whole number`},
		{"bad duration", "run --timeout 3parsecs", "", 2, "--timeout: \"3parsecs\" is not a duration: want 50ms"},
		{"bad choice", "run --in-flight never", "", 2, `--in-flight must be one of "immediate","periodic" but got "never"`},
		{"preemption off", "run --preemption-policy off", "", 2, "--preemption-policy: scheduler.params.preemption: preemption cannot be off: when the KV cache is full"},
		{"unknown preemption", "run --preemption-policy never", "", 2, `--preemption-policy: scheduler.params.preemption: "never" is not allowed, want auto | fcfs | priority`},
		{"config preemption off", "run --config FILE", "preemption-policy: off\n", 2, "FILE:1: preemption-policy: scheduler.params.preemption: preemption cannot be off: when"},
		{"negative rate", "run --rate=-1", "", 2, "--rate is -1: want"},
		{"negative duration", "run --horizon -5s", "", 2, "--horizon is -5s: want 0 or more"},
		{"negative rate behind a blank", "run --rate -3", "", 2, "--rate is -3: want 0 or more"},
		{"a flag for a value", "run --model --tp", "", 2, `--model: "--tp" looks like a flag`},
		{"no value", "run --trace-out", "", 2, "--trace-out: want a value behind it"},
		{"a price beyond all", "run --cost-per-replica-hour 1.7e308", "", 2, "--cost-per-replica-hour is 1.7e+308: want 0 (not given) to 1e+15"},
		{"tokens of no summary", "run --summary-tokens 500", "", 2, "--summary-tokens is 500 without a summary: want --summarize-trace STRATEGY with it"},
		{"rate NaN", "run --rate NaN", "", 2, "--rate is NaN: want"},
		{"unused NaN", "run --total-kv-blocks 100 --gpu-memory-utilization NaN", "", 2, "--gpu-memory-utilization is NaN: want"},
		{"unknown measure", "run --fitness-weights p99_tft:1", "", 2, `--fitness-weights: unknown measure "p99_tft", the nearest is "p99_ttft"`},
		{"several at once", "run --num-instances 0 --workers=-1", "", 2, "--num-instances is 0: want 1 to 1048576; --workers is -1"},
		{"unknown policy", "run --routing-policy least-load", "", 2, `the nearest is "least-loaded"`},
		{"unknown model", "run --model Lama-3.1-8B", "", 2, "--model-config-folder"},
		{"amount without a unit that is known", "run --activation-memory 2gigs", "", 2, `--activation-memory: "2gigs" is not an amount of memory: want 1GB, 1.5GiB`},
		{"config fraction of a byte", "run --config FILE", "activation-memory: 1.5\n", 2, "FILE:1: activation-memory: 1.5: want an amount of memory like 1GB"},
		{"activations larger than the GPU", "run --activation-memory 80GiB", "", 3, "meta-llama/Llama-3.1-8B-Instruct does not fit on H100 at TP 1: it needs 94.96 GiB"},
		{"model to show is unknown", "models show Lama-3.1-8B", "", 2, "; or give any other model's config.json, or its folder"},
		{"model to show is not there", "models show no/such/config.json", "", 2, "no/such/config.json: no such file"},
		{"folder without a model", "models show ../docs", "", 2, "../docs/config.json: no such file"},
		{"model to show contradicts itself", "models show FILE", `{"kv_lora_rank": 512}`, 2, "FILE: hidden_size is missing; num_hidden_layers is missing"},
		{"TP that cannot be", "models show mixtral --tp 3", "", 2, "tp is 3, want a divisor of the 32 attention heads"},
		{"memory that cannot be", "models show mixtral --gpu-memory-utilization NaN", "", 2, "gpu-memory-utilization is NaN, want above 0 and at most 1"},
		{"GPU to show it on is unknown", "models show mixtral --hardware H101", "", 2, "unknown GPU \"H101\"; nearest: H100; there are "},
		{"GPUs of one's own are not there", "models show mixtral --hardware-config no.yaml", "", 2, "--hardware-config: no.yaml: no such file"},
		{"nothing to show", "models show", "", 2, "want an argument, <model>"},
		{"does not fit", "run --model Llama-3.1-70B-Instruct", "", 3, "does not fit on H100 at TP 1: it needs 132.35 GiB for weights, activations and one KV block, there are 71.27 GiB; 2 of these GPUs would do (--tp 2)"},
		{"fits on no number of GPUs", "run --activation-memory 80GiB", "", 3, "; no number of these GPUs would do"},
		{"trace missing", "run --trace no/such.csv", "", 2, "--trace: no/such.csv: no such file"},
		{"trace row", "run --trace FILE", "arrival_us,input_tokens,output_tokens\n1,2,x\n", 2, "FILE:2: output_tokens: \"x\""},
		{"rows by name", "run --requests-out rows.txt", "", 2, "want a name that ends in .csv or .jsonl"},
		{"output not writable", "run --results-path no/such/result.json", "", 2, "no/such/result.json: no such file"},
		{"config missing", "run --config no/such.yaml", "", 2, "--config: no/such.yaml: no such file"},
		{"config unknown setting", "run --config FILE", "seed: 1\nrouting-polcy: x\n", 2, `FILE:2: unknown setting "routing-polcy", the nearest is "routing-policy"`},
		{"config string for number", "run --config FILE", "seed: 1\n\nnum-instances: \"2\"\n", 2, "FILE:3: num-instances: \"2\": want a whole number"},
		{"config number for string", "run --config FILE", "model: 7\n", 2, "FILE:1: model: 7: want a string"},
		{"config fraction for whole", "run --config FILE", "seed: 1.5\n", 2, "FILE:1: seed: 1.5: want a whole number"},
		{"config word for switch", "run --config FILE", "spread-ties: on\n", 2, `FILE:1: spread-ties: "on": want true or false`},
		{"config out of range", "run --config FILE", "max-num-seqs: 3000000000\n", 2, "FILE:1: max-num-seqs: expected a valid 32 bit int"},
		{"config choice", "run --config FILE", "in-flight: never\n", 2, `FILE:1: in-flight: "never": want one of immediate, periodic`},
		{"config duration", "run --config FILE", "timeout: 3parsecs\n", 2, "FILE:1: timeout: \"3parsecs\" is not a duration"},
		{"config list", "run --config FILE", "alpha-coeffs: [1, two]\n", 2, `FILE:1: alpha-coeffs[1]: "two": want a list of numbers`},
		{"config twice", "run --config FILE", "seed: 1\nseed: 2\n", 2, "FILE:2: seed: is given twice, first on line 1, want it once"},
		{"config no mapping", "run --config FILE", "- seed\n", 2, "FILE:1: want settings as name: value"},
		{"config two documents", "run --config FILE", "seed: 1\n---\nseed: 2\n", 2, "FILE:3: a second document, want one"},
		{"config broken", "run --config FILE", "seed: [1\n", 2, "FILE:1: not valid YAML: "},
		{"config anchor", "run --config FILE", "seed: &a 1\n", 2, "FILE:1: anchors are not supported, write the value where it is needed"},
		{"unknown policy to list", "policies weigted", "", 2, `the nearest is "weighted"`},
		{"verify input", "verify --num-instances 0", "", 2, "--num-instances is 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := strings.Fields(c.args)
			for i := range args {
				if args[i] == "FILE" {
					args[i] = file(t, "in.csv", c.text)
					c.want = strings.ReplaceAll(c.want, "FILE", args[i])
				}
			}
			s := blis(t, nil, args...)
			if s.code != c.code || !strings.Contains(s.err, c.want) || strings.Count(s.err, "\n") != 1 {
				t.Errorf("exit %d, want %d; printed %q, want %q", s.code, c.code, s.err, c.want)
			}
			if s.out != "" && !strings.HasPrefix(c.args, "verify") {
				t.Errorf("a result: %.100q", s.out)
			}
		})
	}
}

func TestVariableErrorNamesTheVariable(t *testing.T) {
	s := blis(t, map[string]string{"BLIS_NUM_INSTANCES": "two"}, "run")
	if want := "blis: BLIS_NUM_INSTANCES: num-instances: expected a valid 64 bit int but got \"two\"\n"; s.code != 2 || s.err != want {
		t.Errorf("exit %d: %q, want %q", s.code, s.err, want)
	}
}

// Faults of ours are one line too; the stack is there for who asks.
func TestFaultsOfARunAreOneLine(t *testing.T) {
	at := lookahead.Key{At: 77, Class: 6}
	fault := &lookahead.Fault{Process: "instance-1", ID: lookahead.FirstLeaf + 1, At: at, Value: errors.New("broken\nin two"), Stack: []byte("goroutine 1\n")}
	livelock := &lookahead.Fault{Process: "instance-1", At: at, Value: &engine.Livelock{At: 77}}
	for _, c := range []struct {
		err   error
		code  int
		want  string
		debug bool
	}{
		{fault, 1, `process "instance-1"`, false},
		{fault, 1, "goroutine 1", true},
		{fmt.Errorf("wrapped: %w", livelock), 1, "blis: instance-1 at 77µs: 10,000 consecutive preemptions", false},
		{&study.RunError{Name: "bundle a, seed 7", Err: livelock}, 1, "blis: bundle a, seed 7: instance-1 at 77µs: 10,000 consecutive preemptions", false},
		{&actors.InputError{Text: "so\nand so"}, 2, "blis: so and so\n", false},
		{context.Canceled, 130, "blis: interrupted\n", false},
		{errCheck, 1, "", false},
		{nil, 0, "", false},
	} {
		var out strings.Builder
		console := &console{err: &out, lookup: func(name string) (string, bool) { return "1", c.debug && name == "BLIS_DEBUG" }}
		code := console.fail(c.err)
		lines := strings.Count(out.String(), "\n")
		if code != c.code || !strings.Contains(out.String(), c.want) || lines > 1 && !c.debug {
			t.Errorf("%v: exit %d, want %d: %q, want %q", c.err, code, c.code, out.String(), c.want)
		}
	}
}

func TestFailedRunLeavesNoFiles(t *testing.T) {
	dir := t.TempDir()
	s := blis(t, nil, "run", "--num-instances", "0", "--results-path", filepath.Join(dir, "r.json"), "--requests-out", filepath.Join(dir, "r.csv"))
	if left, _ := os.ReadDir(dir); s.code != 2 || len(left) > 0 {
		t.Errorf("exit %d, left %v", s.code, left)
	}
}
