package traces

import (
	"bytes"
	"strconv"
	"strings"
)

// What guess may find besides the formats.
const (
	simHeader Format = "the header of " + InferenceSim
	serveGen  Format = "servegen"
)

// guess looks at the beginning of a text: the keys of a JSON object, the names
// of columns that one format has and others have not, or else our own format,
// whose reader explains what it misses.
func guess(text *lines) Format {
	start, _ := text.r.Peek(4096)
	rest := strings.TrimLeft(string(start), " \t\r\n")
	head, _, _ := strings.Cut(rest, "\n")
	has := func(names ...string) bool {
		for _, name := range names {
			if strings.Contains(head, name) {
				return true
			}
		}
		return false
	}
	switch {
	case strings.HasPrefix(head, "{"), strings.HasPrefix(head, "["):
		head = rest // a list, or an object over several lines
		if has(`"input_tok`, `"output_tok`, `"arrival_time_ns"`) {
			return Tokens
		}
		return Mooncake
	case has("TIMESTAMP", "ContextTokens"):
		return Azure
	case has("Request tokens", "Response tokens"):
		return BurstGPT
	case has("arrival_time_us"):
		return InferenceSim
	case has(arrivedAt) && has("num_prefill_tokens", "num_decode_tokens"):
		return Vidur
	case has("num_prefill_tokens", "num_decode_tokens"):
		return Lengths
	case strings.HasPrefix(rest, "trace_version:"), strings.Contains(rest, "\ntrace_version:"):
		return simHeader
	case IsServeGen([]byte(head)):
		return serveGen
	}
	return BLIS
}

// IsServeGen reports whether a line is that of a window of a ServeGen client
// (chunk-*-trace.csv, which has no header): start in s, requests per second, CV
// of the gaps, the name of their distribution or nothing, and its two
// parameters. Such a file describes traffic and lists no requests, so Open
// refuses it; package servegen reads it.
func IsServeGen(firstLine []byte) bool {
	fields := bytes.Split(bytes.TrimSpace(firstLine), []byte(","))
	if len(fields) != 6 {
		return false
	}
	for i, f := range fields {
		_, err := strconv.ParseFloat(string(trim(f)), 64)
		if number := err == nil; number != (i != 3) {
			return false
		}
	}
	return true
}
