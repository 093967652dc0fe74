package cli

import (
	"fmt"
	"io"
	"math"
	"strings"

	"blis/latency"
	"blis/policy"
	"blis/report"
	"blis/report/plaintext"
	"blis/suggest"
)

// form is the flag of the commands that list things.
type form struct {
	Format string `default:"text" enum:"text,json" help:"Form of the list: text or json."`
}

// list prints items as JSON, or what table writes, in columns parted by tabs. On
// a narrow terminal the columns named by drop are left out, the first one first.
func (f *form) list(c *console, items any, table func(w io.Writer), drop ...string) error {
	if f.Format == "json" {
		return report.WriteIndented(c.out, items)
	}
	var text strings.Builder
	table(&text)
	_, err := io.WriteString(c.out, plaintext.Columns(text.String(), c.columns(), drop...))
	return err
}

// policiesCmd is blis policies.
type policiesCmd struct {
	Name string `arg:"" optional:"" help:"A policy, or what policies decide about (admission, priority, routing, scheduler, autoscale); all if not given."`
	form
}

type policyItem struct {
	Kind       string          `json:"kind"`
	Name       string          `json:"name"`
	Help       string          `json:"help"`
	Parameters []parameterItem `json:"parameters"`
	Open       *parameterItem  `json:"open_parameters"` // whose names the user makes up; null: none
}

type parameterItem struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases"`
	Type    string   `json:"type"`
	Default string   `json:"default"`
	Allowed string   `json:"allowed"`
	Help    string   `json:"help"`
}

// Run carries the command out.
func (p *policiesCmd) Run(c *console) error {
	items := []policyItem{}
	var names []string
	for _, t := range policy.Templates() {
		names = append(names, t.Name, string(t.Kind))
		if p.Name == "" || p.Name == t.Name || p.Name == string(t.Kind) {
			items = append(items, newPolicyItem(&t))
		}
	}
	if len(items) == 0 {
		return &inputError{fmt.Sprintf("unknown policy %q%s; blis policies lists all", p.Name, suggest.Hint(p.Name, names))}
	}
	return p.list(c, items, func(w io.Writer) {
		kind := ""
		for _, item := range items {
			if item.Kind != kind {
				kind = item.Kind
				fmt.Fprintf(w, "%s\n", strings.ToUpper(kind))
			}
			fmt.Fprintf(w, "  %s: %s\n", item.Name, item.Help)
			for _, q := range item.Parameters {
				fmt.Fprintf(w, "    %s\t%s\t%s (%s)\n", q.Name, q.Default, q.Help, q.Allowed)
			}
			if q := item.Open; q != nil {
				fmt.Fprintf(w, "    %s: {NAME: …}\t\t%s (%s)\n", q.Name, q.Help, q.Allowed)
			}
		}
	})
}

func newPolicyItem(t *policy.Template) policyItem {
	item := policyItem{string(t.Kind), t.Name, t.Help, []parameterItem{}, nil}
	for i := range t.Parameters {
		item.Parameters = append(item.Parameters, newParameterItem(&t.Parameters[i]))
	}
	if t.Open != nil {
		open := newParameterItem(t.Open)
		item.Open = &open
	}
	return item
}

func newParameterItem(q *policy.Parameter) parameterItem {
	return parameterItem{q.Name, append([]string{}, q.Aliases...), q.Type.String(), q.Default, q.Range(), q.Help}
}

// hardwareCmd is blis hardware.
type hardwareCmd struct{ form }

type hardwareItem struct {
	Name      string     `json:"name"`
	Aliases   []string   `json:"aliases"`
	BF16      float64    `json:"bf16_tflops"`
	FP8       float64    `json:"fp8_tflops"`
	Bandwidth float64    `json:"hbm_tb_per_s"`
	Memory    float64    `json:"memory_gib"`
	Link      float64    `json:"link_gb_per_s"`
	PCIe      float64    `json:"pcie_gb_per_s"`
	AllReduce [3]float64 `json:"all_reduce_us"`
	Tokens    int64      `json:"max_num_batched_tokens"`
	Seats     int64      `json:"max_num_seqs"`
	Source    string     `json:"source"`
}

// Run carries the command out.
func (h *hardwareCmd) Run(c *console) error {
	items := []hardwareItem{}
	for _, g := range latency.AllHardware() {
		tokens, seats := latency.DefaultLimits(&g)
		items = append(items, hardwareItem{
			Name: g.Name, Aliases: append([]string{}, g.Aliases...), BF16: round(g.BF16 / 1e12), FP8: round(g.FP8 / 1e12),
			Bandwidth: round(g.Bandwidth / 1e12), Memory: round(float64(g.Memory) / (1 << 30)), Link: round(g.Link / 1e9), PCIe: round(g.PCIe / 1e9),
			AllReduce: g.AllReduceLatency, Tokens: tokens, Seats: seats, Source: g.Source,
		})
	}
	return h.list(c, items, func(w io.Writer) {
		fmt.Fprintln(w, "GPU\tMEMORY\tBF16\tFP8\tBANDWIDTH\tLINK\tPCIE\tTOKENS/STEP\tSEATS\tALSO")
		for _, i := range items {
			fmt.Fprintf(w, "%s\t%.2f GiB\t%g TFLOPS\t%s\t%g TB/s\t%s\t%g GB/s\t%d\t%d\t%s\n", i.Name, i.Memory, i.BF16, orNone(i.FP8, "TFLOPS"),
				i.Bandwidth, orNone(i.Link, "GB/s"), i.PCIe, i.Tokens, i.Seats, strings.Join(i.Aliases, ", "))
		}
		fmt.Fprintln(w, "\nPeaks are dense, links one way. Others: --hardware-config FILE. Sources: --format json.")
	}, "PCIE", "LINK", "FP8", "TOKENS/STEP", "SEATS")
}

// orNone is a number with its unit, a dash for 0.
func orNone(x float64, unit string) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%g %s", x, unit)
}

// round takes off what the change of units added.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }
