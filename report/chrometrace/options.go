package chrometrace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blis/vtime"
)

// DefaultEvents is the usual cap: 120 MB of JSON, which both viewers open.
const DefaultEvents = 1_000_000

// LeastEvents and MostEvents are the bounds of Options.Events.
const (
	LeastEvents = 1_000
	MostEvents  = 100_000_000
)

// Options say what of a run its Chrome trace has.
type Options struct {
	Events    int        // most events in the file, LeastEvents to MostEvents
	From, To  vtime.Time // the window: what is in [From, To) and the part of what reaches into it; To is vtime.Never for all
	Instances Instances
}

// check returns an error that says what is wrong with the options.
func (o *Options) check() error {
	switch {
	case o.Events < LeastEvents || o.Events > MostEvents:
		return fmt.Errorf("%d events: want %d to %d", o.Events, LeastEvents, MostEvents)
	case o.From < 0 || o.To <= o.From:
		return fmt.Errorf("a window from %s to %s: want an end after the start", o.From, o.To)
	}
	return nil
}

// Instances is a set of instances, by index, as ascending spans that do not touch. Empty: all.
type Instances []Span

// Span is the indices First to Last, both included.
type Span struct{ First, Last int }

// mostInstance is the largest index of a span.
const mostInstance = 1<<20 - 1

// ParseInstances reads spans such as 0-3 and 7.
func ParseInstances(list []string) (Instances, error) {
	var spans Instances
	for _, text := range list {
		first, last, isSpan := strings.Cut(strings.TrimSpace(text), "-")
		if !isSpan {
			last = first
		}
		a, errFirst := strconv.Atoi(first)
		b, errLast := strconv.Atoi(last)
		if errFirst != nil || errLast != nil || a < 0 || b < a || b > mostInstance {
			return nil, fmt.Errorf("%.40q: want indices of instances, from 0 to %d, such as 0-3,7", text, mostInstance)
		}
		spans = append(spans, Span{a, b})
	}
	slices.SortFunc(spans, func(x, y Span) int { return x.First - y.First })
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && s.First <= joined[n-1].Last+1 {
			joined[n-1].Last = max(joined[n-1].Last, s.Last)
			continue
		}
		joined = append(joined, s)
	}
	return joined, nil
}

// Has reports whether instance i is in the set.
func (s Instances) Has(i int32) bool {
	for _, span := range s {
		if int(i) <= span.Last {
			return int(i) >= span.First
		}
	}
	return len(s) == 0
}

// Last is the largest index that the set names, −1 if it is all.
func (s Instances) Last() int {
	if len(s) == 0 {
		return -1
	}
	return s[len(s)-1].Last
}

// String is the set as ParseInstances reads it; empty: all.
func (s Instances) String() string {
	var parts []string
	for _, span := range s {
		part := strconv.Itoa(span.First)
		if span.Last > span.First {
			part += "-" + strconv.Itoa(span.Last)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}
