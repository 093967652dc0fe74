package servegen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Endings of the names of the two files of a client; either may be followed by
// packedEnd.
const (
	traceEnd   = "-trace.csv"
	datasetEnd = "-dataset.json"
	packedEnd  = ".gz"
)

// pair is the files of one client.
type pair struct{ name, trace, dataset string }

// find lists the clients of a folder in the order of their numbers, or the one
// client of a trace file.
func find(path string) ([]pair, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: want a folder of ServeGen's files, or one *%s: %w", path, traceEnd, cause(err))
	}
	if info.IsDir() {
		return findAll(path)
	}
	folder, name := filepath.Split(path)
	client, ok := stem(name, traceEnd)
	if !ok {
		return nil, fmt.Errorf("%s: want a folder of ServeGen's files, or one NAME%s (or NAME%s%s) with NAME%s beside it", path, traceEnd, traceEnd, packedEnd, datasetEnd)
	}
	names, err := list(filepath.Clean(folder + "."))
	if err != nil {
		return nil, err
	}
	dataset, err := beside(folder, names, client, datasetEnd, path)
	return []pair{{client, path, dataset}}, err
}

func findAll(folder string) ([]pair, error) {
	names, err := list(folder)
	if err != nil {
		return nil, err
	}
	var clients []string
	for _, name := range names {
		for _, end := range []string{traceEnd, datasetEnd} {
			if client, ok := stem(name, end); ok && !slices.Contains(clients, client) {
				clients = append(clients, client)
			}
		}
	}
	if len(clients) == 0 {
		return nil, fmt.Errorf("%s: want files NAME%s and NAME%s in this folder, there are none", folder, traceEnd, datasetEnd)
	}
	slices.SortFunc(clients, byNumber)
	pairs := make([]pair, len(clients))
	for i, client := range clients {
		p := pair{name: client}
		if p.trace, err = beside(folder, names, client, traceEnd, filepath.Join(folder, client+datasetEnd)); err != nil {
			return nil, err
		}
		if p.dataset, err = beside(folder, names, client, datasetEnd, p.trace); err != nil {
			return nil, err
		}
		pairs[i] = p
	}
	return pairs, nil
}

// list is the names in a folder, in the order of their bytes.
func list(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, cause(err))
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// beside is the file of a client with the given ending, plain or packed, of
// which there must be one; other is the file that needs it.
func beside(folder string, names []string, client, end, other string) (string, error) {
	plain, packed := slices.Contains(names, client+end), slices.Contains(names, client+end+packedEnd)
	path := filepath.Join(folder, client+end)
	switch {
	case plain && packed:
		return "", fmt.Errorf("%s: want this file or %s%s, not both", path, client+end, packedEnd)
	case packed:
		return path + packedEnd, nil
	case !plain:
		return "", fmt.Errorf("%s: there is no such file; want it, or %s%s, beside %s", path, client+end, packedEnd, other)
	}
	return path, nil
}

// stem is a name without its ending; false when it has another, or nothing
// before it.
func stem(name, end string) (string, bool) {
	s, ok := strings.CutSuffix(strings.TrimSuffix(name, packedEnd), end)
	return s, ok && s != ""
}

// byNumber orders names that end in numbers by what stands before the number,
// then by it: chunk-9 comes before chunk-10.
func byNumber(a, b string) int {
	a0, b0 := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789")
	if c := strings.Compare(a0, b0); c != 0 {
		return c
	}
	an, bn := strings.TrimLeft(a[len(a0):], "0"), strings.TrimLeft(b[len(b0):], "0")
	if c := len(an) - len(bn); c != 0 {
		return c
	}
	if c := strings.Compare(an, bn); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// load reads a file. Only a regular one: others could make it wait for ever.
func load(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: want a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	defer f.Close()
	return unpack(path, f)
}

// cause is an error without the name of the operation and of the file.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
