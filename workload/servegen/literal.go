package servegen

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// table is a distribution of lengths in tokens: each with its weight.
type table struct{ lengths, weights []float64 }

// longest is the largest length, in tokens, far above any model's context.
const longest = 10_000_000

// sumTolerance is how far from 1 probabilities may add up to. Those of the
// published files, sums of thousands of rounded terms, are within 4e-14.
const sumTolerance = 1e-9

// entry is one key of a dictionary and its probability.
type entry struct {
	key, probability float64
	position         int
}

// fault is what is wrong with a dictionary, and where: at the byte position,
// counted from 1.
type fault struct {
	position    int
	value, want string
}

func (f *fault) Error() string {
	return fmt.Sprintf("position %d: %s: want %s", f.position, f.value, f.want)
}

// literal reads dictionaries as Python prints them, {18: 0.25, 19: 0.75}, one
// after the other. Its zero value is ready.
type literal struct {
	text    string
	at      int
	entries []entry
}

// key reads one kind of keys.
type key func(text string) (float64, bool)

// lengths reads keys that are numbers of tokens from low on.
func lengths(low int64) key {
	return func(text string) (float64, bool) {
		n, ok := whole(text)
		return float64(n), ok && n >= low && n <= longest
	}
}

// shares reads keys from 0 to 1.
func shares(text string) (float64, bool) {
	x, ok := number(text)
	return x, ok && x <= 1
}

// parse reads a dictionary into l.entries, in the order of its keys. Keys are
// unique, probabilities from 0 to 1, and the probabilities of a dictionary with
// keys add up to 1. wantKey says what keys there are.
func (l *literal) parse(text string, read key, wantKey string) error {
	l.text, l.at, l.entries = text, 0, l.entries[:0]
	if err := l.skip('{', "a dictionary {key: probability, …}"); err != nil {
		return err
	}
	for l.next() != '}' || len(l.entries) > 0 {
		var e entry
		var err error
		if e.key, e.position, err = l.value(read, wantKey); err != nil {
			return err
		}
		if err = l.skip(':', "a colon after the key"); err != nil {
			return err
		}
		if e.probability, _, err = l.value(shares, "a probability from 0 to 1"); err != nil {
			return err
		}
		l.entries = append(l.entries, e)
		if l.next() == '}' {
			break
		}
		if err = l.skip(',', "a comma or } after the probability"); err != nil {
			return err
		}
	}
	l.at++
	if l.next(); l.at < len(l.text) {
		return l.fault(l.at, l.text[l.at:], "nothing after the dictionary")
	}
	return l.check()
}

// check sorts the entries and checks them as a whole. The sum is taken in the
// order of the file.
func (l *literal) check() error {
	sum := 0.0
	for _, e := range l.entries {
		sum += e.probability
	}
	if len(l.entries) > 0 && !(math.Abs(sum-1) <= sumTolerance) {
		return &fault{1, fmt.Sprint(sum), "probabilities that add up to 1"}
	}
	byKey := func(a, b entry) int { return cmp.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(l.entries, byKey) {
		slices.SortStableFunc(l.entries, byKey)
	}
	for i := 1; i < len(l.entries); i++ {
		if e := &l.entries[i]; e.key == l.entries[i-1].key {
			return &fault{e.position, fmt.Sprint(e.key), fmt.Sprintf("each key once, it is at position %d too", l.entries[i-1].position)}
		}
	}
	return nil
}

// table is the entries with a probability above 0, nil where there are none.
func (l *literal) table() *table {
	n := 0
	for _, e := range l.entries {
		if e.probability > 0 {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	t := &table{make([]float64, 0, n), make([]float64, 0, n)}
	for _, e := range l.entries {
		if e.probability > 0 {
			t.lengths, t.weights = append(t.lengths, e.key), append(t.weights, e.probability)
		}
	}
	return t
}

// next skips blanks and is the byte that follows, 0 at the end.
func (l *literal) next() byte {
	for ; l.at < len(l.text); l.at++ {
		switch c := l.text[l.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// skip takes one byte, which is expected.
func (l *literal) skip(c byte, want string) error {
	if l.next() != c || l.at == len(l.text) {
		return l.fault(l.at, l.text[l.at:], want)
	}
	l.at++
	return nil
}

// value takes a number up to the next blank or punctuation.
func (l *literal) value(read key, want string) (x float64, position int, err error) {
	l.next()
	begin := l.at
	if n := strings.IndexAny(l.text[begin:], " \t\r\n,:{}"); n >= 0 {
		l.at += n
	} else {
		l.at = len(l.text)
	}
	x, ok := read(l.text[begin:l.at])
	if !ok {
		return 0, 0, l.fault(begin, l.text[begin:l.at], want)
	}
	return x, begin + 1, nil
}

func (l *literal) fault(at int, value, want string) error {
	return &fault{at + 1, quote(value), want}
}
