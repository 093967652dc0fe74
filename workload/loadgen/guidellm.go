package loadgen

import "fmt"

// guideLLM reads files of GuideLLM.
type guideLLM struct{ in *reader }

// file reads a report of GuideLLM, an object with a list of benchmarks, each
// of which is a run. Of a request it takes
//
//	prompt_tokens, output_tokens
//	info.timings.request_start, .first_token_iteration, .last_token_iteration,
//	.request_end              s since 1970, from version 0.4 on
//	start_time, first_token_time, last_token_time, end_time   the same before
//	info.conversation_id
//
// Requests are listed as successful, incomplete (as the benchmark ended) and
// errored. A report that holds a sample of them is an error: it is not what was
// sent.
func (g *guideLLM) file() error {
	there := false
	g.in.fault = nil
	err := g.in.fields("the file", func(key string) (bool, error) {
		if key != "benchmarks" {
			return false, nil
		}
		there = true
		return true, g.in.list(key, g.benchmark)
	})
	switch {
	case err != nil:
		return err
	case g.in.fault != nil:
		return g.in.fault
	case !there:
		return fmt.Errorf("%s: benchmarks: not there: want a report of GuideLLM", g.in.name)
	}
	return nil
}

// guideStates are the lists of requests by how they ended.
var guideStates = map[string]State{"successful": Completed, "incomplete": Incomplete, "errored": Failed}

func (g *guideLLM) benchmark(i int) error {
	g.in.runs = append(g.in.runs, Run{})
	listed, total := map[string]int64{}, map[string]int64{}
	sampled, size := false, int64(Unknown)
	err := g.in.fields("benchmark", func(key string) (bool, error) {
		switch key {
		case "requests":
			return true, g.in.fields(key, func(list string) (bool, error) {
				state, known := guideStates[list]
				if !known {
					return false, nil
				}
				return true, g.in.list(list, func(int) error {
					listed[list]++
					return g.request(state)
				})
			})
		case "config":
			return true, g.in.fields(key, func(key string) (bool, error) {
				if key != "sample_size" {
					return false, nil
				}
				n, err := g.in.count(key)
				size = int64(n)
				return true, err
			})
		case "metrics":
			return true, g.in.fields(key, func(key string) (bool, error) {
				if key != "request_totals" {
					return false, nil
				}
				return true, g.totals(total)
			})
		case "request_samples":
			c, err := g.in.Next()
			sampled = err == nil && c != 'n'
			return false, nil
		}
		return false, nil
	})
	if err != nil || g.in.fault != nil {
		return firstError(err, func() error { return g.in.fault })
	}
	for _, list := range []string{"successful", "incomplete", "errored"} {
		sampled = sampled || total[list] > listed[list] || size > 0 && listed[list] >= size
	}
	if sampled {
		return fmt.Errorf("%s: benchmarks[%d]: a sample of its requests (%d successful ones of %d): want a report with all of them", g.in.name, i, listed["successful"], max(total["successful"], listed["successful"]))
	}
	return nil
}

// totals reads how many requests there were.
func (g *guideLLM) totals(total map[string]int64) error {
	return g.in.fields("request_totals", func(key string) (bool, error) {
		if _, known := guideStates[key]; !known {
			return false, nil
		}
		n, err := g.in.count(key)
		total[key] = int64(n)
		return true, err
	})
}

// guideTimes are the times of a request. Times of older versions take the place of
// missing ones.
type guideTimes struct{ start, first, last, end, older, olderFirst, olderLast, olderEnd int64 }

func (g *guideLLM) request(state State) error {
	g.in.begin()
	g.in.now.State = state
	t := guideTimes{Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown}
	err := g.in.fields("request", func(key string) (taken bool, err error) {
		switch key {
		case "prompt_tokens":
			g.in.now.Input, err = g.in.count(key)
		case "output_tokens":
			g.in.now.Output, err = g.in.count(key)
		case "start_time":
			t.older, err = g.in.time(key, 0)
		case "first_token_time":
			t.olderFirst, err = g.in.time(key, 0)
		case "last_token_time":
			t.olderLast, err = g.in.time(key, 0)
		case "end_time":
			t.olderEnd, err = g.in.time(key, 0)
		case "info":
			err = g.in.fields(key, func(key string) (taken bool, err error) {
				switch key {
				case "timings":
					err = g.timings(&t)
				case "conversation_id":
					g.in.now.Session, err = g.in.string(key)
				default:
					return false, nil
				}
				return true, err
			})
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return err
	}
	start := either(t.start, t.older)
	if g.in.now.Start = start; start == Unknown && state != Completed {
		return nil // never sent
	}
	if start == Unknown {
		g.in.missing("request_start", "seconds since 1970")
	}
	g.in.now.TTFT = since(start, either(t.first, t.olderFirst))
	g.in.now.E2E = since(start, either(t.last, either(t.olderLast, either(t.end, t.olderEnd))))
	return g.in.end()
}

func (g *guideLLM) timings(t *guideTimes) error {
	return g.in.fields("timings", func(key string) (taken bool, err error) {
		switch key {
		case "request_start":
			t.start, err = g.in.time(key, 0)
		case "first_token_iteration":
			t.first, err = g.in.time(key, 0)
		case "last_token_iteration":
			t.last, err = g.in.time(key, 0)
		case "request_end":
			t.end, err = g.in.time(key, 0)
		default:
			return false, nil
		}
		return true, err
	})
}

// either is the first of two times that is known.
func either(a, b int64) int64 {
	if a != Unknown {
		return a
	}
	return b
}
