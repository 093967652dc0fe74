package traces

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"blis/suggest"
	"blis/vtime"
	"blis/workload"
	"blis/workload/loadgen"
)

// Format names a trace format.
type Format string

// The trace formats that Open reads.
const (
	Guess        Format = ""              // by the content
	BLIS         Format = "blis"          // our own CSV, see blis.go
	Azure        Format = "azure"         // CSV: TIMESTAMP,ContextTokens,GeneratedTokens
	Mooncake     Format = "mooncake"      // JSONL: timestamp in ms, input_length, output_length, hash_ids
	BurstGPT     Format = "burstgpt"      // CSV: Timestamp in s, Request tokens, Response tokens, …
	Tokens       Format = "tokens"        // JSONL: arrival_time_ns and the ids of all tokens
	InferenceSim Format = "inference-sim" // CSV of the public simulator, with or without its YAML header
	Vidur        Format = "vidur"         // CSV: arrived_at in s, num_prefill_tokens, num_decode_tokens
	Lengths      Format = "lengths"       // CSV: num_prefill_tokens,num_decode_tokens; no arrivals

	// What load generators and servers wrote, see package loadgen.
	VLLMBench     = Format(loadgen.VLLMBench)
	GuideLLM      = Format(loadgen.GuideLLM)
	AIPerf        = Format(loadgen.AIPerf)
	GenAIPerf     = Format(loadgen.GenAIPerf)
	InferencePerf = Format(loadgen.InferencePerf)
	OTLP          = Format(loadgen.OTLP)
)

// Formats lists the formats by name, for help and for errors.
func Formats() []string {
	list := []string{
		string(BLIS), string(Azure), string(Mooncake), string(BurstGPT),
		string(Tokens), string(InferenceSim), string(Vidur), string(Lengths),
	}
	for _, tool := range loadgen.Tools() {
		list = append(list, string(tool))
	}
	return list
}

// Pace gives arrivals to a trace that has none. Next returns the next arrival,
// not before the one before it; false when no more are to come.
type Pace interface {
	Next() (at vtime.Time, more bool, err error)
}

// Options says how a trace is replayed. The zero value replays all of it
// as it was recorded. Errors name the flags.
type Options struct {
	Format Format

	// BlockSize is the number of tokens that one hash id of a Mooncake trace
	// stands for; 0: 512. Other formats have no hash ids and do not use it.
	BlockSize int32

	// Pace gives the requests of a trace without arrivals theirs, in the order of
	// the file: of format Lengths, and of VLLMBench without start_times. Without
	// it such a file is an error. Others leave it alone: see Trace.Paced.
	Pace Pace

	// Ignore are columns of CSV that are left out, whatever they are called. Each
	// is noted, also one that the file does not have.
	Ignore []string

	// Classes are SLO classes of the user's own. Other names that policies do not
	// know are noted.
	Classes []string

	// Offset skips that many requests, Limit keeps at most that many (0: all);
	// both count in order of arrival.
	Offset, Limit int64

	// Speedup divides the times between arrivals: 2 doubles the rate. 0: 1.
	// Deadlines keep their distance from the arrival.
	Speedup float64

	// SpreadTies moves requests with equal coarse timestamps apart, evenly
	// within the smallest difference between two arrival times of the file.
	SpreadTies bool

	// SkipBadRows leaves rows out that would be errors and counts them, see
	// Trace.Skipped. A bad header or a file that cannot be read is an error
	// all the same.
	SkipBadRows bool

	// Timeout gives requests without a deadline of their own the deadline
	// arrival + Timeout. 0: none.
	Timeout vtime.Duration
}

func (o *Options) check() error {
	var bad workload.Faults
	o.checkFormat(&bad)
	if o.BlockSize < 0 {
		bad.Add("trace-block-size", o.BlockSize, "want at least 1 token, 0 for 512")
	}
	if o.Offset < 0 {
		bad.Add("trace-offset", o.Offset, "want 0 or more requests")
	}
	if o.Limit < 0 {
		bad.Add("trace-limit", o.Limit, "want at least 1 request, 0 for all")
	}
	if !(o.Speedup >= 0) || math.IsInf(o.Speedup, 0) {
		bad.Add("trace-speedup", o.Speedup, "want a finite factor above 0, 0 for 1")
	}
	if o.Timeout < 0 {
		bad.Add("timeout", o.Timeout, "want 0 (none) or more")
	}
	return bad.Err("")
}

// checkFormat: the data of ServeGen have a name among the formats, and a reader
// of their own.
func (o *Options) checkFormat(bad *workload.Faults) {
	const drawn = "servegen"
	names := append(Formats(), drawn)
	switch {
	case o.Format == drawn:
		bad.Add("trace-format", fmt.Sprintf("%q", o.Format), "want that of a trace: these are data of which requests are drawn, see package servegen")
	case o.Format != Guess && !slices.Contains(names, string(o.Format)):
		bad.Add("trace-format", fmt.Sprintf("%q", o.Format), "want one of %s%s", strings.Join(names, ", "), suggest.Hint(string(o.Format), names))
	}
}

// Rate is the mean number of arrivals per second of the requests that are
// replayed, (n − 1) / (last − first arrival); 0 when they are one or arrive at
// once.
func (t *Trace) Rate() float64 {
	first, last := t.arrival(t.table.at(t.first)), t.arrival(t.table.at(t.end-1))
	if last <= first {
		return 0
	}
	return float64(t.end-t.first-1) / last.Sub(first).Seconds()
}

// Rescale divides the times between arrivals by one factor, so that they have a
// mean rate above 0. It is called before the first Pull, on a trace whose Rate is
// not 0.
func (t *Trace) Rescale(rate float64) error {
	t.options.Speedup = float64(t.options.Speedup * (rate / t.Rate()))
	if last := t.arrival(t.table.at(t.end - 1)); last > workload.Latest {
		return fmt.Errorf("rate: %v: the last arrival would pass the end of virtual time, 2⁶² µs; want a higher rate", rate)
	}
	return nil
}
