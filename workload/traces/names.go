package traces

import (
	"math"

	"blis/workload"
)

// intern gives a name of a column its label. It comes last in the parsing of a
// row, so that a bad row leaves no name behind.
func (l *lines) intern(column string, text []byte, names *workload.Names, label *workload.Label) error {
	at, known := names.Find(text)
	if !known {
		if names.Len() > math.MaxUint16 {
			return l.bad(column, text, "at most %d different names", math.MaxUint16+1)
		}
		at = names.Label(string(text))
	}
	*label = at
	return nil
}

// sessions numbers the sessions of a trace that calls them by strings, from 1
// in order of first use in the file.
type sessions struct{ numbers map[string]uint64 }

// number is the number of the session called name; 0, no session, for no name.
func (s *sessions) number(name []byte) uint64 {
	if len(name) == 0 {
		return 0
	}
	if n, ok := s.numbers[string(name)]; ok {
		return n
	}
	if s.numbers == nil {
		s.numbers = map[string]uint64{}
	}
	n := uint64(len(s.numbers) + 1)
	s.numbers[string(name)] = n
	return n
}
