package cluster

import (
	"crypto/rand"
	"encoding/hex"
	"strings"

	"blis/study/pointlog"
)

// Subjects that every coordinator listens on.
const (
	helloSubject  = "BLIS.hello"  // a worker asks for a job
	statusSubject = "BLIS.status" // anybody with a credential asks how far the sweep is
)

// workerInbox begins the subjects on which workers get answers, coordinatorInbox those
// of coordinators. Each client adds a name of its own.
const (
	workerInbox      = "BLIS.inbox.worker"
	coordinatorInbox = "BLIS.inbox.coordinator"
)

// consumerName is the pull consumer that all workers share, of points and of checks.
const consumerName = "workers"

// sweepID names a sweep on the server: its streams and subjects.
type sweepID string

func (id sweepID) pointsStream() string  { return "BLIS_" + string(id) + "_POINTS" }
func (id sweepID) checksStream() string  { return "BLIS_" + string(id) + "_CHECKS" }
func (id sweepID) resultsStream() string { return "BLIS_" + string(id) + "_RESULTS" }
func (id sweepID) bucket() string        { return "BLIS_" + string(id) + "_INPUTS" }

func (id sweepID) subject(kind string) string { return "BLIS." + string(id) + "." + kind }

// Kinds of subjects of a sweep. Those that carry points and rows end with the key.
const (
	kindPoint  = "point"  // a point to run
	kindCheck  = "check"  // a point to run once more
	kindResult = "result" // the row of a point
	kindAgain  = "again"  // the row of a check
	kindAlive  = "alive"  // a worker says that it is there
	kindEnd    = "end"    // the sweep has ended
)

// keySubject is the subject of a kind for a key.
func (id sweepID) keySubject(kind string, key pointlog.Key) string {
	return id.subject(kind) + "." + key.String()
}

// parseSubject takes the subject of a key apart.
func parseSubject(subject string) (kind string, key pointlog.Key, err error) {
	at := strings.LastIndexByte(subject, '.')
	kind = subject[:max(at, 0)]
	kind = kind[strings.LastIndexByte(kind, '.')+1:]
	key, err = pointlog.ParseKey(subject[at+1:])
	return kind, key, err
}

// randomName is a name that nobody else has.
func randomName() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
