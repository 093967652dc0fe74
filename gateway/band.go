package gateway

// band is the requests of one priority. It never ceases to exist.
type band struct {
	priority int
	flows    map[string]*flow
	turns    turns
	waiting  int64
	last     int32 // slot of the request that entered last of those that wait; −1: none
}

// band returns the band of a priority, which exists from now on.
func (q *Queue) band(priority int) *band {
	at := 0
	for at < len(q.bands) && q.bands[at].priority > priority {
		at++
	}
	if at < len(q.bands) && q.bands[at].priority == priority {
		return q.bands[at]
	}
	b := &band{priority: priority, flows: map[string]*flow{}, turns: newTurns(q), last: -1}
	q.bands = append(q.bands, nil)
	copy(q.bands[at+1:], q.bands[at:])
	q.bands[at] = b
	return b
}

// flow returns the flow of a name, which exists from now on.
func (b *band) flow(q *Queue, name string) *flow {
	f := b.flows[name]
	if f == nil {
		f = newFlow(q, b, name)
		b.flows[name] = f
		b.turns.add(f)
	}
	return f
}
