package report

import (
	"fmt"
	"io"
	"strings"

	"blis/latency"
	"blis/report/plaintext"
)

// modelText writes the text of a model.
type modelText struct{ plaintext.Writer }

// JSON implements Document.
func (m *Model) JSON(w io.Writer) error { return WriteIndented(w, m) }

// Text implements Document: size and shape, what a token costs, what fits on the
// GPU, and what is not modelled.
func (m *Model) Text(w io.Writer, s plaintext.Style) error {
	var b strings.Builder
	t := modelText{plaintext.NewWriter(&b, s)}
	t.shape(m)
	t.costs(m)
	t.room(m)
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *modelText) shape(m *Model) {
	t.Line("model", m.Model)
	if m.Source != "config.json" { // else the model is named by its file
		t.Line("source", m.Source)
	}
	size := plaintext.Magnitude(float64(m.Parameters), "") + " parameters"
	if m.Active != m.Parameters {
		size += fmt.Sprintf(", %s of them in use for a token (embeddings included)", plaintext.Magnitude(float64(m.Active), ""))
	}
	t.Line("size", size)
	shape := fmt.Sprintf("%s layers, hidden %s, vocabulary %s", plaintext.Grouped(m.Layers), plaintext.Grouped(m.Hidden), plaintext.Grouped(m.Vocabulary))
	if m.MaxPosition > 0 {
		shape += fmt.Sprintf(", context of %s tokens", plaintext.Grouped(m.MaxPosition))
	}
	t.Line("shape", shape)
	t.Line("attention", attentionText(&m.Attention, m.Layers))
	t.Line("MLP", mlpText(&m.MLP, m.Layers))
	t.Line("widths", widthsText(&m.Widths))
	t.Gap()
}

// attentionText describes the heads, and the sliding window if there is one.
func attentionText(a *modelAttention, layers int64) string {
	text := headsText(a)
	if a.WindowLayers > 0 {
		text += fmt.Sprintf("; %s of the %s layers see the last %s tokens", plaintext.Grouped(a.WindowLayers), plaintext.Grouped(layers), plaintext.Grouped(a.Window))
	}
	return text
}

func headsText(a *modelAttention) string {
	if a.Kind != latency.Latent {
		return fmt.Sprintf("%s: %s of %s on %s", a.Kind, plaintext.Plural(a.Heads, "head"), plaintext.Grouped(a.HeadDim), plaintext.Plural(a.KVHeads, "KV head"))
	}
	from := fmt.Sprintf("from a vector of %s for keys and values, queries directly", plaintext.Grouped(a.LatentRank))
	if a.QueryRank > 0 {
		from = fmt.Sprintf("from a vector of %s for queries and one of %s for keys and values", plaintext.Grouped(a.QueryRank), plaintext.Grouped(a.LatentRank))
	}
	return fmt.Sprintf("%s: %s of %s + %s (without and with position), values of %s, %s; %s + %s numbers cached per token and layer",
		a.Kind, plaintext.Plural(a.Heads, "head"), plaintext.Grouped(a.NopeDim), plaintext.Grouped(a.RopeDim), plaintext.Grouped(a.ValueDim), from, plaintext.Grouped(a.LatentRank), plaintext.Grouped(a.RopeDim))
}

func mlpText(m *modelMLP, layers int64) string {
	kind := "gated, 3 matrices"
	if m.Matrices == 2 {
		kind = "plain, 2 matrices"
	}
	if m.Experts == 0 {
		return fmt.Sprintf("%s of width %s", kind, plaintext.Grouped(m.Intermediate))
	}
	text := fmt.Sprintf("%s; %s of width %s, %s per token", kind, plaintext.Plural(m.Experts, "expert"), plaintext.Grouped(m.ExpertIntermediate), plaintext.Grouped(m.ActiveExperts))
	if m.SharedIntermediate > 0 {
		text += fmt.Sprintf(" and shared ones of width %s in all", plaintext.Grouped(m.SharedIntermediate))
	}
	if m.DenseLayers > 0 {
		text += fmt.Sprintf("; %s of the %s layers dense, of width %s", plaintext.Grouped(m.DenseLayers), plaintext.Grouped(layers), plaintext.Grouped(m.Intermediate))
	}
	return text
}

func widthsText(w *modelWidths) string {
	text := partText("weights", partWidths{w.WeightBits, w.ScaleBits, w.ActivationBits})
	if w.MLP != nil {
		text += "; " + partText("those of MLPs", *w.MLP)
	}
	if w.Experts != nil {
		text += "; " + partText("those of experts", *w.Experts)
	}
	if w.MLP != nil || w.Experts != nil {
		text += ";"
	} else {
		text += ","
	}
	text += fmt.Sprintf(" KV cache %d, embeddings %d", 8*w.KVElementBytes, 8*w.ElementBytes)
	if w.Tied {
		return text + ", tied to the head"
	}
	return text
}

// partText is "weights 4 bits and 0.25 of scales, activations 16".
func partText(weights string, w partWidths) string {
	text := fmt.Sprintf("%s %d bits", weights, w.WeightBits)
	if w.ScaleBits > 0 {
		text += fmt.Sprintf(" and %s of scales", plaintext.Significant(w.ScaleBits))
	}
	return text + fmt.Sprintf(", activations %d", w.ActivationBits)
}

func (t *modelText) costs(m *Model) {
	p := &m.PerToken
	t.Line("a token", fmt.Sprintf("%s in the layers, %s in the head, where it yields the next one", plaintext.Magnitude(float64(p.Layers), "FLOP"), plaintext.Magnitude(float64(p.Head), "FLOP")))
	key := plaintext.Magnitude(float64(p.PrefillKey), "FLOP") + " for each key that it attends to"
	if p.PrefillKey != p.DecodeKey {
		key = fmt.Sprintf("%s for each key that it attends to in prefill, %s in decode", plaintext.Magnitude(float64(p.PrefillKey), "FLOP"), plaintext.Magnitude(float64(p.DecodeKey), "FLOP"))
	}
	t.Line("", key)
	t.Line("", fmt.Sprintf("%s of KV cache (%s bytes)", plaintext.Memory(float64(p.KVBytes)), plaintext.Grouped(p.KVBytes)))
	w := &m.Weights
	read := fmt.Sprintf("%s, of which a step reads %s", plaintext.Memory(float64(w.Resident)), plaintext.Memory(w.StreamedOne))
	if w.StreamedOne != w.StreamedMany {
		read += fmt.Sprintf(" for one token, %s for %s", plaintext.Memory(w.StreamedMany), plaintext.Grouped(w.Many))
	}
	t.Line("weights", read)
	t.Gap()
}

// room says how much KV cache there is on how many GPUs.
func (t *modelText) room(m *Model) {
	t.Line("GPU", fmt.Sprintf("%s: %s, %.4g %% for the engine, %v of it for activations; blocks of %s tokens",
		m.GPU.Name, plaintext.Memory(float64(m.GPU.Memory)), 100*m.Utilization, latency.Bytes(m.Activations), plaintext.Grouped(m.BlockSize)))
	t.Line("", m.GPU.Source)
	t.Gap()
	widths := []int{4, 16, 16, 14, 14}
	row := func(cells ...string) {
		for i, cell := range cells {
			fmt.Fprintf(t, " %*s", widths[i]-1, cell)
		}
		t.Gap()
	}
	row("TP", "weights/GPU", "KV/token", "KV blocks", "tokens")
	for _, c := range m.Capacity {
		switch {
		case c.Problem != "":
			row(fmt.Sprint(c.TP), "–", "–", "–", "–")
		case c.Blocks == nil:
			row(fmt.Sprint(c.TP), plaintext.Memory(float64(c.WeightBytesPerGPU)), plaintext.Memory(float64(c.KVBytesPerToken)), "does not fit", "–")
		default:
			row(fmt.Sprint(c.TP), plaintext.Memory(float64(c.WeightBytesPerGPU)), plaintext.Memory(float64(c.KVBytesPerToken)), plaintext.Grouped(*c.Blocks), plaintext.Grouped(*c.Tokens))
		}
	}
	t.notes(m)
}

// notes says what keeps the model from being split or from fitting, and what is
// not modelled of it.
func (t *modelText) notes(m *Model) {
	var lines [][2]string
	for _, c := range m.Capacity {
		label := fmt.Sprintf("TP %d", c.TP)
		switch {
		case c.Problem != "":
			lines = append(lines, [2]string{label, "not possible: " + c.Problem})
		case c.TP == m.TP && c.Blocks == nil:
			lines = append(lines, [2]string{label, fmt.Sprintf("does not fit: %s are needed for weights, activations and one KV block, there are %s; %s",
				plaintext.Memory(float64(*c.Needed)), plaintext.Memory(float64(*c.Available)), remedy(m))})
		}
	}
	for _, text := range m.NotModelled {
		lines = append(lines, [2]string{"note", text})
	}
	if lines != nil {
		t.Gap()
	}
	for _, l := range lines {
		t.Line(l[0], l[1])
	}
}

// remedy is how many GPUs would do.
func remedy(m *Model) string {
	if m.SmallestTP == nil {
		return "no number of these GPUs would do"
	}
	return fmt.Sprintf("%d of these GPUs would do (--tp %d)", *m.SmallestTP, *m.SmallestTP)
}
