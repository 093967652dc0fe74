package loadgen

import (
	"encoding/json"
	"fmt"
	"strings"
)

// genaiPerf reads files of genai-perf.
type genaiPerf struct{ in *reader }

// file reads a profile_export.json of genai-perf, as perf_analyzer writes
// it: an object with a list of experiments, each of which is a run. Of a request
// it takes
//
//	timestamp             ns since 1970
//	response_timestamps   of each piece of the answer, ns since 1970
//	response_outputs      the pieces: server-sent events, or one object
//
// The file has no token counts but those that a server sends as usage with the
// last piece. Pieces without text are no tokens. A request without answer failed.
func (g *genaiPerf) file() error {
	g.in.fault = nil
	counted := false
	err := g.in.fields("the file", func(key string) (bool, error) {
		if key != "experiments" {
			return false, nil
		}
		return true, g.in.list(key, func(int) error {
			g.in.runs = append(g.in.runs, Run{})
			return g.in.fields("experiment", func(key string) (bool, error) {
				if key != "requests" {
					return false, nil
				}
				return true, g.in.list(key, func(int) error {
					some, err := g.request()
					counted = counted || some
					return err
				})
			})
		})
	})
	if err == nil && !counted {
		return g.errNoCounts()
	}
	return err
}

func (g *genaiPerf) request() (counted bool, err error) {
	g.in.begin()
	q := &g.in.now
	var times []int64
	var pieces []piece
	err = g.in.fields("request", func(key string) (taken bool, err error) {
		switch key {
		case "timestamp":
			q.Start, err = g.in.time(key, 9)
		case "response_timestamps":
			err = g.in.list(key, func(int) error {
				ns, err := g.in.time(key, 9)
				times = append(times, ns)
				return err
			})
		case "response_outputs":
			err = g.in.list(key, func(int) error {
				p, err := g.piece()
				pieces = append(pieces, p)
				return err
			})
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return false, err
	}
	switch {
	case q.Start == Unknown:
		g.in.missing("timestamp", "nanoseconds since 1970")
	case len(times) != len(pieces):
		g.in.wrong("response_timestamps", "", "as many as response_outputs, %d, not %d", len(pieces), len(times))
	}
	if g.in.fault == nil {
		counted = q.answer(times, pieces)
		if !counted && q.State == Completed {
			q.State = Failed // without the usage of others nothing is known of it
		}
	}
	return counted, g.in.end()
}

// answer takes from the pieces of an answer what they tell, and reports whether
// they count tokens.
func (q *Request) answer(times []int64, pieces []piece) bool {
	if len(pieces) == 0 {
		q.State = Failed
		return false
	}
	first, last := 0, len(pieces)-1
	for first < last && !pieces[first].text {
		first++
	}
	for last > first && !pieces[last].text {
		last--
	}
	q.TTFT, q.E2E = since(q.Start, times[first]), since(q.Start, times[last])
	for _, p := range pieces {
		if p.counted {
			q.Input, q.Output = p.input, p.output
			return true
		}
	}
	return false
}

// errNoCounts is the error of a file of texts.
func (g *genaiPerf) errNoCounts() error {
	return fmt.Errorf("%s: no token counts: the requests and answers are texts: want answers with usage (genai-perf profile --extra-inputs '{\"stream_options\":{\"include_usage\":true}}'), or AIPerf's profile_export.jsonl", g.in.name)
}

// piece is what one piece of an answer tells.
type piece struct {
	text          bool // there is some
	counted       bool
	input, output int32
}

// piece reads one element of response_outputs, {"response": "data: {…}"}.
func (g *genaiPerf) piece() (p piece, err error) {
	return p, g.in.fields("response_outputs", func(key string) (bool, error) {
		if key != "response" {
			return false, nil
		}
		text, err := g.in.string(key)
		for _, event := range strings.Split(text, "\n\n") {
			p.take(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(event), "data:")))
		}
		return true, err
	})
}

// take reads one event of OpenAI's API. What is none tells nothing.
func (p *piece) take(event string) {
	var e struct {
		Choices []struct {
			Text    string
			Delta   struct{ Content, ReasoningContent, Reasoning string }
			Message struct{ Content string }
		}
		Usage *struct {
			Prompt     int32 `json:"prompt_tokens"`
			Completion int32 `json:"completion_tokens"`
		}
	}
	if !strings.HasPrefix(event, "{") || json.Unmarshal([]byte(event), &e) != nil {
		return
	}
	for _, c := range e.Choices {
		p.text = p.text || c.Text+c.Delta.Content+c.Delta.ReasoningContent+c.Delta.Reasoning+c.Message.Content != ""
	}
	if e.Usage != nil && e.Usage.Prompt > 0 && e.Usage.Completion >= 0 {
		p.counted, p.input, p.output = true, e.Usage.Prompt, e.Usage.Completion
	}
}
