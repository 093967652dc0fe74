package html

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// mostShown is how many characters of a name are on the page.
const mostShown = 80

// mostWhole is how many characters a name has that stays on one line in a table.
const mostWhole = 20

// mostWritten is how many characters of a longer text are, of a warning for example.
const mostWritten = 2000

// clean is a text from a result as it may be looked at: at most so many characters, with
// every character that controls rather than shows made visible. Names in results are what
// users and traces say: they may hold line ends, NUL, marks that turn the text around.
func clean(s string, most int) string {
	var b strings.Builder
	shown := 0
	for i, r := range s {
		if shown == most {
			b.WriteString("…")
			break
		}
		shown++
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"): // a byte that is no UTF-8
			fmt.Fprintf(&b, "[%02X]", s[i])
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7F:
			b.WriteRune('␡')
		case controls(r):
			fmt.Fprintf(&b, "[U+%04X]", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// controls reports whether a character shows nothing but changes how others are shown:
// C1 controls, marks of direction, separators, characters of no width, and tags.
func controls(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0x9F, r == 0xAD, r == 0x61C, r == 0x180E, r == 0xFEFF,
		r >= 0x200B && r <= 0x200F, r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F,
		r >= 0xFFF9 && r <= 0xFFFB, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return false
}

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// escaped is a text for HTML, within elements and within attributes.
func escaped(s string) string { return markup.Replace(s) }

// words is a text of a result, such as a warning.
func words(s string) string { return escaped(clean(s, mostWritten)) }

// name is a name of a result, apart from the text around it: <bdi> keeps letters that
// run from right to left from turning what follows.
func name(s string) string {
	if s == "" {
		return `<span class="dim">(none)</span>`
	}
	open := "<bdi>"
	if utf8.RuneCountInString(s) <= mostWhole {
		open = `<bdi class="w">`
	}
	return open + escaped(clean(s, mostShown)) + "</bdi>"
}

// names are names with commas.
func names(list []string) string {
	var all []string
	for _, s := range list {
		all = append(all, name(s))
	}
	return strings.Join(all, ", ")
}
