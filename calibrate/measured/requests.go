package measured

import (
	"fmt"
	"io"
	"strings"

	"blis/vtime"
)

// Columns of a file of requests.
const (
	requestArrival = iota
	requestInput
	requestOutput
	requestTTFT
	requestE2E
	requestRequired // what follows is optional
)

const (
	requestPrompt = requestRequired + iota
	requestOK
)

var requestColumns = strings.Fields("arrival_us input_tokens output_tokens ttft_us e2e_us prompt ok")

// requestsFile reads one file of requests. It is CSV, columns in any order and
// others ignored; all numbers are whole:
//
//	arrival_us      when the client sent it
//	input_tokens    of the prompt, from 1
//	output_tokens   that were generated, from 1
//	ttft_us, e2e_us from arrival to the first and to the last token, ttft_us from 1 to e2e_us
//	prompt          optional: equal numbers are equal prompts; else like no other
//	ok              optional: 0 for a request that failed, whose input_tokens may be
//	                0 and whose times are not used and may be empty
func requestsFile(path string) ([]Request, error) { return readFile(path, readRequests) }

func readRequests(name string, r io.Reader) ([]Request, error) {
	t, err := openTable(name, r, requestColumns[:requestRequired], requestColumns[requestRequired:])
	if err != nil {
		return nil, err
	}
	var list []Request
	for {
		more, err := t.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		request := parseRequest(t)
		if err := t.err(); err != nil {
			return nil, err
		}
		list = append(list, request)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no requests: want a row for each below the header", name)
	}
	arrange(list)
	return list, nil
}

// parseRequest is the request of the current row; see table.err.
func parseRequest(t *table) Request {
	r := Request{
		Arrival: vtime.Time(t.whole(requestArrival, 0, latest)),
		Prompt:  int32(t.wholeOr(requestPrompt, 0, most32, -1)),
		Failed:  t.text(requestOK) != "" && !t.truth(requestOK),
	}
	if r.Failed {
		r.Input = int32(t.wholeOr(requestInput, 0, most32, 0))
		r.Output = int32(t.wholeOr(requestOutput, 0, most32, 0))
		t.wholeOr(requestTTFT, 0, latest, 0)
		t.wholeOr(requestE2E, 0, latest, 0)
		return r
	}
	r.Input = int32(t.whole(requestInput, 1, most32))
	r.Output = int32(t.whole(requestOutput, 1, most32))
	r.TTFT = vtime.Duration(t.whole(requestTTFT, 1, latest))
	r.E2E = vtime.Duration(t.whole(requestE2E, 1, latest))
	if r.E2E < r.TTFT {
		t.bad(requestE2E, "at least ttft_us %d", int64(r.TTFT))
	}
	return r
}
