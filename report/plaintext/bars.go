package plaintext

import (
	"slices"
	"strings"
)

// Sparkline draws values as a row of bars, neighbours joined by their maximum to
// fit the width, and returns the largest.
func Sparkline(values []int64, width int) (line string, most int64) {
	bars := []rune("▁▂▃▄▅▆▇█")
	per := (len(values) + width - 1) / width
	var joined []int64
	for i, v := range values {
		if i%per == 0 {
			joined = append(joined, 0)
		}
		joined[len(joined)-1] = max(joined[len(joined)-1], v)
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range joined {
		b.WriteRune(bars[v*int64(len(bars)-1)/max(1, most)])
	}
	return b.String(), most
}

// Histogram draws counts as columns of up to rows rows: the largest has full
// height, and only 0 has no mark. The first row is the top.
func Histogram(counts []int64, rows int) []string {
	eighths := []rune(" ▁▂▃▄▅▆▇█")
	most := max(1, slices.Max(counts))
	drawn := make([]strings.Builder, rows)
	for _, n := range counts {
		height := int(float64(n) / float64(most) * float64(8*rows))
		if n > 0 {
			height = max(1, height)
		}
		for i := range drawn {
			below := 8 * (rows - 1 - i)
			drawn[i].WriteRune(eighths[min(max(height-below, 0), 8)])
		}
	}
	var lines []string
	for i := range drawn {
		lines = append(lines, strings.TrimRight(drawn[i].String(), " "))
	}
	return lines
}

// Bar draws a count as a horizontal bar: the largest count is columns wide, and
// none is without a mark.
func Bar(n, most int64, columns int) string {
	eighths := []rune("▏▎▍▌▋▊▉█")
	width := max(1, int(float64(n)/float64(most)*8*float64(columns)))
	text := strings.Repeat("█", width/8)
	if rest := width % 8; rest > 0 {
		text += string(eighths[rest-1])
	}
	return text
}
