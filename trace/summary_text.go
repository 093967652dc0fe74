package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// charsPerToken is the usual rule of thumb for English text in the tokenizers
// of language models. It needs no tokenizer and is the same everywhere.
const charsPerToken = 4

// longestName is how many characters of a name a text shows.
const longestName = 40

// section is a part of a text. Its lines go from the most important to the
// least.
type section struct {
	name  string // in the note on lines that were left out
	title string
	lines []string
}

func (p *section) add(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

// textLine is a line and the section that it is of; a title has first set.
type textLine struct {
	text, section string
	first         bool
}

// write makes the text of the facts.
func (r *Report) write() {
	var lines []textLine
	for _, p := range r.sections() {
		if len(p.lines) == 0 {
			continue
		}
		for i, line := range append([]string{p.title}, p.lines...) {
			lines = append(lines, textLine{line, p.name, i == 0})
		}
	}
	r.Text, r.LeftOut = within(lines, r.TokenLimit*charsPerToken)
	r.TextTokens = (utf8.RuneCountInString(r.Text) + charsPerToken - 1) / charsPerToken
}

// within is the beginning of lines with at most most characters. If lines are left
// out the last line says how many and of which sections; titles do not count.
func within(lines []textLine, most int) (text string, leftOut int) {
	size, note := 0, ""
	for _, l := range lines {
		size += utf8.RuneCountInString(l.text) + 1
	}
	kept := len(lines)
	for kept > 0 && (size+utf8.RuneCountInString(note) > most || kept < len(lines) && lines[kept-1].first) {
		kept--
		size -= utf8.RuneCountInString(lines[kept].text) + 1
		note, leftOut = noteOn(lines[kept:])
	}
	var b strings.Builder
	for _, l := range lines[:kept] {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	b.WriteString(note)
	return b.String(), leftOut
}

// noteOn says what was left out.
func noteOn(lines []textLine) (note string, n int) {
	var sections []string
	for _, l := range lines {
		if !l.first {
			n++
		}
		if !slices.Contains(sections, l.section) {
			sections = append(sections, l.section)
		}
	}
	return fmt.Sprintf("(%s left out to stay within the limit: %s)\n", plural(int64(n), "line"), strings.Join(sections, ", ")), n
}

// named is a name as a text shows it: quoted unless it is a plain word or
// words, and not too long. Names come from users and must not look like text
// of the summary.
func named(name string) string {
	if name == "" {
		return `""`
	}
	plain := true
	for _, c := range name {
		plain = plain && (unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("-_./:+", c))
	}
	if utf8.RuneCountInString(name) > longestName {
		name = string([]rune(name)[:longestName-1]) + "…"
	}
	if plain {
		return name
	}
	return clipped(strconv.Quote(name), 2*longestName)
}

// worded is a reason or a name of an anomaly: words, so blanks are no cause to
// quote.
func worded(reason string) string {
	if q := named(strings.ReplaceAll(reason, " ", "_")); !strings.HasPrefix(q, `"`) {
		return clipped(reason, longestName)
	}
	return named(reason)
}

func clipped(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// grouped prints a whole number with commas between thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// plural is a number with its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

// times is how often something happened.
func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return grouped(n) + " times"
}

// length prints a duration of µs.
func length(us float64) string {
	switch {
	case us < 1e3:
		return strconv.FormatFloat(us, 'f', 0, 64) + " µs"
	case us < 1e5:
		return strconv.FormatFloat(us/1e3, 'f', 1, 64) + " ms"
	case us < 1e7:
		return grouped(int64(us/1e3+0.5)) + " ms"
	}
	return strconv.FormatFloat(us/1e6, 'f', 2, 64) + " s"
}

// moment prints an instant of µs in seconds.
func moment(us int64) string { return strconv.FormatFloat(float64(us)/1e6, 'f', 3, 64) + " s" }

// stretch prints the bounds of a bin.
func stretch(from, to int64) string {
	short := func(us int64) string { return strconv.FormatFloat(float64(us)/1e6, 'f', -1, 64) }
	return short(from) + "–" + short(to) + " s"
}

// number prints a score.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// ratio prints how many times something is something else.
func ratio(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// percent prints a part of something, – of nothing.
func percent(part, of int64) string {
	if of == 0 {
		return "–"
	}
	return sharePercent(float64(part) / float64(of))
}

func sharePercent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

// joined is a list of what there is.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// some is text if there is any of it.
func some(n int64, format string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, grouped(n))
}

// counting is a number with its noun; empty for 0.
func counting(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return some(n, "%s "+more)
}

// listed joins no more than most parts and says how many more there are.
func listed(parts []string, most int) string {
	if extra := len(parts) - most; extra > 0 {
		parts = append(slices.Clone(parts[:most]), fmt.Sprintf("%d more", extra))
	}
	return strings.Join(parts, ", ")
}
