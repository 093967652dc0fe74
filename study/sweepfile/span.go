package sweepfile

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"blis/setup"
	"blis/study"
	"blis/yamldoc"
)

// mostValues bounds the values of a span.
const mostValues = 1_000_000

// spanFields are the fields of a span. Without step and points it is the range of a sample.
var spanFields = []string{"from", "to", "step", "points", "scale"}

// isSpan reports whether a mapping is a span, and not labels.
func isSpan(n *yamldoc.Node) bool {
	return slices.ContainsFunc(n.Members, func(m yamldoc.Member) bool {
		return slices.Contains(spanFields, m.Name) && m.Value.Kind != yamldoc.Mapping
	})
}

// span is {from, to} with a step or a number of points.
type span struct {
	from, to, step float64
	points         int64
	log            bool
	whole          bool // the setting takes whole numbers only
}

func (d *document) readSpan(field string, a *study.Axis, n *yamldoc.Node) (places []yamldoc.Place, err error) {
	s := span{whole: isWhole(a.Name)}
	number := func(into *float64) func(string, *yamldoc.Node) error {
		return func(field string, n *yamldoc.Node) error {
			x, ok := n.Float()
			if !ok || math.IsNaN(x) || math.Abs(x) > 1e300 || s.whole && x != math.Floor(x) {
				return d.fault(placeOf(field, n), "%s: want a %s", n.Describe(), s.kind())
			}
			*into = x
			return nil
		}
	}
	err = d.members(field, n, map[string]func(string, *yamldoc.Node) error{
		"from": number(&s.from), "to": number(&s.to), "step": number(&s.step),
		"points": func(field string, n *yamldoc.Node) (err error) {
			s.points, err = d.whole(field, n)
			return err
		},
		"scale": func(field string, n *yamldoc.Node) error {
			if s.log = n.Text == "log"; !s.log && n.Text != "linear" {
				return d.fault(placeOf(field, n), "%s: want linear or log", n.Describe())
			}
			return nil
		},
	}, spanFields...)
	if err != nil {
		return nil, err
	}
	at := placeOf(field, n)
	values, problem := s.values(n)
	if problem != "" {
		return nil, d.fault(at, "%s", problem)
	}
	if values == nil {
		a.Range = &study.Range{From: s.from, To: s.to, Log: s.log, Whole: s.whole}
		return nil, nil
	}
	for _, text := range values {
		a.Values = append(a.Values, study.AxisValue{Value: json.RawMessage(text), Assign: []setup.Assignment{{Name: a.Name, Text: text}}})
		places = append(places, at)
	}
	return places, nil
}

func (s *span) kind() string {
	if s.whole {
		return "whole number, as the setting takes"
	}
	return "finite number"
}

// values are the numbers as text, none for the range of a sample; problem says what is
// wrong with the span.
func (s *span) values(n *yamldoc.Node) (list []string, problem string) {
	has := func(name string) bool { return n.Get(name) != nil }
	switch {
	case !has("from") || !has("to"):
		return nil, "want from and to, both ends included"
	case !(s.from < s.to):
		return nil, "to is " + text(s.to) + ": want more than from, " + text(s.from)
	case has("step") && has("points"):
		return nil, "has step and points: want one of them"
	case s.log && s.from <= 0:
		return nil, "from is " + text(s.from) + ": want more than 0 with scale log"
	case has("step") && s.log:
		return nil, "has step with scale log: want points"
	case has("step"):
		return s.byStep()
	case has("points"):
		return s.byPoints()
	}
	return nil, ""
}

func (s *span) byStep() (list []string, problem string) {
	n := math.Round((s.to - s.from) / s.step)
	switch {
	case !(s.step > 0):
		return nil, "step is " + text(s.step) + ": want more than 0"
	case !(n < mostValues):
		return nil, "more than " + strconv.Itoa(mostValues) + " values: want a larger step"
	case n < 1 || math.Abs(float64(n*s.step)-(s.to-s.from)) > float64(1e-9*s.step):
		return nil, "to − from is " + text(s.to-s.from) + ": want a multiple of step, " + text(s.step)
	}
	for i := range int(n) {
		list = append(list, text(s.from+float64(float64(i)*s.step)))
	}
	return append(list, text(s.to)), ""
}

func (s *span) byPoints() (list []string, problem string) {
	if s.points < 2 || s.points > mostValues {
		return nil, "points is " + strconv.FormatInt(s.points, 10) + ": want 2 to " + strconv.Itoa(mostValues)
	}
	for i := range s.points {
		share := float64(i) / float64(s.points-1)
		x := s.from + float64(share*(s.to-s.from))
		if s.log {
			x = float64(s.from * math.Exp(float64(share*math.Log(s.to/s.from))))
		}
		if s.whole {
			x = math.Round(x)
		}
		one := rounded(x)
		switch {
		case i == 0:
			one = text(s.from)
		case i == s.points-1:
			one = text(s.to)
		}
		if len(list) > 0 && list[len(list)-1] == one {
			return nil, "has " + one + " twice: want fewer points"
		}
		list = append(list, one)
	}
	return list, ""
}

// text is a number as a person writes it; sums of a step lose their last digits.
func text(x float64) string {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// rounded keeps six digits: logarithms differ in the last ones between machines.
func rounded(x float64) string {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	return text(x)
}

// isWhole reports whether a setting takes whole numbers only.
func isWhole(name string) bool {
	c := setup.DefaultConfig()
	for s := range c.Settings() {
		if s.Name == name {
			return s.Value.CanInt() || s.Value.CanUint()
		}
	}
	return false
}
