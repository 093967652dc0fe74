package html

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// deepest is how many lists and objects may be within each other.
const deepest = 100

// skipped is a key of the document that is checked but not kept: every request of a run.
const skipped = "requests"

// parse reads a document. Errors say line and column.
func parse(name string, content []byte) (v value, err error) {
	p := &parser{content: content}
	defer func() {
		if reason := recover(); reason != nil {
			fault, ok := reason.(syntaxFault)
			if !ok {
				panic(reason)
			}
			line, column := p.place()
			v, err = value{}, &Error{fmt.Sprintf("%s:%d:%d", name, line, column), string(fault)}
		}
	}()
	p.space()
	if p.at == len(content) {
		return v, &Error{name, "the file is empty: want a JSON result"}
	}
	v = p.value(0)
	p.space()
	if p.at < len(content) {
		panic(syntaxFault("more after the end of the JSON document"))
	}
	return v, nil
}

// syntaxFault is what is wrong at the place where the parser is. It is thrown to parse,
// so that the grammar can be read.
type syntaxFault string

type parser struct {
	content []byte
	at      int
}

// place is the line and the column of the next byte, from 1.
func (p *parser) place() (line, column int) {
	line, column = 1, 1
	for _, c := range p.content[:min(p.at, len(p.content))] {
		column++
		if c == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}

func (p *parser) space() {
	for p.at < len(p.content) {
		switch p.content[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

// next is the next byte, which there must be.
func (p *parser) next() byte {
	if p.at >= len(p.content) {
		panic(syntaxFault("the JSON document ends here, before it is complete"))
	}
	return p.content[p.at]
}

func (p *parser) expect(c byte) {
	if p.next() != c {
		panic(syntaxFault(fmt.Sprintf("want %q", c)))
	}
	p.at++
}

func (p *parser) value(depth int) value {
	if depth > deepest {
		panic(syntaxFault(fmt.Sprintf("more than %d lists and objects within each other", deepest)))
	}
	switch c := p.next(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.list(depth)
	case c == '"':
		return value{kind: text, text: p.string()}
	case c == '-' || c >= '0' && c <= '9':
		x, literal := p.number()
		return value{kind: number, number: x, text: literal}
	}
	switch {
	case p.word("null"):
		return value{}
	case p.word("true"):
		return value{kind: boolean, number: 1}
	case p.word("false"):
		return value{kind: boolean}
	}
	panic(syntaxFault("want a JSON value"))
}

// word takes a word if it is next.
func (p *parser) word(w string) bool {
	if len(p.content)-p.at < len(w) || string(p.content[p.at:p.at+len(w)]) != w {
		if rest := string(p.content[p.at:]); len(rest) < len(w) && w[:len(rest)] == rest {
			p.at = len(p.content)
			p.next()
		}
		return false
	}
	p.at += len(w)
	return true
}

func (p *parser) object(depth int) value {
	v, begin := value{kind: object}, p.at
	p.at++
	for first := true; ; first = false {
		p.space()
		if first && p.next() == '}' {
			break
		}
		if p.next() != '"' {
			panic(syntaxFault("want a key in quotes"))
		}
		key := p.string()
		p.space()
		p.expect(':')
		p.space()
		if depth == 0 && key == skipped {
			p.skipList(depth + 1)
		} else {
			v.keys, v.members = append(v.keys, key), append(v.members, p.value(depth+1))
		}
		p.space()
		if p.next() == '}' {
			break
		}
		p.expect(',')
	}
	p.at++
	v.raw = p.content[begin:p.at]
	return v
}

// skipList checks a list without keeping it.
func (p *parser) skipList(depth int) {
	if p.next() != '[' {
		p.value(depth)
		return
	}
	p.elements(func() { p.value(depth + 1) })
}

// elements takes a list, whose elements take takes.
func (p *parser) elements(take func()) {
	p.expect('[')
	for first := true; ; first = false {
		p.space()
		if first && p.next() == ']' {
			break
		}
		take()
		p.space()
		if p.next() == ']' {
			break
		}
		p.expect(',')
	}
	p.at++
}

func (p *parser) list(depth int) value {
	v, begin := value{kind: list}, p.at
	onlyNumbers := true
	p.elements(func() {
		if onlyNumbers {
			switch c := p.next(); {
			case c == 'n' && p.word("null"):
				v.numbers = append(v.numbers, math.NaN())
				return
			case c == '-' || c >= '0' && c <= '9':
				x, _ := p.number()
				v.numbers = append(v.numbers, x)
				return
			}
			onlyNumbers = false
			v.members = value{numbers: v.numbers}.items()
			v.numbers = nil
		}
		v.members = append(v.members, p.value(depth+1))
	})
	if v.numbers != nil {
		v.kind = numbers
	}
	v.raw = p.content[begin:p.at]
	return v
}

// number takes a number by the grammar of JSON. One too large for a float64 is infinite
// in none of our results and an error here.
func (p *parser) number() (float64, string) {
	begin := p.at
	digits := func() {
		if c := p.next(); c < '0' || c > '9' {
			panic(syntaxFault("want a digit"))
		}
		for p.at < len(p.content) && p.content[p.at] >= '0' && p.content[p.at] <= '9' {
			p.at++
		}
	}
	is := func(any string) bool {
		if p.at < len(p.content) {
			for i := range len(any) {
				if p.content[p.at] == any[i] {
					p.at++
					return true
				}
			}
		}
		return false
	}
	is("-")
	if p.next() == '0' {
		p.at++
	} else {
		digits()
	}
	if is(".") {
		digits()
	}
	if is("eE") {
		is("+-")
		digits()
	}
	literal := string(p.content[begin:p.at])
	x, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		p.at = begin
		panic(syntaxFault("a number that is too large"))
	}
	return x, literal
}

// string takes a text in quotes.
func (p *parser) string() string {
	begin := p.at
	p.at++
	plain := true
	for {
		c := p.next()
		switch {
		case c == '"':
			p.at++
			literal := p.content[begin:p.at]
			if plain && utf8.Valid(literal) {
				return string(literal[1 : len(literal)-1])
			}
			var s string
			if json.Unmarshal(literal, &s) != nil {
				p.at = begin
				panic(syntaxFault("a text with an unknown escape"))
			}
			return s
		case c < ' ':
			panic(syntaxFault("a control character in a text: want it escaped"))
		case c == '\\':
			plain = false
			p.at++
			p.next()
		}
		p.at++
	}
}
