package cli

import (
	"path/filepath"

	"blis/bundle"
	"blis/script"
	"blis/setup"
)

// isProgram reports whether a file is a program in Starlark, by its name.
func isProgram(path string) bool { return filepath.Ext(path) == ".star" }

// programBundle is the bundle of a program: it decides all that it has functions for, and
// everything else is at its default.
func programBundle(path string, text []byte) (b bundle.Bundle, err error) {
	kinds, err := script.Kinds(path, string(text))
	if err != nil {
		return b, setup.Caused(err)
	}
	for _, kind := range kinds {
		for _, field := range [][2]string{{".type", "starlark"}, {".params.file", path}, {".params.source", string(text)}} {
			if err := b.Set(string(kind)+field[0], field[1]); err != nil {
				return b, inputError(err.Error())
			}
		}
	}
	return b, nil
}

// parseBundle reads a file of policies: a bundle, or a program.
func parseBundle(path string, text []byte) (bundle.Bundle, error) {
	if isProgram(path) {
		return programBundle(path, text)
	}
	b, err := bundle.Parse(path, text)
	if err != nil {
		return b, inputError(err.Error())
	}
	return b, nil
}
