package yamldoc

import "bytes"

// tooMany finds out before the parser does whether aliases make a short text
// stand for more than most values, and on which line, 0 for no: the parser takes
// 200 bytes of memory for each byte. It counts commas and lines, for each use of an
// alias again, so what it lets pass may still be too much; reader.count is exact.
func tooMany(text []byte, most int) (line int) {
	c := aliasCount{most: most, sizes: map[string]int{}}
	for line = 1; len(text) > 0; line++ {
		content, rest, _ := bytes.Cut(text, []byte("\n"))
		c.line(content)
		if c.values > most {
			return line
		}
		text = rest
	}
	return 0
}

// aliasCount is how many values there were so far.
type aliasCount struct {
	most   int // values; a count stops just above
	values int
	depth  int // brackets and braces that are open
	open   []anchor
	sizes  map[string]int // values behind each anchor that is complete
}

// anchor is one whose value has not ended.
type anchor struct {
	name   string
	values int // that came before
	depth  int // a value in brackets ends where depth is back at this; −1: a block
	indent int // a block ends at a line that is indented no deeper
}

func (c *aliasCount) line(text []byte) {
	content := bytes.TrimLeft(text, " ")
	if len(content) == 0 || content[0] == '#' {
		return
	}
	indent := len(text) - len(content)
	c.close(func(a *anchor) bool { return a.depth < 0 && indent <= a.indent && c.depth == 0 })
	c.values++
	for i := 0; i < len(content); i++ {
		switch b := content[i]; {
		case b == ',':
			c.values++
		case b == '{' || b == '[':
			c.depth++
		case b == '}' || b == ']':
			c.depth--
			c.close(func(a *anchor) bool { return a.depth >= c.depth })
		case b == '#' && i > 0 && content[i-1] == ' ':
			return
		case (b == '&' || b == '*') && (i == 0 || bytes.IndexByte([]byte(" ,[{"), content[i-1]) >= 0):
			name := nameAt(content[i+1:])
			i += len(name)
			if b == '*' {
				c.values = min(c.values+c.sizes[string(name)], c.most+1)
				continue
			}
			a := anchor{name: string(name), values: c.values, depth: -1, indent: indent}
			if next := bytes.TrimLeft(content[i+1:], " "); len(next) > 0 && (next[0] == '{' || next[0] == '[') {
				a.depth = c.depth
			}
			c.open = append(c.open, a)
		}
	}
}

// close takes the anchors whose values have ended, the innermost first.
func (c *aliasCount) close(ended func(*anchor) bool) {
	for n := len(c.open); n > 0 && ended(&c.open[n-1]); n-- {
		a := &c.open[n-1]
		c.sizes[a.name] = c.values - a.values + 1
		c.open = c.open[:n-1]
	}
}

// nameAt is the name that text begins with.
func nameAt(text []byte) []byte {
	if end := bytes.IndexAny(text, " ,[]{}:"); end >= 0 {
		return text[:end]
	}
	return text
}
