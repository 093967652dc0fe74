package latency

import (
	"fmt"
	"strings"
)

// Unknown is the error for a name that is in no list.
type Unknown struct {
	Kind    string   // what was looked for: "model", "GPU", …
	Name    string   // what was asked for
	Nearest []string // names that are known, most alike first
	Remedy  string   // what else the user can do
}

// Error names what is not known and what is.
func (e *Unknown) Error() string {
	return fmt.Sprintf("unknown %s %q; nearest: %s; %s", e.Kind, e.Name, strings.Join(e.Nearest, ", "), e.Remedy)
}
