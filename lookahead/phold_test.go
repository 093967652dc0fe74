package lookahead

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"blis/vtime"
)

// The model of the equality tests: leaves with many events at one tick, a hub
// that reads and steers them, an autoscaler-like process with periodic
// events, and a sink. Every process keeps an accumulator that depends on the
// order of what it executed and goes into what it sends, so any change of
// order anywhere spreads into the digests.

// phold is a run of the model; all but the seed is what it does.
type phold struct {
	seed      uint64
	leaves    int
	arrivals  int
	observe   string   // "", "live", "stable", "slots"
	noNotices bool     // notices to the sink, none to the hub
	checks    bool     // with the process that has periodic events
	grow      bool     // the hub adds leaves on the way
	spread    int      // the hub's own events are so many times as far apart; 0: 1
	stream    int      // undelivered messages at which the hub ends its turn (Outbox.Stream); 0: it runs as far as its horizon
	watchers  []string // a further control process each, with what it observes
	hubLast   bool     // hub and scaler come after the watchers
	end       Key

	servers      [][]NoticeKind // a control process each that answers leaves, with what it receives
	serversFirst bool           // they come before hub, scaler and watchers
	receives     []NoticeKind   // of hub, scaler and watchers; nil: kind 0
	replies      bool           // Notice.Reply is as late as it may be, else nil
}

const (
	service    vtime.Duration = 10  // times are multiples: many ties
	reaction   vtime.Duration = 20  // of the hub, at least
	noticeLag  vtime.Duration = 10  // of a leaf, at least
	refresh    vtime.Duration = 250 // of the slots
	checkEvery vtime.Duration = 700
)

// agenda is a process's local events.
type agenda struct {
	list  []Key
	acc   uint64
	draws *vtime.Stream
}

func (a *agenda) Next() Key {
	if len(a.list) == 0 {
		return NeverKey
	}
	return a.list[0]
}

func (a *agenda) push(k Key) {
	i, _ := slices.BinarySearchFunc(a.list, k, func(x, y Key) int {
		if x.Less(y) {
			return -1
		}
		if y.Less(x) {
			return 1
		}
		return 0
	})
	a.list = slices.Insert(a.list, i, k)
}

func (a *agenda) pop()         { a.list = slices.Delete(a.list, 0, 1) }
func (a *agenda) mix(v uint64) { a.acc = a.acc*0x9e3779b97f4a7c15 + v }
func (a *agenda) Fold() uint64 { return a.acc ^ a.draws.Fold() }
func (a *agenda) steps(n int) vtime.Duration {
	return service * vtime.Duration(a.draws.IntN(n))
}

// after is d later in the given class, and not before k when d is 0.
func after(k Key, d vtime.Duration, class uint8) Key {
	return latest(k, Key{k.At.Add(d), class})
}

type pholdLeaf struct {
	agenda
	hub, sink ProcessID
	toHub     bool
	live      uint64 // published
	shown     uint64 // published, changes only with messages
	slots     *[2]uint64
	ticks     int64 // refreshes done
}

func (l *pholdLeaf) Promise() Key {
	if k := l.Next(); l.toHub && !k.IsNever() {
		return after(k, noticeLag, 0)
	}
	return NeverKey
}

func (l *pholdLeaf) Receive(m *Message, out *Outbox) {
	l.mix(m.Body.Uint())
	l.mix(uint64(m.Body.Int()))
	l.live, l.shown = l.acc, l.acc
	l.push(after(m.Stamp.Key(), l.steps(3), 6))
	out.Begin(l.sink, m.Stamp.Key().Next(), 7, 1)
	out.Uint(l.acc)
	out.End()
}

func (l *pholdLeaf) Advance(h Key, out *Outbox) {
	for {
		k := Earliest(l.Next(), l.NextPeriodic())
		if !out.Execute(k) {
			return
		}
		if k == l.Next() {
			l.event(k, out)
		} else {
			l.refresh()
		}
	}
}

func (l *pholdLeaf) refresh() {
	l.ticks++
	l.slots[l.ticks%2] = l.acc
}

// event executes the next event, at k.
func (l *pholdLeaf) event(k Key, out *Outbox) {
	l.pop()
	l.mix(uint64(k.At)<<8 | uint64(k.Class))
	l.live = l.acc
	switch l.draws.IntN(4) {
	case 0:
		l.push(k) // at the same Key
	case 1:
		l.push(after(k, l.steps(4), 6))
		fallthrough
	default:
		to := l.sink
		if l.toHub {
			to = l.hub
		}
		out.Begin(to, after(k, noticeLag+l.steps(3), 8), 8, 3)
		out.Uint(l.acc)
		out.Int(-int64(l.acc % 1000))
		out.Float(float64(l.acc%7) / 2)
		out.End()
	}
}

func (l *pholdLeaf) NextPeriodic() Key {
	if l.slots == nil {
		return NeverKey
	}
	return Key{vtime.Time(refresh) * vtime.Time(l.ticks+1), 12}
}

// stableLeaf is a leaf of which only state that changes with messages is read.
type stableLeaf struct{ *pholdLeaf }

func (stableLeaf) StableUntil() Key { return NeverKey }

func (l *pholdLeaf) Work(h Key) int { return 1 + len(l.list) }

type pholdHub struct {
	agenda
	model   phold
	leaves  []*pholdLeaf
	ids     []ProcessID
	sink    ProcessID
	scaler  ProcessID
	arrives int
	grow    func(first Key) // adds a leaf with a first event
}

func (h *pholdHub) Promise() Key {
	if k := h.Next(); !k.IsNever() {
		return after(k, reaction, 3)
	}
	return NeverKey
}

func (h *pholdHub) Receive(m *Message, out *Outbox) {
	h.mix(m.Body.Uint() + uint64(m.Stamp.Source))
	if m.Body.Left() == 2 {
		h.mix(uint64(m.Body.Int()))
		h.mix(uint64(m.Body.Float() * 2))
	}
	if h.draws.IntN(4) == 0 {
		h.push(after(m.Stamp.Key(), service*vtime.Duration(h.draws.IntN(3)), 9))
	}
}

func (h *pholdHub) Advance(_ Key, out *Outbox) {
	for done := 0; out.Execute(h.Next()); done++ {
		k := h.Next()
		h.pop()
		h.mix(uint64(k.At))
		for range 1 + h.draws.IntN(2) {
			i := h.draws.IntN(len(h.ids))
			out.Begin(h.ids[i], after(k, reaction+h.steps(3), 3), 3, 2)
			out.Uint(h.acc)
			out.Int(int64(readLeaves(h.model.observe, k, h.leaves, i)))
			out.End()
		}
		if k.Class == 0 && h.arrives > 0 {
			h.arrives--
			h.push(after(k, h.steps(6*max(1, h.model.spread)), 0))
			if h.model.grow && h.arrives%97 == 0 {
				h.grow(after(k, service, 11))
			}
			if h.model.checks && h.arrives%5 == 0 {
				out.Begin(h.scaler, k.Next(), 1, 1)
				out.Uint(h.acc)
				out.End()
			}
		}
		if h.model.noNotices && done == 100 {
			out.Stop()
		}
		if h.model.stream > 0 {
			out.Stream(h.model.stream)
		}
	}
}

// readLeaves is what a control process that observes as it is told reads at k, of
// leaf i or of all.
func readLeaves(observe string, k Key, leaves []*pholdLeaf, i int) uint64 {
	switch observe {
	case "stable":
		return leaves[i].shown >> 1
	case "live":
		sum := uint64(0)
		for _, l := range leaves {
			sum = sum*31 + l.live
		}
		return sum >> 1
	case "slots":
		return leaves[i].slots[slotBefore(k)%2] >> 1
	}
	return 0
}

// slotBefore is the number of the last refresh before k.
func slotBefore(k Key) int64 {
	n := int64(k.At) / int64(refresh)
	if n > 0 && !(Key{vtime.Time(n) * vtime.Time(refresh), 12}).Less(k) {
		n--
	}
	return n
}

func (h *pholdHub) Observation() Observation { return observationOf(h.model.observe, h.Next()) }

// observationOf is the observation of a process whose next event is at k.
func observationOf(observe string, k Key) Observation {
	if k.IsNever() || observe == "" {
		return Observation{At: NeverKey}
	}
	if observe != "slots" {
		return Observation{At: k, Until: k.Next(), StateBefore: k, LeafLimit: k}
	}
	n := vtime.Time(slotBefore(k))
	at := func(n vtime.Time) Key { return Key{n * vtime.Time(refresh), 12} }
	o := Observation{At: k, Until: at(n + 1).Next(), LeafLimit: at(n + 2)}
	if n > 0 {
		o.StateBefore = at(n).Next()
	}
	return o
}

// pholdScaler has periodic checks only and local events that mail causes.
type pholdScaler struct {
	agenda
	hub    ProcessID
	checks int64
}

func (s *pholdScaler) NextPeriodic() Key {
	return Key{vtime.Time(checkEvery) * vtime.Time(s.checks+1), 9}
}

func (s *pholdScaler) Promise() Key { return Earliest(s.Next(), s.NextPeriodic()).Next() }

func (s *pholdScaler) Receive(m *Message, out *Outbox) {
	s.mix(m.Body.Uint())
	s.push(after(m.Stamp.Key(), s.steps(9), 10))
}

func (s *pholdScaler) Advance(_ Key, out *Outbox) {
	for {
		k := Earliest(s.Next(), s.NextPeriodic())
		if !out.Execute(k) {
			return
		}
		if k == s.Next() {
			s.pop()
		} else {
			s.checks++
		}
		s.mix(uint64(k.At))
		if s.draws.IntN(2) == 0 {
			out.Begin(s.hub, k.Next(), 2, 1)
			out.Uint(s.acc)
			out.End()
		}
	}
}

// tally is a sink.
type tally struct{ agenda }

func (t *tally) Promise() Key                       { return NeverKey }
func (t *tally) Receive(m *Message, out *Outbox)    { t.mix(m.Body.Uint()) }
func (t *tally) Advance(_ Key, out *Outbox)         {}
func (t *tally) Next() Key                          { return NeverKey }
func newAgenda(seed uint64, name string) (a agenda) { a.draws = vtime.NewStream(seed, name); return a }

// build sets the model up.
func (p phold) build(cfg Config) *Simulation {
	observed := append([]string{p.observe}, p.watchers...)
	cfg.Notices, cfg.End = p.notices(slices.Contains(observed, "live") || slices.Contains(observed, "stable")), p.end
	s := New(cfg)
	hub := &pholdHub{agenda: newAgenda(p.seed, "hub"), model: p, sink: FirstSink, arrives: p.arrivals}
	var watchers []*pholdWatcher
	var asks []ask
	if p.serversFirst {
		asks = p.addServers(s, hub)
	}
	if p.hubLast {
		watchers = p.addWatchers(s)
	}
	hubID := s.AddControl("hub", hub, p.receives...)
	if p.checks {
		hub.scaler = s.AddControl("scaler", &pholdScaler{agenda: newAgenda(p.seed, "scaler"), hub: hubID}, p.receives...)
	}
	if !p.hubLast {
		watchers = p.addWatchers(s)
	}
	if !p.serversFirst {
		asks = p.addServers(s, hub)
	}
	hub.grow = func(first Key) {
		name := fmt.Sprintf("leaf/%d", len(hub.leaves))
		l := &pholdLeaf{agenda: newAgenda(p.seed, name), hub: hubID, sink: FirstSink, toHub: !p.noNotices}
		if slices.Contains(observed, "slots") {
			l.slots = new([2]uint64)
		}
		if !first.IsNever() {
			l.push(first)
		}
		hub.leaves = append(hub.leaves, l)
		hub.ids = append(hub.ids, s.AddLeaf(name, p.process(l, asks)))
	}
	for range p.leaves {
		hub.grow(NeverKey)
	}
	connect(s, hub, watchers)
	s.AddSink("tally", &tally{newAgenda(p.seed, "tally")})
	hub.push(Key{5, 0})
	return s
}

// finish runs a simulation that must not hang or fail and folds its digest.
func finish(t testing.TB, s *Simulation) uint64 {
	t.Helper()
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, n := range s.loop.control {
		if n.controlMail != 0 && n.mailbox.UserMessageCount() == 0 {
			t.Errorf("%d messages from control processes wait for %q; its mailbox is empty", n.controlMail, n.name)
		}
	}
	return fold(s.Digest())
}

func fold(list []ProcessDigest) uint64 {
	var h xxhash.Digest
	h.Reset()
	for _, d := range list {
		fmt.Fprintf(&h, "%s %d %x %d\n", d.Name, d.ID, d.Hash, d.Messages)
	}
	return h.Sum64()
}
