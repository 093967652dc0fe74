package report

import (
	"runtime/debug"

	"blis/latency"
)

// Version says which program computed a result: what the result is a function
// of beside configuration and seed.
type Version struct {
	Commit   string `json:"commit"`   // unknown where the build had no repository, as in go run and tests
	Modified bool   `json:"modified"` // files differed from the commit
	Data     string `json:"data"`     // date of the shipped coefficients, models and GPUs
}

// CurrentVersion reads what the build wrote into the binary. In a program of
// another module the commit is the version of the module blis.
func CurrentVersion() Version {
	v := Version{Commit: "unknown", Data: latency.DataDate}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Path != module {
		for _, m := range info.Deps {
			if m.Path == module && m.Version != "" && m.Replace == nil {
				v.Commit = m.Version
			}
		}
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

// module is the path of this module.
const module = "blis"
