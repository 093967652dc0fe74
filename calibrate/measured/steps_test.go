package measured

import (
	"slices"
	"strings"
	"testing"
)

func TestSteps(t *testing.T) {
	const text = `period_us,batch.decode_tokens,batch.prefill_tokens,batch.num_decode_reqs,batch.num_prefill_reqs,batch.scheduled_tokens,experiment_id,model,tp,step.id,queue.running_depth,queue.waiting_depth,batch.num_finished,batch.num_preempted,kv.usage_gpu_ratio,kv.blocks_total_gpu,kv.blocks_free_gpu,step.duration_us,prev_step_in_sample,colour,prefill_pairs,prefill_context,decode_context,sampled_rows
1500.125,2,10,2,1,12,a,m,4,7,4,1,3,1,0.5,100,50,30,0,red,155,10,40,3
2e3,2,0,2,0,2,a,m,4,8,2,0,0,0,0.25,100,75,,1,,0,0,42,2
2000,2,0,2,0,,a,m,4,10,2,0,0,0,,,,,,,,,,
2000,2,0,2,0,2,b,m,4,11,2,0,0,0,0,0,0,0,0,,,,,
`
	want := []Step{
		{Experiment: "a", Model: "m", TP: 4, ID: 7, Running: 4, Waiting: 1, PrefillRequests: 1, DecodeRequests: 2, ScheduledTokens: 12, PrefillTokens: 10, DecodeTokens: 2,
			Finished: 3, Preempted: 1, KVUsage: 0.5, BlocksTotal: 100, BlocksFree: 50, Duration: 30, Period: 1500.125,
			HasSums: true, PrefillPairs: 155, PrefillContext: 10, DecodeContext: 40, SampledRows: 3},
		{Experiment: "a", Model: "m", TP: 4, ID: 8, Running: 2, DecodeRequests: 2, ScheduledTokens: 2, DecodeTokens: 2, KVUsage: 0.25, BlocksTotal: 100, BlocksFree: 75,
			Period: 2000, PreviousInSample: true, HasSums: true, DecodeContext: 42, SampledRows: 2},
		{Experiment: "a", Model: "m", TP: 4, ID: 10, Running: 2, DecodeRequests: 2, ScheduledTokens: 2, DecodeTokens: 2, Period: 2000},
		{Experiment: "b", Model: "m", TP: 4, ID: 11, Running: 2, DecodeRequests: 2, ScheduledTokens: 2, DecodeTokens: 2, Period: 2000},
	}
	for _, text := range []string{text, zipped(text), "\xef\xbb\xbf" + strings.ReplaceAll(text, "\n", "\r\n\r\n")} {
		got, err := readSteps("t", strings.NewReader(text))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
		}
	}
}

func TestStepsOfTheLeastColumns(t *testing.T) {
	got, err := readSteps("t", strings.NewReader("batch.num_prefill_reqs,batch.num_decode_reqs,batch.prefill_tokens,batch.decode_tokens,period_us\n1,0,512,0,9000\n0,3,0,3,8000"))
	want := []Step{{PrefillRequests: 1, PrefillTokens: 512, ScheduledTokens: 512, Period: 9000}, {DecodeRequests: 3, DecodeTokens: 3, ScheduledTokens: 3, Period: 8000}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}
