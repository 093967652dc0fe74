package loadgen

import "fmt"

// guideLLM reads a report of GuideLLM, an object with a list of benchmarks, each
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
func (r *reader) guideLLM() error {
	there := false
	r.fault = nil
	err := r.fields("the file", func(key string) (bool, error) {
		if key != "benchmarks" {
			return false, nil
		}
		there = true
		return true, r.list(key, r.guideBenchmark)
	})
	switch {
	case err != nil:
		return err
	case r.fault != nil:
		return r.fault
	case !there:
		return fmt.Errorf("%s: benchmarks: not there: want a report of GuideLLM", r.name)
	}
	return nil
}

// guideStates are the lists of requests by how they ended.
var guideStates = map[string]State{"successful": Completed, "incomplete": Incomplete, "errored": Failed}

func (r *reader) guideBenchmark(i int) error {
	r.runs = append(r.runs, Run{})
	listed, total := map[string]int64{}, map[string]int64{}
	sampled, size := false, int64(Unknown)
	err := r.fields("benchmark", func(key string) (bool, error) {
		switch key {
		case "requests":
			return true, r.fields(key, func(list string) (bool, error) {
				state, known := guideStates[list]
				if !known {
					return false, nil
				}
				return true, r.list(list, func(int) error {
					listed[list]++
					return r.guideRequest(state)
				})
			})
		case "config":
			return true, r.fields(key, func(key string) (bool, error) {
				if key != "sample_size" {
					return false, nil
				}
				n, err := r.count(key)
				size = int64(n)
				return true, err
			})
		case "metrics":
			return true, r.fields(key, func(key string) (bool, error) {
				if key != "request_totals" {
					return false, nil
				}
				return true, r.guideTotals(total)
			})
		case "request_samples":
			c, err := r.Next()
			sampled = err == nil && c != 'n'
			return false, nil
		}
		return false, nil
	})
	if err != nil || r.fault != nil {
		return firstError(err, func() error { return r.fault })
	}
	for _, list := range []string{"successful", "incomplete", "errored"} {
		sampled = sampled || total[list] > listed[list] || size > 0 && listed[list] >= size
	}
	if sampled {
		return fmt.Errorf("%s: benchmarks[%d]: a sample of its requests (%d successful ones of %d): want a report with all of them", r.name, i, listed["successful"], max(total["successful"], listed["successful"]))
	}
	return nil
}

// guideTotals reads how many requests there were.
func (r *reader) guideTotals(total map[string]int64) error {
	return r.fields("request_totals", func(key string) (bool, error) {
		if _, known := guideStates[key]; !known {
			return false, nil
		}
		n, err := r.count(key)
		total[key] = int64(n)
		return true, err
	})
}

// guideTimes are the times of a request. Times of older versions take the place of
// missing ones.
type guideTimes struct{ start, first, last, end, older, olderFirst, olderLast, olderEnd int64 }

func (r *reader) guideRequest(state State) error {
	r.begin()
	r.now.State = state
	t := guideTimes{Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown}
	err := r.fields("request", func(key string) (taken bool, err error) {
		switch key {
		case "prompt_tokens":
			r.now.Input, err = r.count(key)
		case "output_tokens":
			r.now.Output, err = r.count(key)
		case "start_time":
			t.older, err = r.time(key, 0)
		case "first_token_time":
			t.olderFirst, err = r.time(key, 0)
		case "last_token_time":
			t.olderLast, err = r.time(key, 0)
		case "end_time":
			t.olderEnd, err = r.time(key, 0)
		case "info":
			err = r.fields(key, func(key string) (taken bool, err error) {
				switch key {
				case "timings":
					err = r.guideTimings(&t)
				case "conversation_id":
					r.now.Session, err = r.string(key)
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
	if r.now.Start = start; start == Unknown && state != Completed {
		return nil // never sent
	}
	if start == Unknown {
		r.missing("request_start", "seconds since 1970")
	}
	r.now.TTFT = since(start, either(t.first, t.olderFirst))
	r.now.E2E = since(start, either(t.last, either(t.olderLast, either(t.end, t.olderEnd))))
	return r.end()
}

func (r *reader) guideTimings(t *guideTimes) error {
	return r.fields("timings", func(key string) (taken bool, err error) {
		switch key {
		case "request_start":
			t.start, err = r.time(key, 0)
		case "first_token_iteration":
			t.first, err = r.time(key, 0)
		case "last_token_iteration":
			t.last, err = r.time(key, 0)
		case "request_end":
			t.end, err = r.time(key, 0)
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
