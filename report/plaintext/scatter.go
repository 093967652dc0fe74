package plaintext

import (
	"math"
	"strings"
)

// Dot is a point of a Scatter.
type Dot struct {
	X, Y   float64
	Marked bool // drawn above others
}

// Scatter draws points as rows of text, Y upwards; both axes begin and end with the
// smallest and largest value, which it returns. A place with several points has one sign.
func Scatter(dots []Dot, columns, rows int) (lines []string, x, y [2]float64) {
	x, y = [2]float64{math.Inf(1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(-1)}
	for _, d := range dots {
		x[0], x[1] = min(x[0], d.X), max(x[1], d.X)
		y[0], y[1] = min(y[0], d.Y), max(y[1], d.Y)
	}
	grid := make([][]rune, rows)
	for i := range grid {
		grid[i] = []rune(strings.Repeat(" ", columns))
	}
	place := func(v float64, ends [2]float64, n int) int {
		if ends[1] == ends[0] {
			return 0
		}
		return int(math.Round((v - ends[0]) / (ends[1] - ends[0]) * float64(n-1)))
	}
	for _, d := range dots {
		at := &grid[rows-1-place(d.Y, y, rows)][place(d.X, x, columns)]
		switch {
		case d.Marked:
			*at = '●'
		case *at == ' ':
			*at = '·'
		}
	}
	for _, line := range grid {
		lines = append(lines, strings.TrimRight(string(line), " "))
	}
	return lines, x, y
}
