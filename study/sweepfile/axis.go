package sweepfile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"blis/bundle"
	"blis/input"
	"blis/setup"
	"blis/study"
	"blis/yamldoc"
)

func (d *document) readAxes(n *yamldoc.Node) error {
	if n.Kind != yamldoc.Mapping {
		return d.fault(placeOf("axes", n), "%s: want a mapping from settings to their values", n.Describe())
	}
	for i := range n.Members {
		if err := d.readAxis(&n.Members[i]); err != nil {
			return err
		}
	}
	return nil
}

// readAxis reads one of the four forms: a list, a span, a range of a sample, labels.
func (d *document) readAxis(m *yamldoc.Member) error {
	field := "axes." + m.Name
	a := study.Axis{Name: m.Name}
	at := axisPlaces{axis: yamldoc.Place{Field: field, Line: m.Line, Column: m.Column}}
	unknown := setup.CheckName(m.Name)
	var err error
	switch n := m.Value; {
	case n.Kind == yamldoc.List && unknown != nil && !explicit(n):
		return d.fault(at.axis, "%s", strings.TrimPrefix(unknown.Error(), m.Name+": "))
	case n.Kind == yamldoc.List:
		a.Labels = unknown != nil
		at.values, err = d.readList(field, &a, n)
	case n.Kind == yamldoc.Mapping && isSpan(n):
		if unknown != nil {
			return d.fault(at.axis, "%s", strings.TrimPrefix(unknown.Error(), m.Name+": "))
		}
		at.values, err = d.readSpan(field, &a, n)
	case n.Kind == yamldoc.Mapping:
		a.Labels = true
		at.values, err = d.readLabels(field, &a, n)
	default:
		return d.fault(placeOf(field, n), "%s: want a list of values, {from, to, step}, or labels with settings", n.Describe())
	}
	d.sweep.Axes, d.axes = append(d.sweep.Axes, a), append(d.axes, at)
	return err
}

// explicit reports whether a list has values with their settings, as a lock has.
func explicit(n *yamldoc.Node) bool {
	return len(n.Items) > 0 && n.Items[0].Kind == yamldoc.Mapping
}

// readList reads values, each a scalar, or {value, set} with its settings.
func (d *document) readList(field string, a *study.Axis, n *yamldoc.Node) (places []yamldoc.Place, err error) {
	for i, item := range n.Items {
		at := placeOf(field, item).Item(i, item.Line)
		at.Column = item.Column
		var v study.AxisValue
		if item.Kind == yamldoc.Mapping {
			v, err = d.readExplicit(at, item)
		} else {
			v, err = d.readValue(at, a.Name, item)
		}
		if err != nil {
			return nil, err
		}
		a.Values, places = append(a.Values, v), append(places, at)
	}
	return places, nil
}

// readValue reads the value of a setting, or the argument that stands for a bundle.
func (d *document) readValue(at yamldoc.Place, name string, n *yamldoc.Node) (v study.AxisValue, err error) {
	if v.Value, err = d.scalar(at, n); err != nil {
		return v, err
	}
	one, err := d.assignment(at, name, n)
	v.Assign = []setup.Assignment{one}
	return v, err
}

// scalar is a value as results show it. A list of numbers is its text.
func (d *document) scalar(at yamldoc.Place, n *yamldoc.Node) (json.RawMessage, error) {
	switch n.Kind {
	case yamldoc.Number:
		if json.Valid([]byte(n.Text)) {
			return json.RawMessage(n.Text), nil
		}
		return nil, d.fault(at, "%s: want a finite number", n.Describe())
	case yamldoc.Bool:
		return json.RawMessage(n.Text), nil
	case yamldoc.String, yamldoc.List:
		text, err := d.text(at, n)
		if err != nil {
			return nil, err
		}
		return json.Marshal(text)
	}
	return nil, d.fault(at, "%s: want a value, as the flag takes it", n.Describe())
}

// text is a value as its flag reads it.
func (d *document) text(at yamldoc.Place, n *yamldoc.Node) (string, error) {
	switch n.Kind {
	case yamldoc.Number, yamldoc.Bool, yamldoc.String:
		return n.Text, nil
	case yamldoc.List:
		var parts []string
		for _, item := range n.Items {
			if item.Kind != yamldoc.Number {
				return "", d.fault(at, "%s in a list: want numbers", item.Describe())
			}
			parts = append(parts, item.Text)
		}
		return strings.Join(parts, ","), nil
	}
	return "", d.fault(at, "%s: want a value, as the flag takes it", n.Describe())
}

// assignment gives a setting the value of a node.
func (d *document) assignment(at yamldoc.Place, name string, n *yamldoc.Node) (one setup.Assignment, err error) {
	one.Name = name
	if name != setup.PoliciesSetting {
		one.Text, err = d.text(at, n)
		return one, err
	}
	var b bundle.Bundle
	switch n.Kind {
	case yamldoc.Mapping:
		b, err = bundle.Parse(d.path, []byte(n.Format()))
	case yamldoc.String:
		b, err = d.bundle(n.Text)
	default:
		return one, d.fault(at, "%s: want a bundle: a file, the name of a routing policy, or a mapping", n.Describe())
	}
	if err != nil {
		return one, d.fault(at, "%v", err)
	}
	one.Policies = &b
	return one, nil
}

// bundle is the bundle of an argument; a file beside the sweep file counts first.
func (d *document) bundle(argument string) (bundle.Bundle, error) {
	if !filepath.IsAbs(argument) {
		beside := filepath.Join(filepath.Dir(d.path), argument)
		if _, err := os.Stat(beside); err == nil && filepath.Ext(argument) == ".star" {
			return d.Bundle(beside)
		}
		if text, err := input.ReadFile(beside, input.Bundle); err == nil {
			return bundle.Parse(beside, text)
		}
	}
	return d.Bundle(argument)
}

// readLabels reads labels, each with the settings that it stands for.
func (d *document) readLabels(field string, a *study.Axis, n *yamldoc.Node) (places []yamldoc.Place, err error) {
	for i := range n.Members {
		m := &n.Members[i]
		at := yamldoc.Place{Field: field + "." + m.Name, Line: m.Line, Column: m.Column}
		label, err := json.Marshal(m.Name)
		if err != nil {
			return nil, d.fault(at, "%v", err)
		}
		v := study.AxisValue{Value: label}
		if v.Assign, err = d.settings(at, m.Value); err != nil {
			return nil, err
		}
		a.Values, places = append(a.Values, v), append(places, at)
	}
	return places, nil
}

// settings reads a mapping from settings to values.
func (d *document) settings(at yamldoc.Place, n *yamldoc.Node) (list []setup.Assignment, err error) {
	if n.Kind != yamldoc.Mapping {
		return nil, d.fault(at, "%s: want settings, like {hardware: H100, tp: 1}", n.Describe())
	}
	for i := range n.Members {
		m := &n.Members[i]
		inside := yamldoc.Place{Field: at.Field + "." + m.Name, Line: m.Line, Column: m.Column}
		if err := setup.CheckName(m.Name); err != nil {
			return nil, d.fault(inside, "%s", strings.TrimPrefix(err.Error(), m.Name+": "))
		}
		inside.Line, inside.Column = m.Value.Line, m.Value.Column
		one, err := d.assignment(inside, m.Name, m.Value)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// readExplicit reads {value, set}: how results show a value, and what it means.
func (d *document) readExplicit(at yamldoc.Place, n *yamldoc.Node) (v study.AxisValue, err error) {
	value, set := n.Get("value"), n.Get("set")
	if value == nil || set == nil || len(n.Members) != 2 {
		return v, d.fault(at, "a mapping: want a value as the flag takes it, or {value: NAME, set: {SETTING: VALUE}}")
	}
	if v.Value, err = d.scalar(at, value); err != nil {
		return v, err
	}
	v.Assign, err = d.settings(at, set)
	return v, err
}
