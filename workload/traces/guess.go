package traces

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"blis/input/textio"
	"blis/workload/loadgen"
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
	rest := strings.TrimLeft(text.beginning(4096), " \t\r\n")
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
		if has(`"input_length"`, `"hash_ids"`) {
			return Mooncake
		}
		if tool, _ := loadgen.Recognise(text.beginning(text.r.Size())); tool != "" {
			return Format(tool)
		}
		if has(`"input_tok_ids"`, `"input_toks"`, `"arrival_time_ns"`) {
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
	case isServeGen([]byte(head)):
		return serveGen
	}
	return BLIS
}

// beginning is at most the first n bytes of the text that was not yet read.
func (l *lines) beginning(n int) string {
	start, _ := l.r.Peek(n)
	return string(start)
}

// strange names a text that is none of the formats, though it may be well known;
// nil where it may be one.
func strange(text *lines) error {
	start := text.beginning(text.r.Size())
	if _, err := loadgen.Recognise(start); err != nil {
		return fmt.Errorf("%s: %w", text.name, err)
	}
	rest := strings.TrimLeft(start, " \t\r\n")
	if !strings.HasPrefix(rest, "{") || guess(text) != Mooncake {
		return nil
	}
	keys := topKeys(rest)
	for _, name := range mooncakeNames {
		if strings.Contains(rest, strconv.Quote(name)) || len(keys) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%s: JSON of no known form, with the keys %s: want a trace of one of the formats %s", text.name, strings.Join(keys, ", "), strings.Join(Formats(), ", "))
}

// topKeys are the first keys of a JSON object, quoted, as far as its beginning
// shows them.
func topKeys(object string) (keys []string) {
	const most = 8
	j := textio.NewJSON("", bufio.NewReader(strings.NewReader(object)))
	j.Object("", func(key []byte) error {
		if len(keys) == most {
			return io.EOF
		}
		keys = append(keys, quote(key))
		return j.Skip()
	})
	return keys
}

// isServeGen reports whether a line describes a window of a ServeGen client
// (chunk-*-trace.csv, which has no header): start in s, requests per second, CV
// of the gaps, the name of their distribution or nothing, and its two
// parameters. Such a file describes traffic and lists no requests, so Open
// refuses it; package servegen reads it.
func isServeGen(firstLine []byte) bool {
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
