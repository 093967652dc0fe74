package yamldoc

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Kind is the kind of a Node.
type Kind uint8

// The kinds of nodes.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Mapping
)

// Node is a value of a document. Aliases share the nodes of their anchors, so
// nodes must not be changed.
type Node struct {
	Kind         Kind
	Line, Column int // from 1; of a mapping: of its first name

	// Text of a scalar, without quotes. A number is as it was written if that is
	// JSON, else in decimal, or .nan or .inf. A Bool is true or false.
	Text string

	Items   []*Node  // of a List
	Members []Member // of a Mapping, in the order of the file, names unique

	size int // nodes below it and itself; aliases count each time
}

// Member is a name of a mapping with its value.
type Member struct {
	Name         string
	Line, Column int   // of the name, from 1
	Value        *Node // not nil
}

// Describe names the value in an error.
func (n *Node) Describe() string {
	switch n.Kind {
	case Null:
		return "null"
	case Mapping:
		return "a mapping"
	case List:
		return "a list"
	case String:
		return strconv.Quote(Clip(n.Text))
	}
	return Clip(n.Text)
}

// Get is the value of a name of a mapping, nil if there is none.
func (n *Node) Get(name string) *Node {
	for i := range n.Members {
		if n.Members[i].Name == name {
			return n.Members[i].Value
		}
	}
	return nil
}

// At is a copy of n and all that is in it on one line.
func (n *Node) At(line int) *Node {
	v := *n
	v.Line, v.Items, v.Members = line, nil, nil
	for _, item := range n.Items {
		v.Items = append(v.Items, item.At(line))
	}
	for _, m := range n.Members {
		v.Members = append(v.Members, Member{m.Name, line, m.Column, m.Value.At(line)})
	}
	return &v
}

// Whole is the number as an integer. ok is false for other kinds, fractions and
// numbers that int64 does not hold; 1e6 and 2.0 are integers.
func (n *Node) Whole() (i int64, ok bool) {
	if n.Kind != Number {
		return 0, false
	}
	if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
		return i, true
	}
	x, ok := n.Float()
	return int64(x), ok && x == math.Floor(x) && math.Abs(x) < 1<<53
}

// Float is the number as a float. ok is false for other kinds and for numbers
// that float64 does not hold; NaN and infinities that the file gives are numbers.
func (n *Node) Float() (x float64, ok bool) {
	if n.Kind != Number {
		return 0, false
	}
	switch strings.ToLower(n.Text) {
	case ".nan":
		return math.NaN(), true
	case ".inf", "+.inf":
		return math.Inf(1), true
	case "-.inf":
		return math.Inf(-1), true
	}
	x, err := strconv.ParseFloat(n.Text, 64)
	return x, err == nil
}

// Word is a scalar as a file of plain text has it.
func Word(text string, line int) *Node {
	n := &Node{Kind: String, Line: line, Text: text, size: 1}
	if isNumeral(text) {
		n.Kind = Number
	}
	return n
}

// isNumeral reports whether text is a decimal number.
func isNumeral(s string) bool {
	if s == "" || !strings.ContainsRune("-.0123456789", rune(s[0])) || strings.ContainsAny(s, "xX_pPnN") {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// isJSONNumber reports whether text is a number in JSON.
func isJSONNumber(s string) bool {
	return s != "" && (s[0] == '-' || '0' <= s[0] && s[0] <= '9') && strings.TrimSpace(s) == s && json.Valid([]byte(s))
}
