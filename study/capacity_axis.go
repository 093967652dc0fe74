package study

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"blis/actors"
	"blis/setup"
	"blis/study/certify"
	"blis/suggest"
)

// SearchAxis is the setting over which a capacity is searched, with the values to try.
type SearchAxis struct {
	// Name is of the setting: rate, concurrency, num-instances, prefill-replicas, decode-replicas
	// or tp; replicas of a deployment are chat/replicas, chat/prefill-replicas or
	// chat/decode-replicas.
	Name string
	// Values are in order of load: the lightest for the cluster first. These are the lowest
	// rates, or the most instances.
	Values []float64
}

// axisNames are the settings that can be searched.
var axisNames = []string{"rate", "concurrency", "num-instances", "prefill-replicas", "decode-replicas", "tp"}

// Supply reports whether the axis is what serves: more of it is lighter.
func (a *SearchAxis) Supply() bool {
	return a.Name == "num-instances" || a.Name == "tp" || strings.HasSuffix(a.Name, "replicas")
}

// deployment returns the deployment whose replicas the axis is, and the setting of its number.
func (a *SearchAxis) deployment() (id, setting string, found bool) {
	return strings.Cut(a.Name, "/")
}

// ParseSearchAxis reads "rate=20..600", "num-instances=1..64" or "tp=1,2,4,8". Rates between the ends
// lie apart by at most the precision. The error says what is wrong.
func ParseSearchAxis(text string, precision float64) (SearchAxis, error) {
	bad := func(format string, args ...any) (SearchAxis, error) {
		return SearchAxis{}, &actors.InputError{Text: "--over: " + fmt.Sprintf(format, args...)}
	}
	name, list, ok := strings.Cut(strings.TrimSpace(text), "=")
	if !ok {
		return bad("%q: want a setting and its range, like rate=20..600", text)
	}
	_, setting, ofDeployment := strings.Cut(name, "/")
	switch {
	case ofDeployment && !slices.Contains(deploymentAxes, setting):
		return bad("%q: want replicas, prefill-replicas or decode-replicas of a deployment, like chat/replicas", name)
	case !ofDeployment && !slices.Contains(axisNames, name):
		return bad("%q is none of %s%s", name, strings.Join(axisNames, ", "), suggest.Hint(name, axisNames))
	}
	if !(precision > 0 && precision <= 0.5) {
		return bad("precision %v: want from above 0 to 0.5", precision)
	}
	a := SearchAxis{Name: name}
	from, to, isRange := strings.Cut(list, "..")
	if !isRange {
		for part := range strings.SplitSeq(list, ",") {
			x, err := a.number(part)
			if err != nil {
				return bad("%v", err)
			}
			a.Values = append(a.Values, x)
		}
		slices.Sort(a.Values)
		if n := len(a.Values); len(slices.Compact(slices.Clone(a.Values))) < n {
			return bad("%s: a value is given twice", text)
		}
	} else if err := a.span(from, to, precision); err != nil {
		return bad("%v", err)
	}
	if a.Supply() {
		slices.Reverse(a.Values)
	}
	return a, nil
}

// deploymentAxes are the settings of a deployment that can be searched.
var deploymentAxes = []string{"replicas", "prefill-replicas", "decode-replicas"}

// mostRungs is the largest number of values of an axis.
const mostRungs = 1 << 20

// span fills a range.
func (a *SearchAxis) span(from, to string, precision float64) error {
	low, err := a.number(from)
	if err != nil {
		return err
	}
	high, err := a.number(to)
	switch {
	case err != nil:
		return err
	case low > high:
		return fmt.Errorf("%s..%s: want the lower end first", from, to)
	case a.Name == "tp":
		return fmt.Errorf("tp=%s..%s: want a list, like tp=1,2,4,8", from, to)
	case a.Name == "rate":
		a.Values = certify.Geometric(low, high, precision)
		return nil
	case a.Name == "concurrency": // of many users a few do not matter
		for _, x := range certify.Geometric(low, high, precision) {
			a.Values = append(a.Values, math.Round(x))
		}
		a.Values = slices.Compact(a.Values)
		return nil
	case high-low >= mostRungs:
		return fmt.Errorf("%s..%s: want at most %d values", from, to, mostRungs)
	}
	for x := low; x <= high; x++ {
		a.Values = append(a.Values, x)
	}
	return nil
}

// number reads one value.
func (a *SearchAxis) number(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if a.Name == "rate" {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x >= 1e-3 && x <= 1e9) {
			return 0, fmt.Errorf("rate %q: want requests per second, from 0.001 to 1e9", text)
		}
		return x, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if most := int64(setup.MostInstances); err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%s %q: want a whole number from 1 to %d", a.Name, text, most)
	}
	return float64(n), nil
}

// check refuses a number of instances that a configuration does not have.
func (a *SearchAxis) check(c *setup.Config) error {
	bad := func(format string, args ...any) error {
		return &actors.InputError{Text: fmt.Sprintf("--over "+a.Name+": "+format, args...)}
	}
	id, setting, ofDeployment := a.deployment()
	ofPool := a.Name == "prefill-replicas" || a.Name == "decode-replicas"
	switch {
	case ofDeployment && c.Deployments.Empty():
		return bad("want --deployments, with a deployment %s", id)
	case ofDeployment:
		one := *c
		return setup.SetReplicas(&one, id, setting, 1)
	case !c.Deployments.Empty() && a.Supply():
		return bad("each deployment has its own: want one of them, like %s", strings.Join(setup.ReplicaSettings(c), ", "))
	case ofPool && !c.Disaggregates():
		return bad("want --architecture pd")
	case a.Name == "num-instances" && c.Disaggregates() && c.PDRatio == setup.PDRatio{}:
		return bad("want --pd-ratio, which shares them between prefill and decode, or prefill-replicas or decode-replicas")
	case a.Name == "num-instances" && c.Disaggregates() && a.Values[len(a.Values)-1] < 2:
		return bad("want at least 2, an instance of each pool")
	}
	return nil
}

// apply gives a configuration a value of the axis, which check has let pass.
func (a *SearchAxis) apply(c *setup.Config, x float64) {
	if id, setting, ofDeployment := a.deployment(); ofDeployment {
		if err := setup.SetReplicas(c, id, setting, int(x)); err != nil {
			panic(err) // it was set once
		}
		return
	}
	switch a.Name {
	case "rate":
		c.Rate = x
	case "concurrency":
		c.Concurrency = int32(x)
	case "num-instances":
		c.NumInstances = int(x)
	case "prefill-replicas":
		c.PrefillReplicas = int(x)
	case "decode-replicas":
		c.DecodeReplicas = int(x)
	case "tp":
		c.TP = int(x)
	}
}

// load is the rate that a value asks of a cluster of so many instances, to compare with its
// capacity; 0 where that is not known.
func (a *SearchAxis) load(x float64, base *setup.Config, instances int) float64 {
	switch a.Name {
	case "rate":
		return x
	case "num-instances":
		return float64(base.Rate / x * float64(instances))
	}
	return 0
}

// Value is a value as its flag has it.
func (a *SearchAxis) Value(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Text is "rate 138" or "tp 4", of the value with this index.
func (a *SearchAxis) Text(i int) string { return a.Name + " " + a.Value(a.Values[i]) }
