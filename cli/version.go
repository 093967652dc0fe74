package cli

import (
	"fmt"
	"runtime/debug"

	"blis/latency"
)

// versionCmd is blis version.
type versionCmd struct{ form }

// version says which program computed a result: what the result is a function
// of beside configuration and seed.
type version struct {
	Commit   string `json:"commit"`   // unknown where the build had no repository, as in go run and tests
	Modified bool   `json:"modified"` // files differed from the commit
	Data     string `json:"data"`     // date of the shipped coefficients, models and GPUs
}

// thisVersion reads what the build wrote into the binary.
func thisVersion() version {
	v := version{Commit: "unknown", Data: latency.DataDate}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// Run carries the command out.
func (f *versionCmd) Run(c *console) error {
	v := thisVersion()
	if f.Format == "json" {
		return printJSON(c.out, v)
	}
	commit := v.Commit
	if v.Modified {
		commit += ", with changes"
	}
	_, err := fmt.Fprintf(c.out, "blis, commit %s\ndata of %s (coefficients, models, GPUs)\n", commit, v.Data)
	return err
}
