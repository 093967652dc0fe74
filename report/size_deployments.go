package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"blis/report/plaintext"
	"blis/study"
)

// SizeDeployments is the fewest instances of the pools of deployments, with what was asked.
type SizeDeployments struct {
	*study.SizedDeployments
	SizeOf study.Sizing
}

// last is the answer for the pool that was sized last, nil if there is none.
func (d *SizeDeployments) last() *Capacity {
	if d.Last == nil {
		return nil
	}
	return &Capacity{CapacityResult: d.Last, Asked: d.Asked}
}

// Text implements Document: the sizes in sentences, the table of pools, and how to repeat the
// decisive runs.
func (d *SizeDeployments) Text(w io.Writer, style plaintext.Style) error {
	var b strings.Builder
	t := &capacityText{Writer: plaintext.NewWriter(&b, style), of: d.last()}
	if t.of != nil {
		t.what()
	}
	if d.Partial {
		t.Line("PARTIAL", d.partialText())
	}
	t.Line("size", d.headline())
	if t.of == nil {
		t.Gap()
	} else {
		d.claims(t)
		d.table(t)
		d.commands(t)
		d.warnings(t)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// partialText says what is known of a search that was interrupted.
func (d *SizeDeployments) partialText() string {
	if d.Factor == 0 {
		return "interrupted: no numbers are known that keep the SLOs"
	}
	times := "the numbers of the file"
	if d.Factor > 1 {
		times = fmt.Sprintf("%d times %s", d.Factor, times)
	}
	return "interrupted, and not certified: the pools that are missing have " + times
}

// headline is the answer in a line.
func (d *SizeDeployments) headline() string {
	if d.Factor == 0 && d.Partial {
		return "not known"
	}
	if d.Factor == 0 {
		return fmt.Sprintf("no multiple of the deployments of the file keeps the SLOs with up to %s", plaintext.Plural(int64(d.SizeOf.MaxGPUs), "GPU"))
	}
	var parts []string
	for i := range d.Pools {
		parts = append(parts, fmt.Sprintf("%s %d", d.Pools[i].Name, d.Pools[i].Instances))
	}
	text := plaintext.Plural(int64(d.GPUs), "GPU") + ": " + strings.Join(parts, ", ")
	if d.Price != nil {
		text += fmt.Sprintf("; %s per hour", plaintext.Decimal(d.Price, 2))
	}
	if !d.Certified() {
		return "NOT CERTIFIED: " + text
	}
	return text
}

// claims says what is claimed of the sizes, and what is not in it.
func (d *SizeDeployments) claims(t *capacityText) {
	defer t.Gap()
	if d.Partial {
		return
	}
	if !d.Certified() {
		t.sentence("Some ends could not be certified: want more --max-windows.")
		return
	}
	var slos []string
	for i := range d.Asked.SLOs {
		slos = append(slos, sloText(&d.Asked.SLOs[i]))
	}
	keep, end := strings.Join(slos, ", "), d.Last.Holds
	if d.Last.Exact {
		t.sentence(fmt.Sprintf("So many keep %s; with one instance less of any of them it is not kept. The requests are the same every time, so this is exact for them. It says nothing of others.", keep))
	} else {
		t.sentence(fmt.Sprintf("With these at least %s windows of %s requests%s meet %s. With one instance less of any of them fewer do.", shareText(d.Asked.Share), plaintext.Grouped(end.Requests), t.windowText(), keep))
		wrong := float64(100 * (1 - d.SizeOf.Search.Confidence))
		t.sentence(fmt.Sprintf("The chance that any of this is wrong is at most %s %%.", strconv.FormatFloat(wrong, 'g', 3, 64)))
	}
	t.sentence(t.errorText())
}

// table shows the pools, and what one instance less of each misses.
func (d *SizeDeployments) table(t *capacityText) {
	head := []string{"", "instances", "GPUs"}
	for i := range d.Asked.SLOs {
		head = append(head, measureText(d.Asked.SLOs[i].Measure.Name)+", one less")
	}
	rows := []string{strings.Join(head, "\t")}
	for i := range d.Pools {
		p := &d.Pools[i]
		cells := []string{p.Name, fmt.Sprint(p.Instances), plaintext.Grouped(int64(p.GPUs))}
		for j := range d.Asked.SLOs {
			value := "–"
			if fails := p.Answer.Fails; fails != nil && fails.Windows > 0 && int(fails.Value) == p.Instances-1 {
				value = sloValue(&d.Asked.SLOs[j], fails.Measured[j])
			}
			cells = append(cells, value)
		}
		rows = append(rows, strings.Join(cells, "\t"))
	}
	fmt.Fprint(t, plaintext.Columns(strings.Join(rows, "\n")+"\n", t.Width))
	t.Gap()
}

// warnings say where more instances did not serve better.
func (d *SizeDeployments) warnings(t *capacityText) {
	for i := range d.Pools {
		for _, pair := range d.Pools[i].Answer.Contradictions {
			t.Line("warning", fmt.Sprintf("%s: the search found that %g do not hold and %g do: more instances are not always better here", d.Pools[i].Name, pair[0], pair[1]))
		}
	}
}

// commands repeat a window with the sizes, and one with one instance less of each pool.
func (d *SizeDeployments) commands(t *capacityText) {
	last := d.last()
	if holds := last.Holds; holds != nil && holds.Decisive != nil {
		t.command("repeat", last.repeat(holds), "a window that passes")
	}
	for i := range d.Pools {
		p := &d.Pools[i]
		if fails := p.Answer.Fails; fails != nil && fails.Decisive != nil {
			t.command("repeat", last.repeat(fails), fmt.Sprintf("a window with %s %s that does not", p.Name, strconv.FormatFloat(fails.Value, 'f', -1, 64)))
		}
	}
}

// sizeDeploymentsJSON is the JSON result of blis size with deployments, in its order.
type sizeDeploymentsJSON struct {
	Schema  string `json:"schema"`
	Partial bool   `json:"partial"`

	SLOs        []capacitySLO `json:"slos"`
	Share       float64       `json:"share"`
	Confidence  float64       `json:"confidence"`
	MaxGPUs     int           `json:"max_gpus"`
	Certified   bool          `json:"certified"`
	Exact       bool          `json:"exact"`
	Pools       []sizedPool   `json:"pools"`
	GPUs        int           `json:"gpus"`
	CostPerHour *float64      `json:"cost_per_hour"`
}

type sizedPool struct {
	Name      string       `json:"setting"`
	Instances int          `json:"instances"`
	GPUs      int          `json:"gpus"`
	Outcome   string       `json:"outcome"`
	Holds     *capacityEnd `json:"holds"`
	Fails     *capacityEnd `json:"fails"`
}

// JSON implements Document: docs/size-deployments.schema.json describes it.
func (d *SizeDeployments) JSON(w io.Writer) error {
	search := &d.SizeOf.Search
	j := &sizeDeploymentsJSON{
		Schema: "blis.size-deployments/v1", Partial: d.Partial, SLOs: []capacitySLO{}, Share: search.Share, Confidence: search.Confidence, MaxGPUs: d.SizeOf.MaxGPUs,
		Certified: d.Certified(), Exact: d.Last != nil && d.Last.Exact, Pools: []sizedPool{}, GPUs: d.GPUs, CostPerHour: d.Price,
	}
	for i := range search.SLOs {
		j.SLOs = append(j.SLOs, newCapacitySLO(&search.SLOs[i]))
	}
	for i := range d.Pools {
		p := &d.Pools[i]
		c := &Capacity{CapacityResult: p.Answer, Asked: d.Asked}
		j.Pools = append(j.Pools, sizedPool{p.Name, p.Instances, p.GPUs, string(p.Answer.Outcome), newCapacityEnd(c, p.Answer.Holds), newCapacityEnd(c, p.Answer.Fails)})
	}
	return writeObject(w, j)
}
