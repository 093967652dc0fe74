package workload

import "os"

// OpenTraceFile is OpenTrace for a file of the file system.
func OpenTraceFile(path string, o TraceOptions) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return OpenTrace(path, f, o)
}
