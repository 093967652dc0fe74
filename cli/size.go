package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"blis/report"
	"blis/setup"
	"blis/study"
)

// sizeCmd is blis size.
type sizeCmd struct {
	settings
	searchFlags

	Among   []string `sep:"none" placeholder:"NAME=LIST" group:"Capacity" help:"Values to choose among, for hardware, tp, max-num-batched-tokens and pd-ratio: tp=1,2,4,8. The flags of these names take lists too, as --hardware H100,H200. Not given: TP 1, 2, 4 and 8; with --architecture pd P:D 1:3, 1:2, 2:3, 1:1, 3:2, 2:1 and 3:1."`
	MaxGPUs int      `name:"max-gpus" default:"64" group:"Capacity" help:"Most GPUs of a cluster."`
	Prices  []string `sep:"none" placeholder:"GPU=PRICE,…" group:"Capacity" help:"Price of a GPU per hour by its name, H100=2.5,A100-80=1.6; others have --gpu-hour-price."`

	Format string `default:"text" enum:"text,json" group:"Output" help:"Form of the result on standard output: text or json."`

	tpGiven bool // --tp, a variable or the file says which TP
}

// Help is what blis size does, with examples.
func (*sizeCmd) Help() string {
	return `Finds the smallest cluster that keeps every SLO under given traffic: for each GPU, TP, token budget and, with --architecture pd, ratio of prefill to decode instances that fits into memory the fewest instances, ranked by cost, or by GPUs where no price is given, all with one latency model. Under a trace that is the same every time the answer is exact for it. Else the winner is certified as by blis capacity. With --deployments it finds the fewest instances of each of their pools. docs/size-a-cluster.md shows the way.

Examples:

    blis size --slo p99_ttft=500ms,p99_tpot=50ms --rate 12 --trace requests.csv
    blis size --slo p99_ttft=200ms --rate 100 --tp 1,2 --gpu-hour-price 2.5
    blis size --slo p99_ttft=1s --rate 9 --hardware H100,H200 --max-gpus 16
    blis size --slo p99_ttft=500ms --rate 60 --architecture pd --tp 1
    blis size --slo p99_ttft=2s --deployments d.yaml --workload-spec spec.yaml`
}

// listFlags are the flags of run that take lists in size.
var listFlags = []string{"hardware", "tp", "tensor-parallel-size", "max-num-batched-tokens", "pd-ratio"}

// takeLists replaces flags whose values are lists by --among.
func takeLists(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		if !strings.HasPrefix(args[i], "--") || !slices.Contains(listFlags, name) {
			out = append(out, args[i])
			continue
		}
		used := 0
		if !given && i+1 < len(args) {
			value, used = args[i+1], 1
		}
		if !strings.Contains(value, ",") {
			out = append(out, args[i])
			continue
		}
		i += used
		if name == "tensor-parallel-size" {
			name = "tp"
		}
		out = append(out, "--among="+name+"="+value)
	}
	return out
}

// applyPolicies is that of settings. It also notes whether anybody gave a TP.
func (r *sizeCmd) applyPolicies(command *kong.Context, l *settingSources) error {
	for _, p := range command.Path {
		if p.Flag == nil {
			continue
		}
		r.tpGiven = r.tpGiven || p.Flag.Name == "tp"
		if p.Flag.Name == "num-instances" && l.origin(p) != setup.FromFile {
			return inputError("--num-instances: size finds the number of instances: want --max-gpus, or blis run")
		}
	}
	return r.settings.applyPolicies(command, l)
}

// Run carries the command out.
func (r *sizeCmd) Run(ctx context.Context, c *console) error {
	c.warnOfVariables()
	if r.Print {
		return r.printConfig(c.out)
	}
	sizing := study.NewSizing(r.Config)
	sizing.MaxGPUs = r.MaxGPUs
	if err := r.capacity(&sizing.Search); err != nil {
		return err
	}
	if err := r.candidates(&sizing); err != nil {
		return err
	}
	if !r.Deployments.Empty() {
		return r.sizeDeployments(ctx, c, sizing)
	}
	sizing.Search.Base.Open = new(pipes).open
	sizing.Search.Pool.Workers = r.Workers
	collectRarely()
	bar := c.show("candidates")
	defer bar.done()
	sizing.Observe = func(done, all int) { bar.set(int64(done), int64(all)) }
	sizing.Search.Observe = func(o study.CapacityProgress) {
		bar.say(fmt.Sprintf("certifying the best, window %d", o.Windows))
	}
	c.begun.Store(true)
	result, err := sizing.Find(ctx)
	bar.done()
	if result == nil {
		return err
	}
	return firstOf(c.print(&report.Size{SizeResult: result, Asked: sizing}, r.Format), err, sizeError(result))
}

// sizeDeployments sizes the pools of deployments.
func (r *sizeCmd) sizeDeployments(ctx context.Context, c *console, sizing study.Sizing) error {
	sizing.Search.Base.Open = new(pipes).open
	bar := c.windows(&sizing.Search)
	defer bar.done()
	sizing.Search.Pool.Workers = r.Workers
	c.begun.Store(true)
	result, err := sizing.FindDeployments(ctx)
	bar.done()
	if result == nil {
		return err
	}
	var answer error
	switch {
	case result.Factor == 0:
		answer = &answered{exitNoLoad, "no number of instances keeps the SLOs: want more --max-gpus, other deployments or other bounds"}
	case !result.Certified():
		answer = &answered{exitNotCertified, "an end could not be certified: want more --max-windows"}
	}
	return firstOf(c.print(&report.SizeDeployments{SizedDeployments: result, SizeOf: sizing}, r.Format), err, answer)
}

// candidates reads --among and --prices.
func (r *sizeCmd) candidates(s *study.Sizing) error {
	for _, text := range r.Among {
		name, list, ok := strings.Cut(text, "=")
		if !ok {
			return inputErrorf("--among: %q: want a setting and its values, like tp=1,2,4,8", text)
		}
		for value := range strings.SplitSeq(list, ",") {
			if err := addCandidate(s, name, strings.TrimSpace(value)); err != nil {
				return err
			}
		}
	}
	if len(s.TP) == 0 && !r.tpGiven && r.Deployments.Empty() {
		s.TP = []int{1, 2, 4, 8}
	}
	for _, text := range r.Prices {
		for part := range strings.SplitSeq(text, ",") {
			gpu, price, _ := strings.Cut(strings.TrimSpace(part), "=")
			x, err := strconv.ParseFloat(price, 64)
			if err != nil || !(x > 0 && x <= 1e15) {
				return inputErrorf("--prices: %q: want a GPU and its price per hour, like H100=2.5", part)
			}
			if s.Prices == nil {
				s.Prices = map[string]float64{}
			}
			s.Prices[gpu] = x
		}
	}
	return nil
}

// addCandidate adds one value to choose among.
func addCandidate(s *study.Sizing, name, value string) error {
	n, err := strconv.ParseInt(value, 10, 32)
	number := func(most int64) error {
		if err != nil || n < 1 || n > most {
			return inputErrorf("--%s is %q: want whole numbers from 1 to %d", name, value, most)
		}
		return nil
	}
	duplicate := inputErrorf("--%s: %s is given twice, want it once", name, value)
	switch name {
	case "hardware":
		if value == "" || slices.Contains(s.Hardware, value) {
			return duplicate
		}
		s.Hardware = append(s.Hardware, value)
	case "tp":
		if err := number(1024); err != nil {
			return err
		}
		if slices.Contains(s.TP, int(n)) {
			return duplicate
		}
		s.TP = append(s.TP, int(n))
	case "max-num-batched-tokens":
		if err := number(1 << 30); err != nil {
			return err
		}
		if slices.Contains(s.Budgets, int32(n)) {
			return duplicate
		}
		s.Budgets = append(s.Budgets, int32(n))
	case "pd-ratio":
		var ratio setup.PDRatio
		switch err := ratio.UnmarshalText([]byte(value)); {
		case err != nil || value == "":
			return inputErrorf("--pd-ratio: %q: want prefill instances for decode instances, like 1:3", value)
		case slices.Contains(s.Ratios, ratio):
			return duplicate
		}
		s.Ratios = append(s.Ratios, ratio)
	default:
		return inputErrorf("--among: %q is none of hardware, tp, max-num-batched-tokens, pd-ratio", name)
	}
	return nil
}

// sizeError ends the command with the exit code of the answer.
func sizeError(r *study.SizeResult) error {
	switch {
	case len(r.Candidates) == 0 || r.Candidates[0].Instances == 0:
		return &answered{exitNoLoad, "no candidate keeps the SLOs: want more --max-gpus, other candidates or other bounds"}
	case !r.Candidates[0].Certified:
		return &answered{exitNotCertified, "the best candidate could not be certified: want more --max-windows"}
	}
	return nil
}
