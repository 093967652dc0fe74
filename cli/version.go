package cli

import (
	"fmt"

	"blis/report"
)

// versionCmd is blis version.
type versionCmd struct{ form }

// Run carries the command out.
func (f *versionCmd) Run(c *console) error {
	v := report.CurrentVersion()
	if f.Format == "json" {
		return report.WriteIndented(c.out, v)
	}
	commit := v.Commit
	if v.Modified {
		commit += ", with changes"
	}
	_, err := fmt.Fprintf(c.out, "blis, commit %s\ndata of %s (coefficients, models, GPUs)\n", commit, v.Data)
	return err
}
