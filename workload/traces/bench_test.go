package traces

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each benchmark folds what it computed into sinkHash, so that nobody wins by
// computing something else.

var sinkHash uint64

func BenchmarkReadMooncake(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(samples, "mooncake_fast25_conversation_trace.jsonl"))
	if err != nil {
		b.Skip("no samples here")
	}
	benchmarkRead(b, text)
}

func BenchmarkReadAzure(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(samples, "azure_llm_2023_conv.csv"))
	if err != nil {
		b.Skip("no samples here")
	}
	benchmarkRead(b, text)
}

func BenchmarkReadOwn(b *testing.B) {
	text := bytes.NewBufferString("arrival_us,input_tokens,output_tokens,tenant,prefix_group,prefix_tokens\n")
	for i := range 20000 {
		fmt.Fprintf(text, "%d,164,100,acme,chat,64\n", 10000*i)
	}
	benchmarkRead(b, text.Bytes())
}

func BenchmarkReadBurstGPT(b *testing.B) {
	text := bytes.NewBufferString("Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
	for i := range 20000 {
		fmt.Fprintf(text, "%d.0,1722ac82-0a46-4bf0-aa08-%012d,43,GPT-4,906,446,1352,Conversation log\n", 19440110+i, i/5)
	}
	benchmarkRead(b, text.Bytes())
}

// One request in five begins a session, the others accumulate.
func BenchmarkReadInferenceSim(b *testing.B) {
	text := bytes.NewBufferString("request_id,tenant_id,slo_class,session_id,round_index,prefix_group,prefix_length,input_tokens,output_tokens,model,deadline_us,arrival_time_us,status,error_message\n")
	for i := range 20000 {
		fmt.Fprintf(text, "%d,acme,standard,s%d,%d,system,256,164,100,llama,0,%d,ok,\n", i, i/5, i%5, 10000*i)
	}
	const header = "trace_version: 3\nsession_context_growth: accumulate\n"
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		trace, err := open("t", bytes.NewReader(text.Bytes()), Options{}, func(...string) (string, io.Reader, error) {
			return "h", strings.NewReader(header), nil
		})
		if err != nil {
			b.Fatal(err)
		}
		sinkHash += uint64(trace.Remaining()) + uint64(len(trace.table.pages))
	}
}

func BenchmarkReadTokens(b *testing.B) {
	trace, err := os.ReadFile(filepath.Join(samples, "sharegpt_300_permuted_ids.jsonl.gz"))
	if err != nil {
		b.Skip("no samples here")
	}
	benchmarkRead(b, trace)
}

func BenchmarkReadLengths(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(samples, "vidur_arxiv_summarization_stats.csv"))
	if err != nil {
		b.Skip("no samples here")
	}
	benchmarkRead(b, text)
}

func benchmarkRead(b *testing.B, text []byte) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		trace, err := Open("t", bytes.NewReader(text), Options{Pace: &steps{gap: 1}})
		if err != nil {
			b.Fatal(err)
		}
		sinkHash += uint64(trace.Remaining())
	}
}
