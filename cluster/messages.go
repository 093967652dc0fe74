package cluster

import (
	"encoding/json"
	"time"

	"blis/study/pointlog"
)

// job is what a worker needs to know of a sweep.
type job struct {
	ID         sweepID       `json:"id"`
	Engine     Engine        `json:"engine"`
	Definition string        `json:"definition"` // SHA-256 of its text
	Inputs     []Input       `json:"inputs"`
	AckWait    time.Duration `json:"ack_wait"` // after which a point that nobody reports on is delivered again
	Ready      bool          `json:"ready"`    // points are published; if not, they soon will be
	Ended      bool          `json:"ended"`    // nothing is left to do
}

// Input is a file that points read.
type Input struct {
	Path   string `json:"path"`   // as the definition names it
	SHA256 string `json:"sha256"` // of its content, in hexadecimal digits
}

// order is the message of a point or check.
type order struct {
	Index int64  `json:"index"`         // of the point in the sweep
	Not   string `json:"not,omitempty"` // the worker who may not run this check: it ran the point
}

// alive is what a worker says of itself now and then.
type alive struct {
	host
	Cores  int   `json:"cores"`
	Points int64 `json:"points"` // results that it has published
}

// hostHeader is the header of a result that says where it comes from.
const hostHeader = "Blis-Host"

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // of our own types, which have no such values
	}
	return text
}

// result is a row that came from a worker.
type result struct {
	kind string // kindResult or kindAgain
	row  pointlog.Row
	from host
}
