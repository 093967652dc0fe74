package setup

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blis/latency"
	"blis/vtime"
	"blis/yamldoc"
)

// ValueText returns a value of a file as the text of a setting of type t. want says what
// it should have been when it is of another type, else it is empty.
func ValueText(n *yamldoc.Node, t reflect.Type) (text, want string) {
	number := n.Kind == yamldoc.Number
	integer := number && strings.Trim(n.Text, "-0123456789") == ""
	isText := n.Kind == yamldoc.String || number && strings.ContainsAny(n.Text, "eE") // 1e5 may be a name or a duration
	switch {
	case t == reflect.TypeFor[RandomDuration]():
		want = "a duration like 40s, or 40s,cv=0.2"
		if isText || integer {
			return n.Text, ""
		}
	case t == reflect.TypeFor[HealthCheck]():
		want = "probes like 5s,3,1"
		if isText {
			return n.Text, ""
		}
	case t == reflect.TypeFor[vtime.Duration]():
		want = "a duration like 50ms, or a whole number of microseconds"
		if isText || integer {
			return n.Text, ""
		}
	case t == reflect.TypeFor[latency.Bytes]():
		want = "an amount of memory like 1GB or 800MiB, or a whole number of bytes"
		if isText || integer {
			return n.Text, ""
		}
	case t == reflect.TypeFor[Bandwidth]():
		want = "a rate like 48GB/s"
		if isText || number {
			return n.Text, ""
		}
	case t == reflect.TypeFor[PullBandwidth]():
		want = "a rate like 35GB/s, or nvlink, pcie-peer or tcp"
		if isText {
			return n.Text, ""
		}
	case t == reflect.TypeFor[DeploymentList]():
		want = "the path of a file, or a list of deployments"
		if isText {
			return n.Text, ""
		}
		if n.Kind == yamldoc.List {
			return n.Format(), ""
		}
	case t == reflect.TypeFor[StorageTiers]():
		want = "storage tiers like nvme,2TiB;remote, or a list of them"
		if isText {
			return n.Text, ""
		}
		if n.Kind == yamldoc.List && !slices.ContainsFunc(n.Items, func(item *yamldoc.Node) bool { return item.Kind != yamldoc.String }) {
			var parts []string
			for _, item := range n.Items {
				parts = append(parts, item.Text)
			}
			return strings.Join(parts, ";"), ""
		}
	case t.Kind() == reflect.Slice:
		want = "a list of numbers like [1, 2.5, 3]"
		if n.Kind == yamldoc.List {
			return numberList(n, want)
		}
	case t.Kind() == reflect.String:
		want = "a string"
		if isText {
			return n.Text, ""
		}
	case t.Kind() == reflect.Bool, t == reflect.TypeFor[*bool]():
		want = "true or false"
		if n.Kind == yamldoc.Bool {
			return n.Text, ""
		}
	case t.Kind() == reflect.Float64:
		want = "a number"
		if x, ok := n.Float(); ok {
			return strconv.FormatFloat(x, 'g', -1, 64), ""
		}
	default:
		want = "a whole number"
		if integer {
			return n.Text, ""
		}
	}
	return "", want
}

func numberList(list *yamldoc.Node, want string) (text, problem string) {
	var parts []string
	for _, item := range list.Items {
		part, bad := ValueText(item, reflect.TypeFor[float64]())
		if bad != "" {
			return "", want
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ","), ""
}
