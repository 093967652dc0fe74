// Package nesting tells how deep YAML is nested before the parser sees it. The
// parser takes time and memory that grow faster than its input with nesting and
// with the length of names: 400 KB of brackets keep it busy for minutes.
package nesting
