package traces

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
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

func benchmarkRead(b *testing.B, text []byte) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		trace, err := Open("t", bytes.NewReader(text), Options{})
		if err != nil {
			b.Fatal(err)
		}
		sinkHash += uint64(trace.Remaining())
	}
}
