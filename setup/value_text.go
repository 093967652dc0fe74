package setup

import (
	"reflect"
	"strconv"
	"strings"

	"blis/latency"
	"blis/vtime"
	"blis/yamldoc"
)

// scalars are the kinds of scalars that stand for a setting.
type scalars uint8

const (
	texts    scalars = 1 << iota // and what may be one: 1e5 is a name or a duration
	integers                     // whole numbers
	decimals                     // other numbers
	truths                       // true and false
)

// valueForm is how values of a type stand in a file.
type valueForm struct {
	of    reflect.Type
	want  string
	takes scalars
	list  func(n *yamldoc.Node) (text string, ok bool) // nil: no lists
}

// valueForms are those of types by name.
var valueForms = []valueForm{
	{reflect.TypeFor[RandomDuration](), "a duration like 40s, or 40s,cv=0.2", texts | integers, nil},
	{reflect.TypeFor[HealthCheck](), "probes like 5s,3,1", texts, nil},
	{reflect.TypeFor[vtime.Duration](), "a duration like 50ms, or a whole number of microseconds", texts | integers, nil},
	{reflect.TypeFor[latency.Bytes](), "an amount of memory like 1GB or 800MiB, or a whole number of bytes", texts | integers, nil},
	{reflect.TypeFor[latency.Rate](), "a rate like 50GB/s", texts, nil},
	{reflect.TypeFor[Bandwidth](), "a rate like 48GB/s", texts | integers | decimals, nil},
	{reflect.TypeFor[PullBandwidth](), "a rate like 35GB/s, or nvlink, pcie-peer or tcp", texts, nil},
	{reflect.TypeFor[PDRatio](), "a ratio like 1:3", texts, nil},
	{reflect.TypeFor[DeploymentList](), "the path of a file, or a list of deployments", texts, func(n *yamldoc.Node) (string, bool) { return n.Format(), true }},
	{reflect.TypeFor[NodePoolList](), "a list of node pools", texts, func(n *yamldoc.Node) (string, bool) { return n.Format(), true }},
	{reflect.TypeFor[StorageTiers](), "storage tiers like nvme,2TiB;remote, or a list of them", texts, tierList},
	{reflect.TypeFor[*bool](), "true or false", truths, nil},
}

// formOf returns the form of a type: its own, or that of its kind.
func formOf(t reflect.Type) valueForm {
	for _, f := range valueForms {
		if f.of == t {
			return f
		}
	}
	switch t.Kind() {
	case reflect.Slice:
		return valueForm{want: "a list of numbers like [1, 2.5, 3]", list: numberList}
	case reflect.String:
		return valueForm{want: "a string", takes: texts}
	case reflect.Bool:
		return valueForm{want: "true or false", takes: truths}
	}
	return valueForm{want: "a whole number", takes: integers}
}

// ValueText returns a value of a file as the text of a setting of type t. want says what
// it should have been when it is of another type, else it is empty.
func ValueText(n *yamldoc.Node, t reflect.Type) (text, want string) {
	if t == reflect.TypeFor[float64]() { // which may be written in ways that flags do not have
		x, ok := n.Float()
		if !ok {
			return "", "a number"
		}
		return strconv.FormatFloat(x, 'g', -1, 64), ""
	}
	form := formOf(t)
	if form.takes&scalarOf(n) != 0 {
		return n.Text, ""
	}
	if n.Kind == yamldoc.List && form.list != nil {
		if text, ok := form.list(n); ok {
			return text, ""
		}
	}
	return "", form.want
}

// scalarOf returns what a value is, 0 if it is no scalar.
func scalarOf(n *yamldoc.Node) scalars {
	switch {
	case n.Kind == yamldoc.String:
		return texts
	case n.Kind == yamldoc.Bool:
		return truths
	case n.Kind != yamldoc.Number:
		return 0
	case strings.Trim(n.Text, "-0123456789") == "":
		return integers
	case strings.ContainsAny(n.Text, "eE"):
		return texts | decimals
	}
	return decimals
}

// tierList joins the storage tiers of a list.
func tierList(list *yamldoc.Node) (text string, ok bool) {
	var parts []string
	for _, item := range list.Items {
		if item.Kind != yamldoc.String {
			return "", false
		}
		parts = append(parts, item.Text)
	}
	return strings.Join(parts, ";"), true
}

func numberList(list *yamldoc.Node) (text string, ok bool) {
	var parts []string
	for _, item := range list.Items {
		part, want := ValueText(item, reflect.TypeFor[float64]())
		if want != "" {
			return "", false
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ","), true
}
