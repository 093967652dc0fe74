package measured

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blis/input/textio"
	"blis/vtime"
)

// Run is one measured run of one serving engine: how the engine was set up and
// what was sent. The requests are read by Load.
type Run struct {
	ID     string
	Model  string // as a model hub names it
	GPU    string // as the source names it; empty: the source does not say
	TP     int    // tensor parallel degree, at least 1; 0: a Client does not say
	Engine string // "vLLM 0.15.1"

	// DataParallel is the number of schedulers that share the requests, at
	// least 1. A run with more is not a run of one instance.
	DataParallel int

	// Limits of the engine; 0 where the source does not say, to be derived.
	MaxNumSeqs          int32
	MaxNumBatchedTokens int32
	MaxModelLen         int32
	BlockSize           int32 // tokens
	KVBlocks            int64 // usable ones, without vLLM's null block

	PrefixCaching   bool
	ChunkedPrefill  bool
	AsyncScheduling *bool // nil: the source does not say
	// ReserveFullISL: a request is admitted only if the KV of its whole prompt
	// fits. Where the source does not say, vLLM does so from 0.19 on.
	ReserveFullISL bool
	CPUOffloadGiB  float64 // KV offloaded to host memory, 0: none

	// What was sent, as far as the source says.
	Profile            string
	SystemPromptTokens int // that several prompts share
	QuestionTokens     int
	OutputTokens       int
	Stages             []Stage // one after the other

	// Client: a load generator wrote the requests, and says nothing of the server.
	Client bool
	// Notes count requests that were left out, and say why.
	Notes []string

	// Rows and Completed are how many requests the source says there are and
	// how many of them did not fail, −1 where it does not say. Load holds the
	// requests to it.
	Rows, Completed int

	// Requests in order of arrival, nil until Load. They are the caller's, to
	// change or to drop.
	Requests []Request

	file string                          // of the requests
	read func(string) ([]Request, error) // their reader
}

// Stage is a stretch of a run with one rate.
type Stage struct {
	Rate     float64 // requests per second, above 0
	Duration vtime.Duration
}

// Request is one request of a run.
type Request struct {
	Arrival vtime.Time // after the first arrival of the run
	Input   int32      // tokens of the prompt; may be 0 when Failed
	Prompt  int32      // equal numbers are equal prompts; −1: like no other
	Output  int32      // tokens: what was generated, or was to be when Failed
	TTFT    vtime.Duration
	E2E     vtime.Duration
	Failed  bool // then TTFT and E2E are 0

	// Times of the engine, if HasEngineTimes: after the first queueing of the
	// run. That clock is not the one of Arrival, and the distance of the two
	// origins is not known.
	Queued, Scheduled, FirstToken, LastToken vtime.Time
	HasEngineTimes                           bool
}

// Load reads the requests of the run, all anew each time it is called. It is an
// error if there are not as many as the source says.
func (r *Run) Load() error {
	if r.read == nil {
		return fmt.Errorf("run %q: no file of requests: want a run that ReadRuns returned", r.ID)
	}
	list, err := r.read(r.file)
	if err != nil {
		return err
	}
	if r.Rows >= 0 && len(list) != r.Rows {
		return fmt.Errorf("%s: %d requests: want %d, as its description says", r.file, len(list), r.Rows)
	}
	completed := 0
	for i := range list {
		if !list[i].Failed {
			completed++
		}
	}
	if r.Completed >= 0 && completed != r.Completed {
		return fmt.Errorf("%s: %d requests that did not fail: want %d, as its description says", r.file, completed, r.Completed)
	}
	r.Requests = list
	return nil
}

// arrange brings requests into order of arrival, equal arrivals as they stand in
// the file, and moves time 0 to the first.
func arrange(list []Request) {
	slices.SortStableFunc(list, func(a, b Request) int { return cmp.Compare(a.Arrival, b.Arrival) })
	for i := len(list) - 1; i >= 0; i-- {
		list[i].Arrival -= list[0].Arrival
	}
}

// parseStages reads "5x600;10x600": requests per second, times seconds. An empty
// text is no stages.
func parseStages(text string) ([]Stage, bool) {
	if text == "" {
		return nil, true
	}
	var list []Stage
	for part := range strings.SplitSeq(text, ";") {
		rate, seconds, _ := strings.Cut(part, "x")
		r, ok := decimal(strings.TrimSpace(rate), 1e9)
		us, fits := textio.Scaled(strings.TrimSpace(seconds), 6, latest)
		if !ok || !fits || r == 0 || us == 0 {
			return nil, false
		}
		list = append(list, Stage{Rate: r, Duration: vtime.Duration(us)})
	}
	return list, true
}

// reservesFullISL reports whether an engine reserves KV for whole prompts by
// default.
func reservesFullISL(engine string) bool { return since(engine, 0, 19) }

// schedulesAsync reports whether an engine forms a batch while the one before
// runs by default.
func schedulesAsync(engine string) bool { return since(engine, 0, 14) }

// since reports whether an engine, as "vLLM 0.15.1", is vLLM of at least a
// version.
func since(engine string, major, minor int) bool {
	name, version, _ := strings.Cut(engine, " ")
	if !strings.EqualFold(name, "vLLM") {
		return false
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	a, errA := strconv.Atoi(first)
	b, errB := strconv.Atoi(leadingDigits(rest))
	return errA == nil && errB == nil && (a > major || a == major && b >= minor)
}

// leadingDigits is "19" of "19.0rc1".
func leadingDigits(text string) string {
	for i, c := range text {
		if c < '0' || c > '9' {
			return text[:i]
		}
	}
	return text
}
