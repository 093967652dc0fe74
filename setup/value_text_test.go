package setup

import (
	"reflect"
	"strings"
	"testing"

	"blis/latency"
	"blis/vtime"
	"blis/yamldoc"
)

// Which values of a file each type takes, and as which text; "-" is none.
func TestValueText(t *testing.T) {
	values := []string{"word", "12", "2.5", "1e5", "true", "[1, 2.5]", "[a, b]", "{a: 1}"}
	for _, c := range []struct {
		of   reflect.Type
		want string // of each value
	}{
		{reflect.TypeFor[RandomDuration](), "word 12 - 1e5 - - - -"},
		{reflect.TypeFor[HealthCheck](), "word - - 1e5 - - - -"},
		{reflect.TypeFor[vtime.Duration](), "word 12 - 1e5 - - - -"},
		{reflect.TypeFor[latency.Bytes](), "word 12 - 1e5 - - - -"},
		{reflect.TypeFor[Bandwidth](), "word 12 2.5 1e5 - - - -"},
		{reflect.TypeFor[PullBandwidth](), "word - - 1e5 - - - -"},
		{reflect.TypeFor[PDRatio](), "word - - 1e5 - - - -"},
		{reflect.TypeFor[DeploymentList](), "word - - 1e5 - list list -"},
		{reflect.TypeFor[NodePoolList](), "word - - 1e5 - list list -"},
		{reflect.TypeFor[StorageTiers](), "word - - 1e5 - - a;b -"},
		{reflect.TypeFor[[]float64](), "- - - - - 1,2.5 - -"},
		{reflect.TypeFor[string](), "word - - 1e5 - - - -"},
		{reflect.TypeFor[bool](), "- - - - true - - -"},
		{reflect.TypeFor[*bool](), "- - - - true - - -"},
		{reflect.TypeFor[float64](), "- 12 2.5 100000 - - - -"},
		{reflect.TypeFor[int32](), "- 12 - - - - - -"},
	} {
		for i, want := range strings.Fields(c.want) {
			n, err := yamldoc.Read("f", []byte(values[i]), deploymentLimits)
			if err != nil {
				t.Fatal(err)
			}
			got, wrong := ValueText(n, c.of)
			switch {
			case want == "-":
				if wrong == "" || got != "" {
					t.Errorf("%s takes %s as %q", c.of, values[i], got)
				}
			case wrong != "" || want != "list" && got != want || got == "":
				t.Errorf("%s takes %s as %q (%s), want %s", c.of, values[i], got, wrong, want)
			}
		}
	}
}
