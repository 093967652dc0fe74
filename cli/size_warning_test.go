package cli

import (
	"bytes"
	"testing"

	"blis/actors"
)

// TestFaultF8ManyInstancesAreWarnedOf: what idle instances cost is said before
// the run, where it is half a gigabyte and more.
func TestFaultF8ManyInstancesAreWarnedOf(t *testing.T) {
	for _, c := range []struct {
		instances int
		want      string
	}{
		{19_999, ""},
		{100_000, "blis: warning: 100,000 instances need about 2.8 GB of memory and 4 s of processor time before they serve anybody\n"},
		{1 << 20, "blis: warning: 1,048,576 instances need about 29.4 GB of memory and 42 s of processor time before they serve anybody\n"},
	} {
		var said bytes.Buffer
		cfg := actors.DefaultConfig()
		cfg.NumInstances = c.instances
		(&console{err: &said}).warnOfSize(&cfg)
		if said.String() != c.want {
			t.Errorf("%d instances: %q, want %q", c.instances, said.String(), c.want)
		}
	}
}
