package trace

import (
	"math"
	"strconv"
	"unicode/utf8"

	"blis/vtime"
)

// AppendJSON appends the JSON form of a record to b: an object with its fields
// in their order, as encoding/json without HTML escapes would print it, but
// that durations are whole µs. It allocates nothing where b has room. Floats
// must be finite: see Writer.Consume.
func AppendJSON(b []byte, r Record) []byte {
	switch r := r.(type) {
	case *Admission:
		return appendAdmission(b, r)
	case *Priority:
		return appendPriority(b, r)
	case *Routing:
		return appendRouting(b, r)
	case *Outcome:
		return appendOutcome(b, r)
	case *Batch:
		return appendBatch(b, r)
	case *Preemption:
		return appendPreemption(b, r)
	case *Anomaly:
		return appendAnomaly(b, r)
	case *Scale:
		return appendScale(b, r)
	case *Header:
		return appendHeader(b, r)
	}
	panic("trace: a record of a kind of its own: " + r.Kind())
}

func appendAdmission(b []byte, r *Admission) []byte {
	b = append(b, `{"type":"admission","at_us":`...)
	b = appendInt(b, int64(r.At))
	b = append(b, `,"request":`...)
	b = appendInt(b, r.Request)
	b = appendWho(b, r.Tenant, r.Class)
	b = append(b, `,"input_tokens":`...)
	b = appendInt(b, int64(r.Input))
	b = append(b, `,"verdict":`...)
	b = appendString(b, r.Verdict)
	b = append(b, `,"reason":`...)
	b = appendString(b, r.Reason)
	b = append(b, `,"delay_us":`...)
	return append(appendWhole(b, r.Delay), '}')
}

func appendPriority(b []byte, r *Priority) []byte {
	b = append(b, `{"type":"priority","at_us":`...)
	b = appendInt(b, int64(r.At))
	b = append(b, `,"request":`...)
	b = appendInt(b, r.Request)
	b = append(b, `,"slo_class":`...)
	b = appendString(b, r.Class)
	b = append(b, `,"priority":`...)
	return append(appendFloat(b, r.Priority), '}')
}

func appendRouting(b []byte, r *Routing) []byte {
	b = append(b, `{"type":"routing","at_us":`...)
	b = appendInt(b, int64(r.At))
	b = append(b, `,"request":`...)
	b = appendInt(b, r.Request)
	b = appendWho(b, r.Tenant, r.Class)
	b = append(b, `,"input_tokens":`...)
	b = appendInt(b, int64(r.Input))
	b = append(b, `,"priority":`...)
	b = appendFloat(b, r.Priority)
	b = append(b, `,"target":`...)
	b = appendWhole(b, r.Target)
	b = append(b, `,"reason":`...)
	b = appendString(b, r.Reason)
	b = append(b, `,"forced":`...)
	b = strconv.AppendBool(b, r.Forced)
	b = append(b, `,"score":`...)
	b = appendOptional(b, r.Score)
	b = append(b, `,"best":`...)
	b = appendOptional(b, r.Best)
	b = append(b, `,"regret":`...)
	b = appendOptional(b, r.Regret)
	b = append(b, `,"expected_hit_tokens":`...)
	b = appendWhole(b, r.ExpectedHit)
	b = append(b, `,"candidates":`...)
	b = appendList(b, r.Candidates, appendCandidate)
	b = append(b, `,"snapshots":`...)
	return append(appendSnapshots(b, r.Snapshots), '}')
}

func appendCandidate(b []byte, c Candidate) []byte {
	b = append(b, `{"instance":`...)
	b = appendInt(b, int64(c.Instance))
	b = append(b, `,"score":`...)
	b = appendFloat(b, c.Score)
	b = append(b, `,"breakdown":`...)
	b = appendList(b, c.Breakdown, func(b []byte, s Breakdown) []byte {
		b = append(b, `{"scorer":`...)
		b = appendString(b, s.Scorer)
		b = append(b, `,"share":`...)
		return append(appendFloat(b, s.Share), '}')
	})
	b = append(b, `,"queue_depth":`...)
	b = appendWhole(b, c.QueueDepth)
	b = append(b, `,"batch_size":`...)
	b = appendWhole(b, c.BatchSize)
	b = append(b, `,"in_flight":`...)
	b = appendWhole(b, c.InFlight)
	b = append(b, `,"kv_used_blocks":`...)
	return append(appendWhole(b, c.UsedBlocks), '}')
}

func appendSnapshots(b []byte, s *Snapshots) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	b = append(b, `{"routable":`...)
	b = appendList(b, s.Routable, strconv.AppendBool)
	b = append(b, `,"queue_depth":`...)
	b = appendList(b, s.QueueDepth, appendInteger[int32])
	b = append(b, `,"batch_size":`...)
	b = appendList(b, s.BatchSize, appendInteger[int32])
	b = append(b, `,"in_flight":`...)
	b = appendList(b, s.InFlight, appendInteger[int32])
	b = append(b, `,"kv_used_blocks":`...)
	return append(appendList(b, s.UsedBlocks, appendInteger[int64]), '}')
}

func appendOutcome(b []byte, r *Outcome) []byte {
	b = append(b, `{"type":"outcome","at_us":`...)
	b = appendInt(b, int64(r.At))
	b = append(b, `,"request":`...)
	b = appendInt(b, r.Request)
	b = append(b, `,"state":`...)
	b = appendString(b, r.State)
	b = append(b, `,"reason":`...)
	b = appendString(b, r.Reason)
	b = append(b, `,"instance":`...)
	b = appendWhole(b, r.Instance)
	b = appendWho(b, r.Tenant, r.Class)
	b = append(b, `,"arrival_us":`...)
	b = appendInt(b, int64(r.Arrival))
	b = append(b, `,"ttft_us":`...)
	b = appendWhole(b, r.TTFT)
	b = append(b, `,"tpot_us":`...)
	b = appendWhole(b, r.TPOT)
	b = append(b, `,"e2e_us":`...)
	b = appendWhole(b, r.E2E)
	b = append(b, `,"queue_wait_us":`...)
	b = appendWhole(b, r.QueueWait)
	b = append(b, `,"actual_hit_tokens":`...)
	b = appendWhole(b, r.ActualHit)
	b = append(b, `,"expected_hit_tokens":`...)
	b = appendWhole(b, r.Expected)
	b = append(b, `,"tier":`...)
	if r.Tier == nil {
		b = append(b, "null"...)
	} else {
		b = appendString(b, *r.Tier)
	}
	b = append(b, `,"output_tokens":`...)
	b = appendInt(b, int64(r.Generated))
	b = append(b, `,"preemptions":`...)
	b = appendInt(b, int64(r.Preempted))
	b = append(b, `,"slo_met":`...)
	if r.SLOMet == nil {
		return append(b, "null}"...)
	}
	return append(strconv.AppendBool(b, *r.SLOMet), '}')
}

// appendWho is tenant and class, which several kinds have side by side.
func appendWho(b []byte, tenant, class string) []byte {
	b = append(b, `,"tenant":`...)
	b = appendString(b, tenant)
	b = append(b, `,"slo_class":`...)
	return appendString(b, class)
}

// integer is what prints as a whole number.
type integer interface {
	int | int32 | int64 | vtime.Duration
}

func appendInteger[T integer](b []byte, v T) []byte { return appendInt(b, int64(v)) }

// appendWhole is *p, or null.
func appendWhole[T integer](b []byte, p *T) []byte {
	if p == nil {
		return append(b, "null"...)
	}
	return appendInt(b, int64(*p))
}

// appendOptional is *p, or null.
func appendOptional(b []byte, p *float64) []byte {
	if p == nil {
		return append(b, "null"...)
	}
	return appendFloat(b, *p)
}

// appendList is an array; null of a nil list.
func appendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}

// appendFloat prints the shortest form that reads back as f, with an exponent
// where encoding/json has one (ECMA-262, Number::toString).
func appendFloat(b []byte, f float64) []byte {
	const exact = 1 << 53 // whole numbers up to it are printed as they are
	if n := int64(f); f > -exact && f < exact && float64(n) == f && (n != 0 || !math.Signbit(f)) {
		return appendInt(b, n)
	}
	if size := math.Abs(f); size == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-07
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// appendString prints a JSON string: what is not UTF-8 is the replacement
// character, and U+2028 and U+2029 are escaped, which end lines in JavaScript.
func appendString(b []byte, s string) []byte {
	if !unescaped(s) {
		return appendEscaped(b, s)
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// asItIs are the bytes that are characters of their own and need no escape.
var asItIs = func() (list [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		list[c] = c != '"' && c != '\\'
	}
	return list
}()

// appendEscaped is appendString for any string.
func appendEscaped(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c, size := s[i], 1
		var escape string
		switch {
		case c == '"' || c == '\\':
			escape = `\` + s[i:i+1]
		case c < ' ':
			escape = controlEscapes[c]
		case c >= utf8.RuneSelf:
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r == '\u2028' {
				escape = `\u2028`
			} else if r == '\u2029' {
				escape = `\u2029`
			} else if r == utf8.RuneError && size == 1 {
				escape = `\ufffd`
			}
		}
		if escape != "" {
			b = append(append(b, s[from:i]...), escape...)
			from = i + size
		}
		i += size
	}
	return append(append(b, s[from:]...), '"')
}

// controlEscapes are the escapes of the characters before the space.
var controlEscapes = func() (list [' ']string) {
	const digits = "0123456789abcdef"
	for c := range list {
		list[c] = `\u00` + digits[c>>4:c>>4+1] + digits[c&15:c&15+1]
	}
	list['\b'], list['\f'], list['\n'], list['\r'], list['\t'] = `\b`, `\f`, `\n`, `\r`, `\t`
	return list
}()
