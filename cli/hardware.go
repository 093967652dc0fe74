package cli

import (
	"fmt"
	"io"
	"math"
	"strings"

	"blis/latency"
)

// hardwareCmd is blis hardware.
type hardwareCmd struct{ form }

type hardwareItem struct {
	Name      string     `json:"name"`
	Aliases   []string   `json:"aliases"`
	BF16      float64    `json:"bf16_tflops"`
	FP8       float64    `json:"fp8_tflops"`
	FP4       float64    `json:"fp4_tflops"`
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
			Name: g.Name, Aliases: append([]string{}, g.Aliases...), BF16: round(g.BF16 / 1e12), FP8: round(g.FP8 / 1e12), FP4: round(g.FP4 / 1e12),
			Bandwidth: round(g.Bandwidth / 1e12), Memory: round(float64(g.Memory) / (1 << 30)), Link: round(g.Link / 1e9), PCIe: round(g.PCIe / 1e9),
			AllReduce: g.AllReduceLatency, Tokens: tokens, Seats: seats, Source: g.Source,
		})
	}
	return h.list(c, items, func(w io.Writer) {
		fmt.Fprintln(w, "GPU\tMEMORY\tBF16\tFP8\tFP4\tBANDWIDTH\tLINK\tPCIE\tTOKENS/STEP\tSEATS\tALSO")
		for _, i := range items {
			fmt.Fprintf(w, "%s\t%.2f GiB\t%g TFLOPS\t%s\t%s\t%g TB/s\t%s\t%g GB/s\t%d\t%d\t%s\n", i.Name, i.Memory, i.BF16, orNone(i.FP8, "TFLOPS"),
				orNone(i.FP4, "TFLOPS"), i.Bandwidth, orNone(i.Link, "GB/s"), i.PCIe, i.Tokens, i.Seats, strings.Join(i.Aliases, ", "))
		}
		fmt.Fprintln(w, "\nPeaks are dense, links one way. Others: --hardware-config FILE. Sources: --format json.")
	}, "PCIE", "LINK", "FP4", "FP8", "TOKENS/STEP", "SEATS")
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
