package latency

import (
	"fmt"
	"strings"
)

// Unknown is the error for a name that is in no list.
type Unknown struct {
	Kind    string   // what was looked for: "model", "GPU", …
	Name    string   // what was asked for
	Nearest []string // names that are known and near, most alike first; may be empty
	Remedy  string   // what else the user can do
}

// Error names what is not known and what is.
func (e *Unknown) Error() string {
	text := fmt.Sprintf("unknown %s %q; ", e.Kind, e.Name)
	if len(e.Nearest) > 0 {
		text += fmt.Sprintf("nearest: %s; ", strings.Join(e.Nearest, ", "))
	}
	return text + e.Remedy
}
