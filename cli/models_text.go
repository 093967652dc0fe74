package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"blis/latency"
)

// writeModel prints a model for a person: its size and shape, what a token
// costs, what fits on the GPU, and what is not modelled of it.
func writeModel(w io.Writer, m *modelShown, look style) error {
	var b strings.Builder
	t := newTextWriter(&b, look)
	t.shape(m)
	t.costs(m)
	t.room(m)
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *textWriter) shape(m *modelShown) {
	t.line("model", m.Model)
	if m.Source != "config.json" { // else the model is named by its file
		t.line("source", m.Source)
	}
	size := magnitude(float64(m.Parameters), "") + " parameters"
	if m.Active != m.Parameters {
		size += fmt.Sprintf(", %s of them in use for a token (embeddings included)", magnitude(float64(m.Active), ""))
	}
	t.line("size", size)
	shape := fmt.Sprintf("%s layers, hidden %s, vocabulary %s", grouped(m.Layers), grouped(m.Hidden), grouped(m.Vocabulary))
	if m.MaxPosition > 0 {
		shape += fmt.Sprintf(", context of %s tokens", grouped(m.MaxPosition))
	}
	t.line("shape", shape)
	t.line("attention", attentionText(&m.Attention))
	t.line("MLP", mlpText(&m.MLP, m.Layers))
	t.line("widths", widthsText(&m.Widths))
	t.gap()
}

func attentionText(a *attentionShown) string {
	if a.Kind != latency.Latent {
		return fmt.Sprintf("%s: %s of %s on %s", a.Kind, plural(a.Heads, "head"), grouped(a.HeadDim), plural(a.KVHeads, "KV head"))
	}
	from := fmt.Sprintf("from a vector of %s for keys and values, queries directly", grouped(a.LatentRank))
	if a.QueryRank > 0 {
		from = fmt.Sprintf("from a vector of %s for queries and one of %s for keys and values", grouped(a.QueryRank), grouped(a.LatentRank))
	}
	return fmt.Sprintf("%s: %s of %s + %s (without and with position), values of %s, %s; %s + %s numbers cached per token and layer",
		a.Kind, plural(a.Heads, "head"), grouped(a.NopeDim), grouped(a.RopeDim), grouped(a.ValueDim), from, grouped(a.LatentRank), grouped(a.RopeDim))
}

func mlpText(m *mlpShown, layers int64) string {
	kind := "gated, 3 matrices"
	if m.Matrices == 2 {
		kind = "plain, 2 matrices"
	}
	if m.Experts == 0 {
		return fmt.Sprintf("%s of width %s", kind, grouped(m.Intermediate))
	}
	text := fmt.Sprintf("%s; %s of width %s, %s per token", kind, plural(m.Experts, "expert"), grouped(m.ExpertIntermediate), grouped(m.ActiveExperts))
	if m.SharedIntermediate > 0 {
		text += fmt.Sprintf(" and shared ones of width %s in all", grouped(m.SharedIntermediate))
	}
	if m.DenseLayers > 0 {
		text += fmt.Sprintf("; %s of the %s layers dense, of width %s", grouped(m.DenseLayers), grouped(layers), grouped(m.Intermediate))
	}
	return text
}

func widthsText(w *widthsShown) string {
	text := fmt.Sprintf("weights %d bits", w.WeightBits)
	if w.ScaleBits > 0 {
		text += fmt.Sprintf(" and %s of scales", significant(w.ScaleBits))
	}
	text += fmt.Sprintf(", activations %d, KV cache %d, embeddings %d", w.ActivationBits, 8*w.KVElementBytes, 8*w.ElementBytes)
	if w.Tied {
		return text + ", tied to the head"
	}
	return text
}

func (t *textWriter) costs(m *modelShown) {
	p := &m.PerToken
	t.line("a token", fmt.Sprintf("%s in the layers, %s in the head, where it yields the next one", magnitude(float64(p.Layers), "FLOP"), magnitude(float64(p.Head), "FLOP")))
	key := magnitude(float64(p.PrefillKey), "FLOP") + " for each key that it attends to"
	if p.PrefillKey != p.DecodeKey {
		key = fmt.Sprintf("%s for each key that it attends to in prefill, %s in decode", magnitude(float64(p.PrefillKey), "FLOP"), magnitude(float64(p.DecodeKey), "FLOP"))
	}
	t.line("", key)
	t.line("", fmt.Sprintf("%s of KV cache (%s bytes)", binary(float64(p.KVBytes)), grouped(p.KVBytes)))
	w := &m.Weights
	read := fmt.Sprintf("%s, of which a step reads %s", binary(float64(w.Resident)), binary(w.StreamedOne))
	if w.StreamedOne != w.StreamedMany {
		read += fmt.Sprintf(" for one token, %s for %s", binary(w.StreamedMany), grouped(w.Many))
	}
	t.line("weights", read)
	t.gap()
}

// room says how much KV cache there is on how many GPUs.
func (t *textWriter) room(m *modelShown) {
	t.line("GPU", fmt.Sprintf("%s: %s, %.4g %% for the engine, %v of it for activations; blocks of %s tokens",
		m.GPU.Name, binary(float64(m.GPU.Memory)), 100*m.Utilization, latency.Bytes(m.Activations), grouped(m.BlockSize)))
	t.line("", m.GPU.Source)
	t.gap()
	widths := []int{4, 16, 16, 14, 14}
	row := func(cells ...string) {
		for i, cell := range cells {
			io.WriteString(t.w, strings.Repeat(" ", max(1, widths[i]-utf8.RuneCountInString(cell)))+cell)
		}
		t.gap()
	}
	row("TP", "weights/GPU", "KV/token", "KV blocks", "tokens")
	for _, c := range m.Capacity {
		switch {
		case c.Problem != "":
			row(fmt.Sprint(c.TP), "–", "–", "–", "–")
		case c.Blocks == nil:
			row(fmt.Sprint(c.TP), binary(float64(c.WeightBytesPerGPU)), binary(float64(c.KVBytesPerToken)), "does not fit", "–")
		default:
			row(fmt.Sprint(c.TP), binary(float64(c.WeightBytesPerGPU)), binary(float64(c.KVBytesPerToken)), grouped(*c.Blocks), grouped(*c.Tokens))
		}
	}
	t.notes(m)
}

// notes says what keeps the model from being split or from fitting, and what is
// not modelled of it.
func (t *textWriter) notes(m *modelShown) {
	var lines [][2]string
	for _, c := range m.Capacity {
		label := fmt.Sprintf("TP %d", c.TP)
		switch {
		case c.Problem != "":
			lines = append(lines, [2]string{label, "not possible: " + c.Problem})
		case c.TP == m.TP && c.Blocks == nil:
			lines = append(lines, [2]string{label, fmt.Sprintf("does not fit: %s are needed for weights, activations and one KV block, there are %s; %s",
				binary(float64(*c.Needed)), binary(float64(*c.Available)), remedy(m))})
		}
	}
	for _, text := range m.NotModelled {
		lines = append(lines, [2]string{"note", text})
	}
	if lines != nil {
		t.gap()
	}
	for _, l := range lines {
		t.line(l[0], l[1])
	}
}

// remedy is how many GPUs would do.
func remedy(m *modelShown) string {
	if m.SmallestTP == nil {
		return "no number of these GPUs would do"
	}
	return fmt.Sprintf("%d of these GPUs would do (--tp %d)", *m.SmallestTP, *m.SmallestTP)
}

// plural is a number of things.
func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(n) + " " + thing + "s"
}

// magnitude prints a large number with three digits and a prefix of its unit.
// Without one it is a count, in words that are the same in many languages.
func magnitude(x float64, unit string) string {
	prefixes, space := []string{"", "k", "M", "G", "T", "P", "E"}, " "
	if unit == "" {
		prefixes, space = []string{"", " thousand", " million", " billion", " trillion"}, ""
	}
	i := 0
	for ; x >= 1000 && i+1 < len(prefixes); i++ {
		x /= 1000
	}
	return significant(x) + space + prefixes[i] + unit
}

// binary prints an amount of memory with three digits.
func binary(bytes float64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for ; bytes >= 1000 && i+1 < len(units); i++ {
		bytes /= 1024
	}
	return significant(bytes) + " " + units[i]
}
