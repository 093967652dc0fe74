package measured

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"blis/input/textio"
	"blis/vtime"
	"blis/workload/loadgen"
)

// recogniseTool is the load generator that wrote a file, empty for none. A file
// of one that does not list requests is an error.
func recogniseTool(path string) (loadgen.Tool, error) {
	return readFile(path, func(name string, r io.Reader) (loadgen.Tool, error) {
		text, err := plain(name, r)
		if err != nil {
			return "", err
		}
		start, _ := text.Peek(textio.Buffer)
		tool, err := loadgen.Recognise(string(start))
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		if json := strings.TrimLeft(string(start), " \t\r\n"); tool == "" && (strings.HasPrefix(json, "{") || strings.HasPrefix(json, "[")) {
			return "", fmt.Errorf("%s: JSON of no load generator that is known: want a result of %s, or a table of measured runs", name, tools())
		}
		return tool, nil
	})
}

// tools are the names of load generators.
func tools() string {
	var names []string
	for _, t := range loadgen.Tools() {
		if t != loadgen.OTLP {
			names = append(names, string(t))
		}
	}
	return strings.Join(names, ", ")
}

// readClient reads what a load generator wrote, a run or several. The file says
// nothing of the server: its Run has the model as the tool called it, TP 0 and no
// limits, and takes the engine for a current vLLM with its defaults. Whether that
// schedules asynchronously stays open: it goes by the latency model. No prompt is
// like another, since the file does not tell.
//
// Requests that completed are compared if they had an answer of one token or
// more, with a time to the first of them. Others are left out, and so are those
// that were cut off as the run ended; Notes counts them. Those that failed are
// Failed.
func readClient(path string, tool loadgen.Tool) ([]Run, error) {
	if tool == loadgen.OTLP {
		return nil, fmt.Errorf("%s: spans (OTLP-JSON): want them under --otlp", path)
	}
	runs, err := readFile(path, func(name string, r io.Reader) ([]loadgen.Run, error) {
		text, err := plain(name, r)
		if err != nil {
			return nil, err
		}
		return loadgen.Read(name, text, tool, loadgen.Options{})
	})
	if err != nil {
		return nil, err
	}
	id := filepath.Base(path)
	for _, ending := range []string{".gz", ".zip", ".json", ".jsonl"} {
		id = strings.TrimSuffix(id, ending)
	}
	var list []Run
	for k := range runs {
		r := Run{
			ID: id, Model: runs[k].Model, Engine: "vLLM", Client: true, DataParallel: 1,
			PrefixCaching: true, ChunkedPrefill: true, ReserveFullISL: true,
			Rows: -1, Completed: -1, file: path,
		}
		if len(runs) > 1 {
			r.ID = fmt.Sprintf("%s.%d", id, k+1)
		}
		requests, err := r.clientRequests(&runs[k])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r.read = func(string) ([]Request, error) { return slices.Clone(requests), nil }
		list = append(list, r)
	}
	return list, nil
}

// clientRequests are the requests of one run of a tool.
func (r *Run) clientRequests(run *loadgen.Run) ([]Request, error) {
	first := int64(math.MaxInt64)
	for i := range run.Requests {
		if at := run.Requests[i].Start; at != loadgen.Unknown {
			first = min(first, at)
		}
	}
	if first == math.MaxInt64 {
		return nil, fmt.Errorf("no request tells when it was sent (vllm bench serve writes start_times since vLLM 0.15): want a file that does")
	}
	var list []Request
	var untimed, cut, empty, whole int
	for i := range run.Requests {
		q := &run.Requests[i]
		m := Request{Prompt: -1, Input: max(q.Input, 0), Output: max(q.Output, 0), Failed: q.State == loadgen.Failed}
		switch {
		case q.Start == loadgen.Unknown:
			untimed++
			continue
		case q.State == loadgen.Incomplete:
			cut++
			continue
		case !m.Failed && q.Output < 1:
			empty++
			continue
		case !m.Failed && (q.TTFT == loadgen.Unknown || q.E2E == loadgen.Unknown || micros(q.TTFT) == 0):
			whole++
			continue
		}
		m.Arrival = vtime.Time(micros(q.Start - first))
		if !m.Failed {
			m.TTFT, m.E2E = micros(q.TTFT), micros(q.E2E)
		}
		list = append(list, m)
	}
	for _, n := range []struct {
		count int
		text  string
	}{
		{run.Warmup, "are of the warmup"}, {cut, "were cut off as the run ended"}, {untimed, "do not tell when they were sent"},
		{empty, "had an answer without a token"}, {whole, "had an answer that was not streamed"},
	} {
		if n.count > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%d of %d requests %s", n.count, len(run.Requests)+run.Warmup, n.text))
		}
	}
	if !slices.ContainsFunc(list, func(m Request) bool { return !m.Failed }) {
		return nil, fmt.Errorf("no request completed with a time to its first token (%s): want a run with streamed answers", strings.Join(append(r.Notes, fmt.Sprintf("%d failed", len(list))), ", "))
	}
	arrange(list)
	return list, nil
}
