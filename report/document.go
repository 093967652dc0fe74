package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"strings"

	"blis/latency"
	"blis/report/plaintext"
)

// Document is a result that can be written for programs and for people.
type Document interface {
	// JSON writes the result as a JSON document. Its schema, where it has one,
	// is in docs/.
	JSON(w io.Writer) error
	// Text writes the result for a person.
	Text(w io.Writer, s plaintext.Style) error
}

// WriteIndented writes a value as an indented JSON document that leaves <, > and &
// as they are.
func WriteIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeObject writes a struct as an object with each field on a line of its own.
func writeObject(w io.Writer, object any) error {
	b := bufio.NewWriter(w)
	err := writeFields(b, object)
	b.WriteString("\n}\n")
	return firstOf(err, b.Flush())
}

// writeFields begins an object with the fields of a struct, each on a line of
// its own; the caller ends the object.
func writeFields(w *bufio.Writer, object any) error {
	open := "{\n"
	return eachField(reflect.ValueOf(object).Elem(), func(name string, value any) error {
		text, err := marshal(value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(w, "%s  %q: %s", open, name, text)
		open = ",\n"
		return nil
	})
}

// eachField visits the fields of a struct by their JSON names, fields of embedded
// structs in their place.
func eachField(v reflect.Value, visit func(name string, value any) error) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		var err error
		if f.Anonymous {
			err = eachField(v.Field(i), visit)
		} else {
			name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			if option == "omitempty" && v.Field(i).IsZero() {
				continue
			}
			err = visit(name, v.Field(i).Interface())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// marshal is json.Marshal that leaves < and > as they are.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// firstOf returns the first error: later ones are often its consequences.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Version names the program that computed a result. A result is a function of it, of
// the configuration and of the seed.
type Version struct {
	Commit   string `json:"commit"`   // unknown where the build had no repository, as in go run and tests
	Modified bool   `json:"modified"` // files differed from the commit
	Data     string `json:"data"`     // date of the shipped coefficients, models and GPUs
}

// CurrentVersion returns the version that the build wrote into the binary. In a program of
// another module the commit is the version of the module blis.
func CurrentVersion() Version {
	v := Version{Commit: "unknown", Data: latency.DataDate}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Path != module {
		for _, m := range info.Deps {
			if m.Path == module && m.Version != "" && m.Replace == nil {
				v.Commit = m.Version
			}
		}
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// module is the path of this module.
const module = "blis"
