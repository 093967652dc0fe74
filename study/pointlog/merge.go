package pointlog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Merge reads the rows of several folders, or files, into one table. Rows of two
// versions, and ok rows of one key with two digests, are errors that name both
// lines. version is that which all must have, 0 that of the first row. A last line
// without newline is left out.
func Merge(version int, paths ...string) (*Table, error) {
	files, err := expand(paths)
	if err != nil {
		return nil, err
	}
	t := newTable(version)
	for _, path := range files {
		if err := t.addFile(path); err != nil {
			t.Close()
			return nil, err
		}
	}
	return t, nil
}

// expand replaces folders by the logs in them. Each file comes once.
func expand(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		list := []string{filepath.Clean(path)}
		if at, err := os.Stat(path); err != nil {
			return nil, err
		} else if at.IsDir() {
			if list, err = logs(list[0], DefaultStem); err != nil {
				return nil, err
			}
			if len(list) == 0 {
				return nil, fmt.Errorf("%s has no %s.jsonl and no %[2]s-I-of-N.jsonl: it is not the folder of a sweep", path, DefaultStem)
			}
		}
		for _, f := range list {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return files, nil
}

// addFile adds the rows of a file that is only read.
func (t *Table) addFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if _, err := t.add(source{path, f, f}); err != nil {
		f.Close() // again, if the table has it
		return err
	}
	return nil
}
