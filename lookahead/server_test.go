package lookahead

import (
	"fmt"
	"slices"

	"blis/vtime"
)

// Of each kind of notice in the model: how long after an event a leaf sends it at
// least, and how long after it what it causes comes at least. Kind 0 is for hub
// and watchers, the others for servers.
var (
	noticeLags = [NoticeKinds]vtime.Duration{noticeLag, 20, 5, 40}
	reactions  = [NoticeKinds]vtime.Duration{reaction, 100, 10, 1}
)

// notices is what the kernel is told of the kinds in the model. If reads, the hub
// or a watcher may read leaves in the instant of a notice.
func (p phold) notices(reads bool) (list [NoticeKinds]Notice) {
	for k := range list {
		lag, effect := noticeLags[k], reactions[k]
		list[k].React = func(at Key) Key { return after(at, effect, 0) }
		if p.replies {
			list[k].Reply = func(at Key) Key { return after(at, lag, 0) }
		}
	}
	if reads {
		for set := kindsOf(append([]NoticeKind{0}, p.receives...)); set != 0; set = set.rest() {
			list[set.first()].React = func(at Key) Key { return at }
		}
	}
	if p.noNotices {
		list[0] = unanswered()[0]
	}
	return list
}

// pholdServer is a control process that answers questions of leaves, from a state
// that all of them change. It has no events of its own and observes nothing. Some
// of its answers reach a leaf that did not ask.
type pholdServer struct {
	agenda
	hub *pholdHub // knows the leaves
}

// The kinds of messages to a server are question plus the kind of the notice.
const (
	question Kind = 32
	answer   Kind = 64
)

func (s *pholdServer) Promise() Key             { return NeverKey }
func (s *pholdServer) Advance(_ Key, _ *Outbox) {}
func (s *pholdServer) Receive(m *Message, out *Outbox) {
	s.mix(m.Body.Uint() + uint64(m.Stamp.Source))
	s.answer(m, ProcessID(m.Stamp.Source), out)
	if s.draws.IntN(5) == 0 {
		first := s.hub.ids[:s.hub.model.leaves] // the hub adds leaves ahead of the server
		s.answer(m, first[s.draws.IntN(len(first))], out)
	}
}

func (s *pholdServer) answer(m *Message, to ProcessID, out *Outbox) {
	out.Begin(to, after(m.Stamp.Key(), reactions[m.Kind-question]+s.steps(3), 4), answer, 1)
	out.Uint(s.acc)
	out.End()
}

// pholdAsker is a leaf that asks servers, and waits for some of the answers: until
// then it has no events. Its agenda says which event asks what, so it can promise
// each kind by itself.
type pholdAsker struct {
	*pholdLeaf
	asks    []ask
	waiting bool
}

// ask is a question that a leaf can ask. Events of class firstAsk+i ask asks[i];
// others are those of pholdLeaf, which ask nothing.
type ask struct {
	server ProcessID
	kind   NoticeKind
}

const firstAsk = 20

// promise is the Key of the earliest notice of a kind.
func (l *pholdAsker) promise(kind NoticeKind) Key {
	for _, k := range l.list {
		of := NoticeKind(0)
		if k.Class >= firstAsk {
			of = l.asks[k.Class-firstAsk].kind
		}
		if of == kind && !l.waiting && (kind > 0 || l.toHub) {
			return after(k, noticeLags[kind], 0)
		}
	}
	return NeverKey
}

func (l *pholdAsker) Promise() Key               { return l.promise(0) }
func (l *pholdAsker) PromiseOf(k NoticeKind) Key { return l.promise(k) }

func (l *pholdAsker) Next() Key {
	if l.waiting {
		return NeverKey
	}
	return l.pholdLeaf.Next()
}

func (l *pholdAsker) Receive(m *Message, out *Outbox) {
	if m.Kind != answer {
		l.pholdLeaf.Receive(m, out)
		l.plan(m.Stamp.Key())
		return
	}
	l.mix(m.Body.Uint())
	l.live, l.shown = l.acc, l.acc
	l.waiting = false
	late := slices.Clone(l.list)
	l.list = l.list[:0]
	for _, k := range late {
		l.push(Key{max(k.At, m.Stamp.At), k.Class})
	}
	l.plan(m.Stamp.Key())
}

// plan adds events that follow from a message at k: a question, another event or
// none.
func (l *pholdAsker) plan(k Key) {
	switch n := l.draws.IntN(16); { // so that the model neither grows nor dies out
	case n < 7:
		l.push(after(k, l.steps(20), firstAsk+uint8(l.draws.IntN(len(l.asks)))))
	case n < 9:
		l.push(after(k, l.steps(20), 6))
	}
}

func (l *pholdAsker) Advance(_ Key, out *Outbox) {
	for {
		k := Earliest(l.Next(), l.NextPeriodic())
		switch {
		case !out.Execute(k):
			return
		case k != l.Next():
			l.refresh()
		case k.Class >= firstAsk:
			l.ask(k, out)
		default:
			l.event(k, out)
		}
	}
}

func (l *pholdAsker) ask(k Key, out *Outbox) {
	a := l.asks[k.Class-firstAsk]
	l.pop()
	l.mix(uint64(k.At))
	l.live = l.acc
	l.waiting = l.draws.IntN(2) == 0
	out.BeginNotice(a.server, after(k, noticeLags[a.kind]+l.steps(3), 8), a.kind, question+Kind(a.kind), 1)
	out.Uint(l.acc)
	out.End()
}

// stableAsker is an asker of which only state that changes with messages is read.
type stableAsker struct{ *pholdAsker }

func (stableAsker) StableUntil() Key { return NeverKey }

// addServers adds a server per entry of p.servers. It returns what leaves can ask.
func (p phold) addServers(s *Simulation, hub *pholdHub) (asks []ask) {
	for i, receives := range p.servers {
		name := fmt.Sprintf("server/%d", i)
		id := s.AddControl(name, &pholdServer{agenda: newAgenda(p.seed, name), hub: hub}, receives...)
		for _, k := range receives {
			asks = append(asks, ask{id, k})
		}
	}
	return asks
}

// process returns what is added to the simulation for a leaf of the model.
func (p phold) process(l *pholdLeaf, asks []ask) Process {
	stable := p.observe == "stable"
	switch {
	case len(asks) > 0 && stable:
		return stableAsker{&pholdAsker{pholdLeaf: l, asks: asks}}
	case len(asks) > 0:
		return &pholdAsker{pholdLeaf: l, asks: asks}
	case stable:
		return stableLeaf{l}
	}
	return l
}
