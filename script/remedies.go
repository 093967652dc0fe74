package script

import (
	"regexp"
	"strings"

	"go.starlark.net/syntax"

	"blis/suggest"
)

// remedies say what to write in place of words that Python has and Starlark has not.
var remedies = map[string]string{
	"import": "there is nothing to import: exp, log, sqrt, pow, floor and more are there without",
	"from":   "there is nothing to import: exp, log, sqrt, pow, floor and more are there without",
	"class":  "there are no classes: want functions, and dicts for what belongs together",
	"try":    "there are no exceptions to catch: want a test before, like if x > 0", "except": "there are no exceptions to catch", "finally": "there are no exceptions to catch",
	"raise": "want fail(\"why\") to end the run", "assert": "want if not …: fail(\"why\")",
	"is": "want == in place of is", "with": "there is nothing to open", "global": "globals cannot change: want state[\"name\"] = value",
	"nonlocal": "want state[\"name\"] = value", "del": "want d.pop(key)", "yield": "want to return a list", "async": "there is nothing to wait for", "await": "there is nothing to wait for",
	"as": "there is nothing to import or open", "load": "load is a reserved word; the effective load is i.queue + i.running + i.in_flight",
}

// unknownNames say the same of names.
var unknownNames = map[string]string{
	"math": "exp, log, sqrt, pow, floor and ceil are there without a module", "np": "vecs are there without a module: i.queue is one", "numpy": "vecs are there without a module: i.queue is one",
	"random": "want rand(), from 0 to below 1", "time": "there is no clock but req.now", "open": "there are no files", "isinstance": "want type(x) == \"int\"",
	"map": "want [f(x) for x in list]", "filter": "want [x for x in list if …]", "exec": "programs are one file", "eval": "programs are one file",
	"instances": "the second parameter, i, has the instances", "Exception": "want fail(\"why\")", "input": "want req.input",
}

// remedyOf is what to say behind an unknown name.
func remedyOf(name string) string {
	if text := unknownNames[name]; text != "" {
		return ": " + text
	}
	return suggest.Hint(name, predeclaredNames())
}

// remedyAt returns the column of an error of the parser, which is that behind the word
// that it did not expect, and what to say of it.
func remedyAt(source string, fault syntax.Error) (column int, remedy string) {
	column = int(fault.Pos.Col)
	lines := strings.SplitN(source, "\n", int(fault.Pos.Line)+1)
	if fault.Pos.Line < 1 || int(fault.Pos.Line) > len(lines) {
		return column, ""
	}
	line := []rune(strings.TrimRight(lines[fault.Pos.Line-1], "\r"))
	before := string(line[:min(max(column-1, 0), len(line))])
	word := before[strings.LastIndexFunc(before, func(r rune) bool { return !isLetter(r) })+1:]
	got := unexpected(fault.Msg)
	if word == "" {
		word = got
	}
	if strings.HasSuffix(before, word) {
		column -= len([]rune(word))
	}
	text := string(line)
	for _, w := range []string{word, got, firstWord(text)} {
		if r := remedies[w]; r != "" {
			return column, ": " + r
		}
	}
	switch {
	case got == "**" || word == "**":
		return column, ": want pow(x, y) in place of x ** y"
	case formatted.MatchString(text) && got == "string literal":
		return column, ": there are no f-strings: want \"%s\" % x"
	case got == "for" || word == "for":
		return column, ": there are no generators: want brackets, sum([x for x in list])"
	case strings.Contains(text, ":="):
		return column, ": want the assignment in a line of its own"
	case strings.Contains(text, "->"), word == ":":
		return column, ": there are no annotations of types: want def f(x), and x = 1"
	case strings.Contains(fault.Msg, "does not associate"):
		return column, ": comparisons do not chain: want a < b and b < c"
	case strings.HasPrefix(strings.TrimSpace(text), "@"):
		return column, ": there are no decorators"
	}
	return column, ""
}

// formatted finds an f-string.
var formatted = regexp.MustCompile(`(^|[^A-Za-z0-9_])[fF]["']`)

// unexpected is the word that a message of the parser begins with: got '**', want ….
func unexpected(text string) string {
	text, found := strings.CutPrefix(text, "got ")
	if !found {
		return ""
	}
	word, _, _ := strings.Cut(text, ", want")
	return strings.Trim(word, "'")
}

func isLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || '0' <= r && r <= '9'
}

func firstWord(line string) string {
	line = strings.TrimLeft(line, " \t")
	return line[:len(line)-len(strings.TrimLeftFunc(line, isLetter))]
}

// classify finds the kind of an error of the interpreter, and adds a remedy.
func classify(text string) (ErrorKind, string) {
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case strings.HasPrefix(text, "fail: "):
		return Exception, text
	case has("not implemented") && has("vec"):
		return TypeError, text + ": want above(x, y) or below(x, y), which compare entry by entry"
	case has("division by zero"), has("modulo by zero"):
		return ValueError, text + ": want a test before, or x / max(y, 1)"
	case has("out of range"), has("not in dict"), has("too large"), has("excessive repeat"):
		return ValueError, text
	case has("recursively"):
		return Exception, text + ": want a loop"
	case has("unknown binary op"), has("unknown unary op"), has("has no ."), has("not iterable"), has("want "), has("got "), has("not callable"), has("invalid call"), has("unhandled"), has("unhashable"):
		return TypeError, text
	}
	return Exception, text
}
