package measured

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"blis/vtime"
)

// checkRefusal: one line that begins with the name of the file.
func checkRefusal(t *testing.T, err error) {
	t.Helper()
	if text := err.Error(); strings.Contains(text, "\n") || !strings.HasPrefix(text, "t:") {
		t.Errorf("not one line that names its place: %v", err)
	}
}

func checkRequests(t *testing.T, list []Request) {
	t.Helper()
	if len(list) == 0 || list[0].Arrival != 0 {
		t.Fatalf("%d requests, the first not at 0", len(list))
	}
	last := vtime.Time(0)
	for _, r := range list {
		ok := last <= r.Arrival && r.Arrival <= latest && r.Input >= 0 && r.Output >= 0 && r.Prompt >= -1
		if r.Failed {
			ok = ok && r.TTFT == 0 && r.E2E == 0 && !r.HasEngineTimes
		} else {
			ok = ok && r.Input > 0 && r.Output > 0 && 0 <= r.TTFT && r.TTFT <= r.E2E && r.E2E <= latest
		}
		if r.HasEngineTimes {
			ok = ok && 0 <= r.Queued && r.Queued <= r.Scheduled && r.Scheduled <= r.FirstToken && r.FirstToken <= r.LastToken
		}
		if !ok {
			t.Fatalf("%+v after %v", r, last)
		}
		last = r.Arrival
	}
}

func checkSteps(t *testing.T, list []Step) {
	t.Helper()
	for i, s := range list {
		for _, x := range []float64{s.KVUsage, s.Period, s.Duration} {
			if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
				t.Fatalf("%+v", s)
			}
		}
		for _, n := range []int64{s.ID, s.Running, s.Waiting, s.PrefillRequests, s.DecodeRequests, s.PrefillTokens, s.DecodeTokens, s.Finished, s.Preempted,
			s.BlocksTotal, s.BlocksFree, s.PrefillPairs, s.PrefillContext, s.DecodeContext, s.SampledRows, s.ScheduledTokens - 1} {
			if n < 0 {
				t.Fatalf("%+v", s)
			}
		}
		if _, want := s.contradiction(); want != "" || s.PreviousInSample && (i == 0 || list[i-1].ID != s.ID-1) {
			t.Fatalf("%+v: %s", s, want)
		}
	}
}

func FuzzRuns(f *testing.F) {
	f.Add([]byte(twoRuns))
	f.Add([]byte(zipped(twoRuns)))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := readRuns("t", bytes.NewReader(text))
		if err != nil {
			checkRefusal(t, err)
			return
		}
		for _, r := range list {
			if r.TP < 1 || r.MaxNumSeqs < 1 || r.KVBlocks < 0 || math.IsNaN(r.CPUOffloadGiB) || r.CPUOffloadGiB < 0 || strings.ContainsAny(r.ID, "/\\") || r.ID == ".." {
				t.Fatalf("%+v", r)
			}
			for _, s := range r.Stages {
				if !(s.Rate > 0) || s.Duration <= 0 {
					t.Fatalf("%+v", s)
				}
			}
		}
	})
}

func FuzzRequests(f *testing.F) {
	f.Add([]byte(threeRequests))
	f.Add([]byte(zipped(threeRequests)))
	f.Add([]byte("arrival_us,input_tokens,output_tokens,ttft_us,e2e_us\n4611686018427387904,1,1,1,4611686018427387904\n0,\"2\",3,4,5\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := readRequests("t", bytes.NewReader(text))
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkRequests(t, list)
	})
}

func FuzzSteps(f *testing.F) {
	const header = "period_us,batch.decode_tokens,batch.prefill_tokens,batch.num_decode_reqs,batch.num_prefill_reqs,step.id,prev_step_in_sample,kv.usage_gpu_ratio,"
	f.Add([]byte(header + "prefill_pairs,prefill_context,decode_context,sampled_rows\n1500.125,2,10,2,1,7,0,0.5,155,10,40,3\n1e3,2,0,2,0,8,1,1,,,,\n"))
	f.Add([]byte(header + "step.duration_us,batch.scheduled_tokens\n1,1099511627776,1099511627776,1,1,0,,1e-300,8.64e10,2199023255552\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := readSteps("t", bytes.NewReader(text))
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkSteps(t, list)
	})
}

func FuzzPasses(f *testing.F) {
	f.Add([]byte(passHeader + "\nmixed,10,2,5,2,40,1.5\ndecode,0,0,0,1,1,1e-3\n"))
	f.Add([]byte(passHeader + ",tp\n,1073741824,1048576,1073741824,1048576,1073741824,8.64e7,1024\n,1073741824,1,1073741824,0,0,1,\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := readPasses("t", bytes.NewReader(text))
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkSteps(t, list)
	})
}

func FuzzClosedLoops(f *testing.F) {
	f.Add([]byte(loopHeader + "\nm,h100_sxm,fp8,0.15.1,1024,512,16,4,1,2,1,8,fp8,fp8,200.5,12\n"))
	f.Add([]byte(loopHeader + "\nm,g,,,1073741824,1073741824,1048576,1024,1024,,1024,1024,,,8.64e7,1e-300\nm,g,,v0.14,1,2,1,1,,,,,,,1,1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := readClosedLoops("t", bytes.NewReader(text))
		if err != nil {
			checkRefusal(t, err)
			return
		}
		for _, p := range list {
			if p.Model == "" || p.GPU == "" || p.Input < 1 || p.Output < 2 || p.Concurrency < 1 || p.TP < 1 || p.PP < 1 || p.AttentionDP < 1 || p.MoETP < 0 || p.MoEEP < 0 ||
				!(p.TTFT > 0 && p.TTFT <= longest && p.TPOT > 0 && p.TPOT <= longest) || p.Line < 2 {
				t.Fatalf("%+v", p)
			}
		}
	})
}

func FuzzEngine(f *testing.F) {
	f.Add([]byte(metaText), []byte(`{"input_toks":20,"output_toks":8,"arrival_time":1712345678.5000004,"queued_ts":9.4999999,"scheduled_ts":9.5,"first_token_ts":10,"last_token_ts":11.0000005}`))
	f.Add([]byte(`{"model":"m","vllm_version":"0.19"}`), []byte("{\"input_toks\":1,\"output_toks\":0,\"arrival_time\":5e-9}\n{\"input_toks\":1,\"output_toks\":1,\"arrival_time\":4611686018.427387904,\"queued_ts\":1E-9,\"scheduled_ts\":1,\"first_token_ts\":1,\"last_token_ts\":4.6e9}"))
	f.Fuzz(func(t *testing.T, meta, rows []byte) {
		run, err := readMeta("t", bytes.NewReader(meta))
		if err != nil {
			checkRefusal(t, err)
		} else if run.TP < 1 || run.DataParallel < 1 || run.KVBlocks < 0 || run.MaxModelLen < 0 || math.IsNaN(run.CPUOffloadGiB) {
			t.Errorf("%+v", *run)
		}
		list, err := readEngineRows("t", bytes.NewReader(rows))
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkRequests(t, list)
	})
}

func FuzzOTLP(f *testing.F) {
	f.Add([]byte(export(first) + "\n" + export(second)))
	f.Add([]byte("[" + export(second, first, first) + "]"))
	f.Add([]byte(steps(stepOf(1), snapshotOf(1, 50, 20, 0, 10), snapshotOf(1, 5, 9, 5, 1), snapshotOf(1, 5, 9, 5, 1), stepOf(2))))
	f.Add([]byte(export(spanOf("llm_core", "c", 100, 2, attributes("gen_ai.request.id", "one"), eventOf("journey.QUEUED", 100_010_000_000, attributes("prefill.total_tokens", 64)), eventOf("FIRST_TOKEN", 101_010_000_000, "")))))
	f.Fuzz(func(t *testing.T, text []byte) {
		trace, err := readOTLP("t", bytes.NewReader(text))
		if err != nil {
			checkRefusal(t, err)
			return
		}
		if !accounted(trace) || len(trace.Requests) > trace.Used || trace.Idle < 0 || trace.OtherEvents < 0 {
			t.Fatalf("%+v", trace)
		}
		checkSteps(t, trace.Steps)
		last := vtime.Time(0)
		for _, r := range trace.Requests {
			if r.Start < last || r.End < r.Start || r.Input < 0 || r.Output < 0 {
				t.Fatalf("%+v", r)
			}
			for _, d := range []vtime.Duration{r.TTFT, r.E2E, r.Queue, r.Prefill, r.Decode, r.Inference} {
				if d < Unknown {
					t.Fatalf("%+v", r)
				}
			}
			for _, at := range r.times() {
				if *at < 0 {
					t.Fatalf("%+v", r)
				}
			}
			last = r.Start
		}
		if alone := Alone(trace.Requests); len(alone) > len(trace.Requests) {
			t.Fatalf("%d alone of %d", len(alone), len(trace.Requests))
		}
	})
}
