package latency

import (
	"fmt"
	"strings"

	"blis/yamldoc"
)

// limits of a file, far above what GPUs, models and coefficients need.
var limits = yamldoc.Options{Bytes: 1 << 20, Depth: 16, Name: 256, Values: 1 << 16}

// decodeYAML reads a document into a struct with yaml tags. An empty document
// leaves it as it is: what is missing is for the caller to say.
func decodeYAML(data []byte, file string, into any) error {
	root, err := yamldoc.Read(file, data, limits)
	if err != nil {
		return err
	}
	return yamldoc.Decode(file, yamldoc.Place{}, root, into)
}

func locate(file string, line int, text string) error {
	return fmt.Errorf("%s:%d: %s", file, line, text)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
