package loadgen

import (
	"fmt"
)

// Lists of a result of vllm bench serve, one element a request.
const (
	benchInput = iota
	benchOutput
	benchTTFT
	benchStart
	benchLatency
	benchLists
)

var benchNames = [benchLists]string{"input_lens", "output_lens", "ttfts", "start_times", "latencies"}

// bench is the lists of one result.
type bench struct {
	there  [benchLists]bool
	values [benchLists][]int64 // tokens, or ns
	itls   []int64             // sums of the times between tokens, ns
	failed []bool
	hasITL bool
	model  string
}

// vllmBench reads files of vllm bench serve and of SGLang's bench_serving.
type vllmBench struct{ in *reader }

// result reads one result of vllm bench serve, an object with lists. With
// --append-result a file has several. SGLang's bench_serving writes the same
// lists.
//
//	input_lens, output_lens   tokens; needed, so --save-detailed
//	start_times               s, since vLLM 0.15; else no request has a Start
//	ttfts                     s, 0 where the request failed
//	itls                      lists of s: what is left of E2E
//	latencies                 s, E2E, where all requests have one
//	errors                    empty where a request did not fail
func (v *vllmBench) result() error {
	line := v.in.Line()
	var b bench
	v.in.fault = nil
	if err := v.in.fields("the file", func(key string) (bool, error) { return v.list(&b, key) }); err != nil {
		return err
	}
	if v.in.fault != nil {
		return v.in.fault
	}
	return v.take(&b, line)
}

func (v *vllmBench) list(b *bench, key string) (bool, error) {
	switch key {
	case "model_id":
		text, err := v.in.string(key)
		b.model = text
		return true, err
	case "itls":
		b.itls, b.hasITL = nil, true
		return true, v.in.list(key, func(i int) error {
			sum := int64(0)
			err := v.in.list(fmt.Sprintf("%s[%d]", key, i), func(int) error {
				ns, err := v.in.time(key, 0)
				if sum += max(ns, 0); sum > latest {
					sum = latest
				}
				return err
			})
			b.itls = append(b.itls, sum)
			return err
		})
	case "errors":
		b.failed = nil
		return true, v.in.list(key, func(int) error {
			blank, err := v.in.Blank()
			b.failed = append(b.failed, !blank)
			return err
		})
	}
	for k, name := range benchNames {
		if key == name {
			b.there[k], b.values[k] = true, nil
			return true, v.in.list(key, func(i int) error {
				field := fmt.Sprintf("%s[%d]", key, i)
				var n int64
				var err error
				if k == benchInput || k == benchOutput {
					var tokens int32
					tokens, err = v.in.count(field)
					n = int64(tokens)
				} else {
					n, err = v.in.time(field, 0)
				}
				b.values[k] = append(b.values[k], n)
				return err
			})
		}
	}
	return false, nil
}

// take makes requests of the lists.
func (v *vllmBench) take(b *bench, line int) error {
	if !b.there[benchInput] || !b.there[benchOutput] {
		return fmt.Errorf("%s:%d: input_lens, output_lens: not there: a result without its requests: want one of vllm bench serve --save-result --save-detailed", v.in.name, line)
	}
	n := len(b.values[benchInput])
	if len(b.values[benchLatency]) != n && b.hasITL {
		b.there[benchLatency] = false // latencies of requests that completed
	}
	for k, name := range benchNames {
		if b.there[k] && len(b.values[k]) != n {
			return fmt.Errorf("%s:%d: %s: %d values: want %d, as many as input_lens has", v.in.name, line, name, len(b.values[k]), n)
		}
	}
	if b.hasITL && len(b.itls) != n || b.failed != nil && len(b.failed) != n {
		return fmt.Errorf("%s:%d: itls, errors: %d and %d values: want %d, as many as input_lens has", v.in.name, line, len(b.itls), len(b.failed), n)
	}
	v.in.runs = append(v.in.runs, Run{Model: b.model})
	for i := range n {
		v.in.begin()
		v.in.now.Line, v.in.place = line, i+1
		b.request(&v.in.now, i)
		if err := v.in.end(); err != nil {
			return err
		}
	}
	v.in.place = 0
	return nil
}

// request fills q with element i of the lists.
func (b *bench) request(q *Request, i int) {
	at := func(k int) int64 {
		if !b.there[k] {
			return Unknown
		}
		return b.values[k][i]
	}
	q.Input, q.Output = int32(at(benchInput)), int32(at(benchOutput))
	q.Start, q.TTFT, q.E2E = at(benchStart), at(benchTTFT), at(benchLatency)
	if b.failed != nil && b.failed[i] || q.Output <= 0 && q.TTFT == 0 {
		q.State, q.TTFT, q.E2E = Failed, Unknown, Unknown
		return
	}
	if q.TTFT == 0 {
		q.TTFT = Unknown // the answer was not streamed
	}
	if q.E2E == Unknown && q.TTFT != Unknown && b.hasITL {
		q.E2E = q.TTFT + b.itls[i]
	}
}
