package html

import (
	"fmt"
	"math"
	"strings"
)

// plot is a chart of SVG that needs no script: places are in percent, so that it fits any
// width while its text keeps its size. Colours are classes, so that they follow the theme.
type plot struct {
	x, y           axis
	xTitle, yTitle string // HTML
	xText, yText   func(float64) string
	marks          strings.Builder
	label          string // what one sees, for those who do not
}

// write writes the chart: the title of y, then a grid of its labels, the area, and the
// labels of x.
func (p *plot) write(s *sheet) {
	s.printf("<div class=\"xy\" role=\"img\" aria-label=\"%s\"><div class=\"yt\">%s</div>\n<svg class=\"ya\" aria-hidden=\"true\">", escaped(p.label), p.yTitle)
	xs, ys := p.x.ticks(6), p.y.ticks(5)
	text := func(f func(float64) string, x float64, all []float64) string {
		if f != nil {
			return f(x)
		}
		return tickText(x, all)
	}
	for _, y := range ys {
		s.printf(`<text x="100%%" y="%s" dx="-6" dy="4" text-anchor="end">%s</text>`, pc(100-p.y.at(y)), text(p.yText, y, ys))
	}
	s.body.WriteString("</svg>\n<svg class=\"area\" aria-hidden=\"true\">")
	for _, x := range xs {
		s.printf(`<line class="grid" x1="%[1]s" x2="%[1]s" y1="0" y2="100%%"/>`, pc(p.x.at(x)))
	}
	for _, y := range ys {
		s.printf(`<line class="grid" x1="0" x2="100%%" y1="%[1]s" y2="%[1]s"/>`, pc(100-p.y.at(y)))
	}
	s.body.WriteString(p.marks.String())
	s.body.WriteString("</svg>\n<svg class=\"xa\" aria-hidden=\"true\">")
	for i, x := range xs {
		narrow := ""
		if i%2 == 1 && len(xs) > 4 {
			narrow = ` class="wide"` // left out where there is no room
		}
		s.printf(`<text x="%s" y="16" text-anchor="middle"%s>%s</text>`, pc(p.x.at(x)), narrow, text(p.xText, x, xs))
	}
	s.printf("</svg><div class=\"xt\">%s</div></div>\n", p.xTitle)
}

// line is a straight line.
func (p *plot) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&p.marks, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, pc(p.x.at(x1)), pc(100-p.y.at(y1)), pc(p.x.at(x2)), pc(100-p.y.at(y2)))
}

// dot is a circle with a text that shows when one points at it.
func (p *plot) dot(class string, x, y, radius float64, text string) {
	fmt.Fprintf(&p.marks, `<circle class="%s" cx="%s" cy="%s" r="%g"><title>%s</title></circle>`, class, pc(p.x.at(x)), pc(100-p.y.at(y)), radius, text)
}

// text is a label at a point, above and to the right of it.
func (p *plot) text(x, y float64, html string) {
	anchor, dx := "start", 7
	if p.x.at(x) > 80 {
		anchor, dx = "end", -7
	}
	fmt.Fprintf(&p.marks, `<text x="%s" y="%s" dx="%d" dy="-6" text-anchor="%s">%s</text>`, pc(p.x.at(x)), pc(100-p.y.at(y)), dx, anchor, html)
}

// bar is a strip with a bar from 0 or between two values.
func bar(class string, a axis, from, to float64) string {
	if math.IsNaN(from) || math.IsNaN(to) {
		return ""
	}
	x1, x2 := a.at(min(from, to)), a.at(max(from, to))
	return fmt.Sprintf(`<svg class="strip" aria-hidden="true"><rect class="%s" x="%s" width="%s" y="4" height="10"/></svg>`, class, pc(x1), pc(math.Round(100*(x2-x1))/100))
}

// whisker is a strip with a mean and its interval, over a line where the baseline is.
func whisker(class string, a axis, mean, half, baseline float64) string {
	if math.IsNaN(mean) {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<svg class="strip" aria-hidden="true"><line class="grid" x1="0" x2="100%" y1="9" y2="9"/>`)
	if !math.IsNaN(baseline) {
		fmt.Fprintf(&b, `<line class="base" x1="%[1]s" x2="%[1]s" y1="0" y2="18"/>`, pc(a.at(baseline)))
	}
	if !math.IsNaN(half) {
		low, high := pc(a.at(mean-half)), pc(a.at(mean+half))
		fmt.Fprintf(&b, `<line class="%[1]s half" x1="%[2]s" x2="%[3]s" y1="9" y2="9"/><line class="%[1]s end" x1="%[2]s" x2="%[2]s" y1="5" y2="13"/><line class="%[1]s end" x1="%[3]s" x2="%[3]s" y1="5" y2="13"/>`, class, low, high)
	}
	fmt.Fprintf(&b, `<circle class="%s" cx="%s" cy="9" r="4.5"/></svg>`, class, pc(a.at(mean)))
	return b.String()
}
