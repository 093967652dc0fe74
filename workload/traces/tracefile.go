package traces

import "os"

// OpenFile is Open for a file of the file system.
func OpenFile(path string, o Options) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Open(path, f, o)
}
