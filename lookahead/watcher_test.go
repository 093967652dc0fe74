package lookahead

import (
	"fmt"

	"blis/vtime"
)

// pholdWatcher is a control process beside hub and scaler, with an observation
// of its own. It sends to all other control processes, to leaves and to the
// sink, and leaves send notices to it.
type pholdWatcher struct {
	agenda
	observe string         // as phold.observe
	every   vtime.Duration // between periodic checks; 0: none
	checks  int64
	left    int // events of its own that are still to come
	leaves  []*pholdLeaf
	ids     []ProcessID
	peers   []ProcessID
}

func (w *pholdWatcher) NextPeriodic() Key {
	if w.every == 0 {
		return NeverKey
	}
	return Key{vtime.Time(w.every) * vtime.Time(w.checks+1), 9}
}

func (w *pholdWatcher) Promise() Key { return Earliest(w.Next(), w.NextPeriodic()).Next() }

func (w *pholdWatcher) Observation() Observation {
	return observationOf(w.observe, Earliest(w.Next(), w.NextPeriodic()))
}

func (w *pholdWatcher) Receive(m *Message, out *Outbox) {
	w.mix(m.Body.Uint() + uint64(m.Stamp.Source))
	if w.draws.IntN(3) == 0 {
		w.push(after(m.Stamp.Key(), w.steps(3), 9))
	}
}

func (w *pholdWatcher) Advance(_ Key, out *Outbox) {
	for {
		k := Earliest(w.Next(), w.NextPeriodic())
		if !out.Execute(k) {
			return
		}
		if k == w.Next() {
			w.pop()
		} else {
			w.checks++
		}
		if k.Class == 2 && w.left > 0 {
			w.left--
			w.push(after(k, w.steps(9), 2))
		}
		w.mix(uint64(k.At))
		w.mix(readLeaves(w.observe, k, w.leaves, w.draws.IntN(len(w.leaves))))
		if w.draws.IntN(2) == 0 {
			w.send(out, w.peers[w.draws.IntN(len(w.peers))], after(k.Next(), w.steps(2), 0))
		}
		if w.draws.IntN(3) == 0 {
			out.Begin(w.ids[w.draws.IntN(len(w.ids))], after(k, reaction+w.steps(3), 3), 3, 2)
			out.Uint(w.acc)
			out.Int(7)
			out.End()
		}
		w.send(out, FirstSink, k.Next())
	}
}

func (w *pholdWatcher) send(out *Outbox, to ProcessID, at Key) {
	out.Begin(to, at, 2, 1)
	out.Uint(w.acc)
	out.End()
}

// addWatchers adds a watcher per entry of p.watchers.
func (p phold) addWatchers(s *Simulation) (list []*pholdWatcher) {
	for i, observe := range p.watchers {
		name := fmt.Sprintf("watcher/%d", i)
		w := &pholdWatcher{agenda: newAgenda(p.seed, name), observe: observe, left: p.arrivals / 2}
		if i == 1 {
			w.every = 610
		}
		w.push(Key{vtime.Time(5 * i), 2})
		s.AddControl(name, w, p.receives...)
		list = append(list, w)
	}
	return list
}

// connect lets the watchers know leaves and peers, and every leaf the process
// that gets its notices: the hub or a watcher.
func connect(s *Simulation, hub *pholdHub, watchers []*pholdWatcher) {
	for i, w := range watchers {
		w.leaves, w.ids = hub.leaves, hub.ids
		for _, n := range s.loop.control {
			if _, ok := n.process.(*pholdServer); ok {
				continue
			}
			if n.process != Process(w) {
				w.peers = append(w.peers, n.id)
				continue
			}
			for l := i; l < len(hub.leaves); l += 1 + len(watchers) {
				hub.leaves[l].hub = n.id
			}
		}
	}
}
