package html

import (
	"fmt"
	"math"
)

// The heat map has at most so many cells. More bins or instances are grouped, and a cell
// shows the worst of its group.
const (
	mostColumns = 400
	mostRows    = 128
)

// heatMap is instances over time, coloured by one of some measures.
type heatMap struct {
	Kind    string      `json:"kind"` // heat
	ID      string      `json:"id"`
	Group   string      `json:"group"`
	Step    float64     `json:"step"` // seconds of a column
	Columns int         `json:"columns"`
	End     float64     `json:"end"` // of the run, in seconds
	Rows    []string    `json:"rows"`
	Of      int         `json:"of"` // instances of a row, at most
	Layers  []heatLayer `json:"layers"`
}

// heatLayer is a measure. A cell is a number from 0 to 4094 for the highest value, 4095 where the
// instance did not exist, in two characters of base64.
type heatLayer struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Share bool    `json:"share,omitempty"`
	Full  float64 `json:"full"` // the value of the highest number
	Cells string  `json:"cells"`
}

const (
	cellMax  = 4094
	noCell   = 4095
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
)

// heat is the map, without the layers in which nothing happened.
func (t *instanceTimes) heat(id, group string) *heatMap {
	perColumn, perRow := (t.bins+mostColumns-1)/mostColumns, (len(t.list)+mostRows-1)/mostRows
	h := &heatMap{Kind: "heat", ID: id, Group: group, Step: t.step * float64(perColumn), Columns: (t.bins + perColumn - 1) / perColumn, End: t.end, Of: perRow, Rows: []string{}, Layers: []heatLayer{}}
	for i := 0; i < len(t.list); i += perRow {
		last := min(i+perRow, len(t.list)) - 1
		label := clean(t.list[i].name, mostShown)
		if last > i {
			label += " to " + clean(t.list[last].name, mostShown) + fmt.Sprintf(" (worst of %d)", last-i+1)
		}
		h.Rows = append(h.Rows, label)
	}
	all := measures()
	for i := range all {
		if m := &all[i]; !m.summed {
			if layer := t.layer(m, perColumn, perRow); layer.Full > 0 {
				h.Layers = append(h.Layers, layer)
			}
		}
	}
	return h
}

func (t *instanceTimes) layer(m *measure, perColumn, perRow int) heatLayer {
	var cells []float64
	largest := 0.0
	for i := 0; i < len(t.list); i += perRow {
		var rows [][]float64
		for k := i; k < min(i+perRow, len(t.list)); k++ {
			rows = append(rows, t.of(&t.list[k], m, "mean"))
		}
		for _, x := range merge(across(rows, t.bins, most), perColumn, most) {
			if !math.IsNaN(x) {
				largest = max(largest, x)
			}
			cells = append(cells, x)
		}
	}
	layer := heatLayer{Name: m.title, Unit: m.unit, Share: m.share, Full: largest}
	coded := make([]byte, 0, 2*len(cells))
	for _, x := range cells {
		c := noCell
		if !math.IsNaN(x) && largest > 0 {
			c = int(math.Round(min(1, max(0, x/largest)) * cellMax))
		}
		coded = append(coded, alphabet[c>>6], alphabet[c&63])
	}
	layer.Cells = string(coded)
	return layer
}
