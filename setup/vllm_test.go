package setup

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the flags of vLLM in docs/flags.md anew")

// What a flag of vLLM becomes in BLIS exists, and so do its other spellings.
func TestFlagsOfVLLMAreSettings(t *testing.T) {
	names := map[string]bool{"config": true} // of the command
	for s := range new(Config).Settings() {
		names[s.Name] = true
	}
	for name, f := range serveFlags() {
		if f.use == sameThing && !names[f.as] {
			t.Errorf("%s is --%s here, and there is none", name, f.as)
		}
	}
}

// A program gives a server's arguments as they stand, with settings of BLIS among them.
func TestConfigServe(t *testing.T) {
	c := DefaultConfig()
	notes, err := c.Serve(strings.Fields("vllm serve Qwen/Qwen2.5-7B -tp 2 --port 80 --max-model-len 16k --no-enable-prefix-caching --async-scheduling --rate 20 --scheduling-policy priority --spread-ties -ep"))
	if err != nil || strings.Join(notes, ";") != "no effect on a simulation: --port" {
		t.Errorf("notes %q, error %v", notes, err)
	}
	if c.Model != "Qwen/Qwen2.5-7B" || c.TP != 2 || c.MaxModelLen != 16000 || c.EnablePrefixCaching || c.AsyncScheduling == nil || !*c.AsyncScheduling || c.Rate != 20 || c.Scheduler != "priority" || !c.SpreadTies || !c.EnableExpertParallel {
		t.Errorf("%+v", c)
	}
	for line, want := range map[string]string{
		"vllm serve m n":   "unexpected argument n",
		"--tp":             "--tp: want a value behind it",
		"--tp=x":           `--tp: "x": want a whole number`,
		"--no-such-flag=1": "no setting --no-such-flag",
		"--such-a-flag 3":  "no setting --such-a-flag",
		"--enable-lora":    "--enable-lora: LoRA adapters are not modelled",
	} {
		c := DefaultConfig()
		var input *InputError
		if _, err := c.Serve(strings.Fields(line)); !errors.As(err, &input) || input.Text != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestTranslateServe(t *testing.T) {
	model := filepath.Join(t.TempDir(), "llama")
	if err := os.Mkdir(model, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(model, "config.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ line, want, notes string }{
		{"--rate 3 --tp 2", "--rate 3 --tp 2", ""},
		{"vllm serve some/model", "--model=some/model", ""},
		{"vllm serve --model some/model", "--model=some/model", ""},
		{"vllm serve " + model, "--model-config-folder=" + model, ""},
		{"python3 -m vllm.entrypoints.openai.api_server --model m --port 1", "--model=m", "no effect on a simulation: --port"},
		{"-tp 4 -q fp8", "--tp=4 --quantization=fp8", ""},
		{"-tp=4 --tensor_parallel_size=2", "--tp=4 --tp=2", ""},
		{"--max-model-len 16k --max-num-batched-tokens=8K", "--max-model-len=16000 --max-num-batched-tokens=8192", ""},
		{"--max_model_len 1.5k", "--max-model-len=1500", ""},
		{"--max-model-len auto --max-model-len -1", "--max-model-len=0 --max-model-len=0", ""},
		{"--enable-chunked-prefill False --enable-prefix-caching", "--enable-chunked-prefill=false --enable-prefix-caching", ""},
		{"--scheduler_reserve_full_isl False", "--scheduler-reserve-full-isl=false", ""},
		{"--no-enable-prefix-caching --no_async_scheduling", "--no-enable-prefix-caching --no-async-scheduling", ""},
		{"--block-size 32 --scheduling-policy priority", "--block-size-in-tokens=32 --scheduler=priority", ""},
		{"--host 0.0.0.0 --port=8000 --disable-log-requests --api-key a b --seed 7 --port 9", "--seed=7", "no effect on a simulation: --host, --port, --disable-log-requests, --api-key"},
		{"--served-model-name a b c --rate 5", "--rate 5", "no effect on a simulation: --served-model-name"},
		{"--no-enable-log-requests --hf-token --rate 5", "--rate 5", "no effect on a simulation: --no-enable-log-requests, --hf-token"},
		{"--enforce-eager -O3 -cc.mode 3 --compilation-config {}", "", "--enforce-eager, -O, -cc, --compilation-config: kernels and processes: step times are of a server with the defaults, with CUDA graphs; what others cost was not measured"},
		{"-dp 8 -dpl 4 -asc 2 -dph", "--data-parallel-size=8 --data-parallel-size-local=4 --api-server-count=2 --data-parallel-lb=hybrid", ""},
		{"--data_parallel_size=4 --data-parallel-external-lb --no-data-parallel-hybrid-lb", "--data-parallel-size=4 --data-parallel-lb=external", ""},
		{"-dp 4 -dpa 10.0.0.1 -dpp 13345 --data-parallel-backend ray", "--data-parallel-size=4", "no effect on a simulation: -dpa, -dpp, --data-parallel-backend"},
		{"--pipeline-parallel-size 1 --cpu-offload-gb 0 --no-enable-lora --swap-space 0", "", ""},
		{"--rate 5 -- --port 3", "--rate 5 -- --port 3", ""},
	} {
		got, notes, err := TranslateServe(strings.Fields(x.line))
		if err != nil {
			t.Errorf("%s: %v", x.line, err)
			continue
		}
		if strings.Join(got, " ") != x.want || strings.Join(notes, "\n") != x.notes {
			t.Errorf("%s:\n got %s\nwant %s\nnotes %q", x.line, strings.Join(got, " "), x.want, notes)
		}
	}
}

// The page of all flags has every flag of vLLM, from their heading to its end:
// go test ./setup -run VLLMFlagsPage -update writes that part.
func TestVLLMFlagsPage(t *testing.T) {
	const path = "../docs/flags.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, got, found := strings.Cut(string(text), serveFlagsHeading)
	want := serveFlagsPage()
	if *update {
		if err := os.WriteFile(path, []byte(before+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !found || serveFlagsHeading+got != want {
		t.Errorf("%s does not have the flags of vLLM as they are: go test ./setup -run VLLMFlagsPage -update writes them anew", path)
	}
}

// serveFlagsPage is the part of the page of all flags that is about vLLM's.
func serveFlagsPage() string {
	var b strings.Builder
	b.WriteString(serveFlagsIntroduction)
	b.WriteString("### What BLIS has\n\n| vLLM | BLIS | |\n|---|---|---|\n")
	for _, s := range sameFlags() {
		name := "`--" + s.name + "`"
		for _, short := range strings.Fields(s.shorts) {
			name += ", `" + short + "`"
		}
		if isSwitch(s.as) {
			name += ", `--no-" + s.name + "`"
		}
		fmt.Fprintf(&b, "| %s | `--%s` | %s |\n", name, s.as, s.remark)
	}
	for _, part := range []struct {
		use         flagUse
		title, head string
	}{
		{translated, "Translated", "| flags | |"},
		{noEffect, "Without effect", "| flags | of |"},
		{unmeasured, "Without a measured effect", "| flags | |"},
		{refused, "Refused", "| flags | why |"},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n|---|---|\n", part.title, part.head)
		for _, g := range serveGroups {
			if g.use != part.use {
				continue
			}
			var names []string
			for _, f := range g.list() {
				name := "`--" + f.name + "`"
				for _, short := range f.shorts {
					name += " (`" + short + "`)"
				}
				if f.usual != nil {
					name += " but " + strings.Join(slices.Clone(f.usual[:1]), ", ")
				}
				names = append(names, name)
			}
			fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(names, ", "), g.why)
		}
	}
	return b.String()
}

const serveFlagsHeading = "## Flags of vLLM\n"

const serveFlagsIntroduction = serveFlagsHeading + `
` + "`blis run`, `blis verify` and `blis compare`" + ` take the flags of ` + "`vllm serve`" + `, so that the line which starts a server also simulates it. Put ` + "`blis run`" + `
in front and what arrives behind:

    blis run vllm serve meta-llama/Llama-3.1-8B-Instruct --port 8000 --tensor-parallel-size 2 --max-model-len 16k --rate 20

Flags are those of vLLM 0.19, and older ones that still stand in scripts. As in vLLM, underscores count as dashes and
` + "`--flag.key value`" + ` is a part of ` + "`--flag`" + `. A flag without effect is left out, and a line on standard error lists all that were. A flag that asks for
something that is not modelled is an error (exit 2), unless it asks for nothing, as ` + "`--pipeline-parallel-size 1`" + ` does. A Go program
gives the same line to ` + "`setup.Config.Serve`" + `.

`
