package traces

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
