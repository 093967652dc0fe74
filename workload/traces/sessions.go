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

// rounds are the rounds of sessions that a file has had so far, with their
// lines. A round that comes twice is a fault of the file: it would be open what
// the next one follows.
type rounds struct{ seen map[roundOf]int }

// roundOf names one round of a session.
type roundOf struct {
	session uint64
	round   int32
}

// take notes a round that stands in the current line of l, column by its name
// and text. Session 0 is none. Its error is about this row alone.
func (s *rounds) take(l *lines, line int, column string, text []byte, r *row) error {
	if r.session == 0 {
		return nil
	}
	if s.seen == nil {
		s.seen = map[roundOf]int{}
	}
	key := roundOf{r.session, r.round}
	if first, twice := s.seen[key]; twice {
		return l.bad(column, text, "a round that this session has not had, it has round %d on line %d", r.round, first)
	}
	s.seen[key] = line
	return nil
}

// countRounds numbers the requests of each session from 0 in order of arrival,
// where a file names sessions and no rounds.
func (t *table) countRounds() {
	next := map[uint64]int32{}
	for place := range t.rows() {
		i := t.at(place)
		if n := t.session[i]; n != 0 {
			t.round[i] = next[n]
			next[n]++
		}
	}
}
