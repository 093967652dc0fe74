package loadgen

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"blis/input/textio"
)

// Tool is what wrote a file.
type Tool string

// The tools whose files Read reads.
const (
	VLLMBench     Tool = "vllm-bench"
	GuideLLM      Tool = "guidellm"
	AIPerf        Tool = "aiperf"
	GenAIPerf     Tool = "genai-perf"
	InferencePerf Tool = "inference-perf"
	OTLP          Tool = "otlp"
)

// Tools are all of them, by name.
func Tools() []Tool { return []Tool{VLLMBench, GuideLLM, AIPerf, GenAIPerf, InferencePerf, OTLP} }

// State is how a request ended.
type State uint8

// The ends of requests.
const (
	Completed  State = iota
	Failed           // an error, or cancelled by the tool's own setting
	Incomplete       // cut off as the run ended
)

// Unknown is a number or time that a file does not tell.
const Unknown = -1

// Request is one request. Times are nanoseconds, Unknown where a file does not
// tell them.
type Request struct {
	Start         int64 // when it was sent, on a clock of the tool's
	Input, Output int32 // tokens of the prompt and of the answer, or Unknown
	TTFT, E2E     int64 // from Start to the first and to the last token
	State         State
	Session       string // the conversation that it belongs to; empty: none
	Line          int    // of the file, where it begins
}

// Run is one run of a tool: requests that were sent to one server, in the order
// of the file. A file may hold several, one after the other.
type Run struct {
	Model    string // as the tool called it; empty: the file does not say
	Requests []Request
	Warmup   int // requests before the measurement that were left out
	Other    int // of OTLP: spans that are no requests
}

// Options says what to do with bad requests.
type Options struct {
	// Skip is called with every request that is left out because it is wrong. Nil:
	// the first one is the error of Read.
	Skip func(reason error)
}

// maxRequests is how many requests a file may have.
const maxRequests = 1<<31 - 1

// Read reads the runs of a file that tool wrote: text is what textio.Open
// returned, and name stands for the file in errors. A file without requests is
// an error.
func Read(name string, text *bufio.Reader, tool Tool, o Options) ([]Run, error) {
	r := &reader{JSON: textio.NewJSON(name, text), name: name, options: o}
	var each func() error
	spans := otlp{in: r}
	switch tool {
	case VLLMBench:
		each = (&vllmBench{r}).result
	case GuideLLM:
		each = (&guideLLM{r}).file
	case AIPerf:
		each = r.values((&aiperf{r}).record)
	case GenAIPerf:
		each = (&genaiPerf{r}).file
	case InferencePerf:
		each = r.values((&inferencePerf{r}).request)
	case OTLP:
		each = r.values(spans.export)
	default:
		panic(fmt.Sprintf("loadgen: no tool %q", tool))
	}
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if err := each(); err != nil {
			return nil, err
		}
	}
	if tool == OTLP {
		spans.join()
	}
	return r.result(tool)
}

// result is the runs that have requests.
func (r *reader) result(tool Tool) ([]Run, error) {
	var list []Run
	for _, run := range r.runs {
		if len(run.Requests) > 0 {
			list = append(list, run)
		}
	}
	switch {
	case len(list) > 0:
		return list, nil
	case r.skipped > 0:
		return nil, fmt.Errorf("%s: no requests: all %d are bad, the first: %w", r.name, r.skipped, r.reason)
	case tool == OTLP:
		return nil, fmt.Errorf("%s: no requests: want spans called llm_request, or others with gen_ai.usage.* attributes", r.name)
	}
	return nil, fmt.Errorf("%s: no requests", r.name)
}

// values reads a list of values, or one of them, as each line of a file has.
func (r *reader) values(each func() error) func() error {
	return func() error {
		c, err := r.Next()
		if err != nil || c != '[' {
			return firstError(err, each)
		}
		return r.List("the file", func(int) error { return each() })
	}
}

func firstError(err error, then func() error) error {
	if err != nil {
		return err
	}
	return then()
}
