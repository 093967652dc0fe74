package latency

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"blis/input/nesting"
)

// Limits of a file, far above what GPUs, models and coefficients need.
const (
	maxDepth = 16  // mappings and lists inside each other
	maxName  = 256 // bytes of a name before a colon
)

// decodeYAML reads one strict YAML document: unknown and repeated fields are
// errors, and errors carry file and line.
func decodeYAML(data []byte, file string, into any) error {
	if line, problem := nesting.Check(string(data), nesting.Counter{Most: maxDepth, Name: maxName}); problem != "" {
		return locate(file, line, problem)
	}
	return guard(file, func() error {
		err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(into)
		if errors.Is(err, io.EOF) { // an empty document; what is missing is said by the caller
			return nil
		}
		return err
	})
}

// decodeNode does the same for a part of a document.
func decodeNode(node ast.Node, file string, into any) error {
	return guard(file, func() error { return yaml.NodeToValue(node, into, yaml.Strict()) })
}

// guard gives an error of the YAML library its file and line. The library has
// panicked on odd input, which must not turn a user's file into a crash.
func guard(file string, decode func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: not valid YAML (the parser gave up: %s)", file, firstLine(fmt.Sprint(r)))
		}
	}()
	if err := decode(); err != nil {
		return yamlError(err, file)
	}
	return nil
}

// yamlError turns the library's error into one line with file and line number.
func yamlError(err error, file string) error {
	var positioned yaml.Error
	if errors.As(err, &positioned) {
		line := 0
		if t := positioned.GetToken(); t != nil && t.Position != nil {
			line = t.Position.Line
		}
		return locate(file, line, firstLine(positioned.GetMessage()))
	}
	return fmt.Errorf("%s: %s", file, firstLine(err.Error()))
}

func locate(file string, line int, text string) error {
	return fmt.Errorf("%s:%d: %s", file, line, text)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// lineOf is the line on which a node starts.
func lineOf(node ast.Node) int {
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		node = m.Values[0].Key
	}
	if node == nil || node.GetToken() == nil || node.GetToken().Position == nil {
		return 0
	}
	return node.GetToken().Position.Line
}
