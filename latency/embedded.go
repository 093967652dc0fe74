package latency

import (
	"slices"
	"strings"
	"sync"
)

// embedded is one entry of an embedded list, decoded at the first look-up of
// one of its names. Decoding whole lists takes milliseconds, more than a short run.
type embedded[T any] struct {
	names  []string // on its first lines: ids or name, aliases
	values func() []T
}

// itemMark begins each entry of an embedded list.
const itemMark = "\n  - "

// embeddedList cuts an embedded file into the entries of its one list. parse reads a
// file of the same form with one entry. The files are our own, and a test compares
// the entries with the whole, so the cut needs no YAML parser.
func embeddedList[T any](file []byte, name string, parse func(data []byte, file string) ([]T, error)) []embedded[T] {
	head, rest, _ := strings.Cut(string(file), itemMark)
	key := head[strings.LastIndexByte(head, '\n')+1:]
	var list []embedded[T]
	for item := range strings.SplitSeq(rest, itemMark) {
		list = append(list, embedded[T]{itemNames(item), sync.OnceValue(func() []T {
			values, err := parse([]byte(key+itemMark+item+"\n"), name)
			if err != nil {
				panic("latency: embedded " + err.Error())
			}
			return values
		})})
	}
	return list
}

// itemNames returns the values of ids or name and of aliases, which are the first and
// perhaps the second line of an entry.
func itemNames(item string) []string {
	first, rest, _ := strings.Cut(item, "\n")
	second, _, _ := strings.Cut(rest, "\n")
	names := listOf(first)
	if strings.HasPrefix(strings.TrimLeft(second, " "), "aliases:") {
		names = append(names, listOf(second)...)
	}
	return names
}

// listOf returns the values after the key of a line: one, or several in brackets.
func listOf(line string) []string {
	_, value, _ := strings.Cut(line, ": ")
	return strings.Split(strings.Trim(value, "[]"), ", ")
}

// find returns the value for which is(value, name) is true. It decodes only entries
// with this name, or with an id that ends in it.
func find[T any](list []embedded[T], name string, is func(*T, string) bool) (value T, found bool) {
	for _, e := range list {
		if !slices.ContainsFunc(e.names, func(n string) bool { return strings.EqualFold(n, name) || strings.EqualFold(baseName(n), name) }) {
			continue
		}
		for _, v := range e.values() {
			if is(&v, name) {
				return v, true
			}
		}
	}
	return value, false
}

// all decodes every entry, in the order of the file.
func all[T any](list []embedded[T]) []T {
	var values []T
	for _, e := range list {
		values = append(values, e.values()...)
	}
	return values
}

// DataDate is the day of the last change of data/: coefficients, models and GPUs.
const DataDate = "2026-11-30"

// DataSum is a hash of data/. Results that are kept together are of one.
const DataSum = "21fef390913ad3c3"
