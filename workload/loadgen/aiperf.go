package loadgen

import "blis/input/textio"

// AIPerf's units of time, as powers of ten of a second.
var aiperfUnits = map[string]int{"ns": 9, "us": 6, "ms": 3, "sec": 0, "s": 0}

// aiperf reads files of AIPerf.
type aiperf struct{ in *reader }

// record reads one record of AIPerf's profile_export.jsonl. It takes
//
//	metadata.request_start_ns   ns since 1970, whole
//	metadata.x_correlation_id   the conversation
//	metadata.benchmark_phase    records of the warmup are left out
//	metadata.was_cancelled, error   the request failed
//	metrics.input_sequence_length, of a request that failed .error_isl
//	metrics.output_sequence_length, or .output_token_count + .reasoning_token_count
//	metrics.time_to_first_token, .request_latency   in the unit that stands there
func (a *aiperf) record() error {
	a.in.begin()
	q := &a.in.now
	phase, there := "", false
	err := a.in.fields("record", func(key string) (taken bool, err error) {
		switch key {
		case "metadata":
			there = true
			phase, err = a.metadata()
		case "metrics":
			err = a.metrics()
		case "error":
			return false, a.in.failure()
		default:
			return false, nil
		}
		return true, err
	})
	switch {
	case err != nil:
		return err
	case !there:
		a.in.missing("metadata", "a record of AIPerf's profile_export.jsonl")
	case phase == "warmup":
		a.in.run().Warmup++
		return nil
	case q.Start == Unknown:
		a.in.missing("metadata.request_start_ns", "nanoseconds since 1970")
	}
	return a.in.end()
}

func (a *aiperf) metadata() (phase string, err error) {
	return phase, a.in.fields("metadata", func(key string) (taken bool, err error) {
		switch key {
		case "request_start_ns":
			a.in.now.Start, err = a.in.time(key, 9)
		case "x_correlation_id":
			a.in.now.Session, err = a.in.string(key)
		case "benchmark_phase":
			phase, err = a.in.string(key)
		case "was_cancelled":
			var cancelled bool
			if cancelled, err = a.in.Truth(key); cancelled {
				a.in.now.State = Failed
			}
		default:
			return false, nil
		}
		return true, err
	})
}

func (a *aiperf) metrics() error {
	q := &a.in.now
	output, reasoning, failed := int32(Unknown), int32(0), int32(Unknown)
	err := a.in.fields("metrics", func(key string) (taken bool, err error) {
		switch key {
		case "input_sequence_length":
			q.Input, err = a.count(key)
		case "error_isl":
			failed, err = a.count(key)
		case "output_sequence_length":
			q.Output, err = a.count(key)
		case "output_token_count":
			output, err = a.count(key)
		case "reasoning_token_count":
			reasoning, err = a.count(key)
		case "time_to_first_token":
			q.TTFT, err = a.time(key)
		case "request_latency":
			q.E2E, err = a.time(key)
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

// count is the value of a metric that counts tokens.
func (a *aiperf) count(metric string) (n int32, err error) {
	n = Unknown
	return n, a.in.fields(metric, func(key string) (taken bool, err error) {
		if key == "value" {
			n, err = a.in.count(metric)
			return true, err
		}
		return false, nil
	})
}

// time is the value of a metric that is a time, with its unit.
func (a *aiperf) time(metric string) (ns int64, err error) {
	text, unit := "", ""
	err = a.in.fields(metric, func(key string) (taken bool, err error) {
		switch key {
		case "value":
			text, err = a.in.number(metric, "a number")
		case "unit":
			unit, err = a.in.string(metric + ".unit")
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
		a.in.wrong(metric+".unit", unit, "ns, us, ms or sec")
		return Unknown, nil
	}
	ns, ok := textio.Scaled(text, 9-digits, latest)
	if !ok {
		a.in.wrong(metric, text, "a time from 0, in %s", unit)
		return Unknown, nil
	}
	return ns, nil
}
