package loadgen

// inferencePerf reads files of inference-perf.
type inferencePerf struct{ in *reader }

// request reads one element of inference-perf's
// per_request_lifecycle_metrics.json. It takes
//
//	start_time, end_time        s of a clock of its own
//	info.input_tokens, info.request_metrics.text.input_tokens
//	info.output_tokens, info.output_token_times   until April 2026
//	info.response_info, info.response_metrics     objects with output_tokens,
//	    output_token_times, chunk_times and server_usage since then
//	error                       null where the request did not fail
//
// What the server counted (server_usage) counts before what the client did. The
// first token is the first of output_token_times, or of chunk_times where those
// are empty.
func (p *inferencePerf) request() error {
	p.in.begin()
	q := &p.in.now
	a := answered{client: Unknown, server: Unknown, prompt: Unknown, first: Unknown, last: Unknown, chunk: Unknown, lastChunk: Unknown}
	end := int64(Unknown)
	err := p.in.fields("request", func(key string) (taken bool, err error) {
		switch key {
		case "start_time":
			q.Start, err = p.in.time(key, 0)
		case "end_time":
			end, err = p.in.time(key, 0)
		case "info":
			err = p.in.fields(key, func(key string) (bool, error) { return p.info(&a, key) })
		case "error":
			return false, p.in.failure()
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return err
	}
	if q.Start == Unknown {
		p.in.missing("start_time", "seconds")
	}
	if a.prompt > 0 {
		q.Input = a.prompt
	}
	if q.Output = a.client; a.server > 0 {
		q.Output = a.server
	}
	q.TTFT = since(q.Start, either(a.first, a.chunk))
	q.E2E = since(q.Start, either(either(a.last, a.lastChunk), end))
	if q.State == Failed && q.Input == 0 {
		q.Input = Unknown // as it stands where there was no answer
	}
	return p.in.end()
}

// answered is what info tells of an answer.
type answered struct {
	client, server, prompt        int32 // tokens
	first, last, chunk, lastChunk int64 // times
}

// info takes a value of info, or of an object within it.
func (p *inferencePerf) info(a *answered, key string) (taken bool, err error) {
	switch key {
	case "input_tokens":
		p.in.now.Input, err = p.in.count(key)
	case "request_metrics", "text", "response_metrics", "response_info":
		err = p.in.fields(key, func(key string) (bool, error) { return p.info(a, key) })
	case "output_tokens":
		a.client, err = p.in.count(key)
	case "output_token_times":
		a.first, a.last, err = p.ends(key)
	case "chunk_times":
		a.chunk, a.lastChunk, err = p.ends(key)
	case "server_usage":
		err = p.in.fields(key, func(key string) (taken bool, err error) {
			switch key {
			case "prompt_tokens":
				a.prompt, err = p.in.count(key)
			case "completion_tokens":
				a.server, err = p.in.count(key)
			default:
				return false, nil
			}
			return true, err
		})
	default:
		return false, nil
	}
	return true, err
}

// ends are the first and the last time of a list.
func (p *inferencePerf) ends(field string) (first, last int64, err error) {
	first, last = Unknown, Unknown
	err = p.in.list(field, func(i int) error {
		ns, err := p.in.time(field, 0)
		if last = ns; i == 0 {
			first = ns
		}
		return err
	})
	return first, last, err
}
