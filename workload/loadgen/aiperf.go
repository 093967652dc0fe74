package loadgen

import (
	"fmt"

	"blis/input/textio"
)

// AIPerf's units of time, as powers of ten of a second.
var aiperfUnits = map[string]int{"ns": 9, "us": 6, "ms": 3, "sec": 0, "s": 0}

// aiperf reads one record of AIPerf's profile_export.jsonl. It takes
//
//	metadata.request_start_ns   ns since 1970, whole
//	metadata.x_correlation_id   the conversation
//	metadata.benchmark_phase    records of the warmup are left out
//	metadata.was_cancelled, error   the request failed
//	metrics.input_sequence_length, of a request that failed .error_isl
//	metrics.output_sequence_length, or .output_token_count + .reasoning_token_count
//	metrics.time_to_first_token, .request_latency   in the unit that stands there
func (r *reader) aiperf() error {
	r.begin()
	q := &r.now
	phase, there := "", false
	err := r.fields("record", func(key string) (taken bool, err error) {
		switch key {
		case "metadata":
			there = true
			phase, err = r.aiperfMetadata()
		case "metrics":
			err = r.aiperfMetrics()
		case "error":
			return false, r.failure()
		default:
			return false, nil
		}
		return true, err
	})
	switch {
	case err != nil:
		return err
	case !there:
		r.missing("metadata", "a record of AIPerf's profile_export.jsonl")
	case phase == "warmup":
		r.run().Warmup++
		return nil
	case q.Start == Unknown:
		r.missing("metadata.request_start_ns", "nanoseconds since 1970")
	}
	return r.end()
}

func (r *reader) aiperfMetadata() (phase string, err error) {
	return phase, r.fields("metadata", func(key string) (taken bool, err error) {
		switch key {
		case "request_start_ns":
			r.now.Start, err = r.time(key, 9)
		case "x_correlation_id":
			r.now.Session, err = r.string(key)
		case "benchmark_phase":
			phase, err = r.string(key)
		case "was_cancelled":
			var cancelled bool
			if cancelled, err = r.Truth(key); cancelled {
				r.now.State = Failed
			}
		default:
			return false, nil
		}
		return true, err
	})
}

func (r *reader) aiperfMetrics() error {
	q := &r.now
	output, reasoning, failed := int32(Unknown), int32(0), int32(Unknown)
	err := r.fields("metrics", func(key string) (taken bool, err error) {
		switch key {
		case "input_sequence_length":
			q.Input, err = r.aiperfCount(key)
		case "error_isl":
			failed, err = r.aiperfCount(key)
		case "output_sequence_length":
			q.Output, err = r.aiperfCount(key)
		case "output_token_count":
			output, err = r.aiperfCount(key)
		case "reasoning_token_count":
			reasoning, err = r.aiperfCount(key)
		case "time_to_first_token":
			q.TTFT, err = r.aiperfTime(key)
		case "request_latency":
			q.E2E, err = r.aiperfTime(key)
		default:
			return false, nil
		}
		return true, err
	})
	if q.Input == Unknown {
		q.Input = failed
	}
	if q.Output == Unknown && output != Unknown {
		q.Output = output + max(reasoning, 0)
	}
	return err
}

// aiperfCount is the value of a metric that counts tokens.
func (r *reader) aiperfCount(metric string) (n int32, err error) {
	n = Unknown
	return n, r.fields(metric, func(key string) (taken bool, err error) {
		if key == "value" {
			n, err = r.count(metric)
			return true, err
		}
		return false, nil
	})
}

// aiperfTime is the value of a metric that is a time, with its unit.
func (r *reader) aiperfTime(metric string) (ns int64, err error) {
	text, unit := "", ""
	err = r.fields(metric, func(key string) (taken bool, err error) {
		switch key {
		case "value":
			text, err = r.number(metric, "a number")
		case "unit":
			unit, err = r.string(metric + ".unit")
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil || text == "" {
		return Unknown, err
	}
	digits, known := aiperfUnits[unit]
	if !known {
		r.wrong(metric+".unit", unit, "ns, us, ms or sec")
		return Unknown, nil
	}
	ns, ok := textio.Scaled(text, 9-digits, latest)
	if !ok {
		r.wrong(metric, text, "a time from 0, in %s", unit)
		return Unknown, nil
	}
	return ns, nil
}

// errNoCounts is the error of a file of texts.
func (r *reader) errNoCounts() error {
	return fmt.Errorf("%s: no token counts: the requests and answers are texts: want answers with usage (genai-perf profile --extra-inputs '{\"stream_options\":{\"include_usage\":true}}'), or AIPerf's profile_export.jsonl", r.name)
}
