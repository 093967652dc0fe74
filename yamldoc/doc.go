// Package yamldoc reads the text of one YAML document into a tree of nodes that
// know their lines. All files in YAML that a user writes are read here, so that
// they have the same limits and the same errors.
//
//	read.go     Read: limits, and text that is refused before the parser sees it
//	aliases.go  how many values aliases make of a text
//	convert.go  nodes of the parser as a Node
//	node.go     Node: a value with its line
//	decode.go   Decode: a Node as a struct
//	format.go   Format: a Node as YAML, each value on its line
//	error.go    Error: file, line, field, what is wrong and what would be right
//
// The format is strict. A name that is given twice, tags, directives, names
// after a question mark and a second document are errors; anchors, aliases and
// merge keys are errors where Options do not allow them. Unknown fields are for
// the caller to refuse, who knows the fields (Unknown words that error), and for
// Decode.
//
// The parser is github.com/goccy/go-yaml. Its time and memory grow faster than
// its input with nesting and with the length of names: 400 KB of brackets keep
// it busy for minutes. Text beyond the limits never reaches it.
package yamldoc
