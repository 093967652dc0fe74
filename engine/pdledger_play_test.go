package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"blis/metrics"
	"blis/vtime"
)

// pdScenario is a scenario with prefill and decode instances; see the README of the ledger set for
// the format.
type pdScenario struct {
	Config struct {
		Common, Prefill, Decode json.RawMessage
		Prefills                int        `json:"num_prefill"`
		Decodes                 int        `json:"num_decode"`
		Pull                    [2]float64 `json:"pd"`
		Proxy                   int64      `json:"proxy_us"`
		Notify                  int64      `json:"notify_us"`
		Timeout                 int64      `json:"abort_timeout_us"`
	}
	Ends     *string
	Requests []scenarioRequest
	Results  [][]any

	MaxHeld    int     `json:"-"`
	StartShare float64 `json:"-"`
}

// pdPlay is a scenario that is played: the instances, and between them what the proxy does.
type pdPlay struct {
	sc     *pdScenario
	mode   kvMode
	keep   bool // deadlocks
	sides  []*pdSide
	decode []*pdSide
	next   int // decode instance, of the next hand-over
	mail   []pdMail
	filed  int64
	heard  map[pdAbort]pdHearing
	known  bool // … is from a mode before

	recorder *metrics.Recorder // verifies each outcome
}

// pdMail does something before the events of a class at a time.
type pdMail struct {
	at    vtime.Time
	class uint8
	order int64
	do    func(now vtime.Time)
}

func (m *pdMail) compare(o *pdMail) int {
	return cmp.Or(cmp.Compare(m.at, o.at), cmp.Compare(m.class, o.class), cmp.Compare(m.order, o.order))
}

func (w *pdPlay) post(at vtime.Time, class uint8, do func(now vtime.Time)) {
	w.filed++
	m := pdMail{at, class, w.filed, do}
	k, _ := slices.BinarySearchFunc(w.mail, m, func(x, y pdMail) int { return x.compare(&y) })
	w.mail = slices.Insert(w.mail, k, m)
}

// post is pdPlay.post for a message to s, after which s may tell others something earlier.
func (s *pdSide) post(at vtime.Time, class uint8, do func(now vtime.Time)) {
	s.w.post(at, class, func(now vtime.Time) {
		do(now)
		s.first = [4]vtime.Time{}
	})
}

// pdSide is an instance of a scenario. What it sees of others are messages.
type pdSide struct {
	*kvPlayer
	w        *pdPlay
	name     string
	first    [4]vtime.Time     // before these it tells nobody of a prefill, of a pull, of somebody who left
	sources  map[int64][]int32 // blocks of the KV of requests that went on elsewhere, with the block twin
	requests map[int64]*Delivery
	overs    map[int64]metrics.HandOver // of the outcomes
}

// addSides adds n instances with the given settings on top of the common ones.
func (w *pdPlay) addSides(kind string, n int, settings json.RawMessage) error {
	for k := range max(1, n) {
		var sc scenario
		var policy struct {
			Failure string `json:"kv_load_failure_policy"`
		}
		for _, text := range []json.RawMessage{w.sc.Config.Common, settings} {
			if err := cmp.Or(json.Unmarshal(text, &sc.Config), json.Unmarshal(text, &policy)); err != nil {
				return err
			}
		}
		s := &pdSide{&kvPlayer{results: map[int64][]any{}, lost: []int64{}, now: -1}, w, fmt.Sprint(kind, k), [4]vtime.Time{}, map[int64][]int32{}, map[int64]*Delivery{}, map[int64]metrics.HandOver{}}
		timeout := w.sc.Config.Timeout
		if timeout == 0 {
			timeout = 480_000_000
		}
		s.side = s
		s.disaggregation = &Disaggregation{Pull: Link{w.sc.Config.Pull[0], w.sc.Config.Pull[1]}, SharedLink: w.mode.mail,
			Recompute: policy.Failure == "recompute", HoldTimeout: vtime.Duration(timeout), MaxModelLen: sc.Config.MaxModelLen, MaxHeld: w.sc.MaxHeld, StartShare: w.sc.StartShare, Notices: s}
		if _, err := kvEngine(&sc, w.mode, w.keep, s.kvPlayer); err != nil {
			return err
		}
		w.sides = append(w.sides, s)
		if kind == "D" {
			w.decode = append(w.decode, s)
		}
	}
	return nil
}

// turn returns the decode instance whose turn it is.
func (w *pdPlay) turn() *pdSide {
	s := w.decode[w.next%len(w.decode)]
	w.next++
	return s
}

// playPD plays a scenario in one mode. known are the aborts that are not heard at once, nil if that is to be
// found out: by a mode in which every pass is an event.
func playPD(sc *pdScenario, m kvMode, keep bool, known map[pdAbort]pdHearing) (w *pdPlay, stuck []string, err error) {
	return playPDTo(sc, m, keep, known, vtime.Never)
}

// playPDTo is playPD up to a time, at which instances are as they are.
func playPDTo(sc *pdScenario, m kvMode, keep bool, known map[pdAbort]pdHearing, end vtime.Time) (w *pdPlay, stuck []string, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v", x)
		}
	}()
	w = &pdPlay{sc: sc, mode: m, keep: keep, heard: known, known: known != nil,
		recorder: metrics.NewRecorder(metrics.Options{To: vtime.Never})}
	if known == nil {
		w.heard = map[pdAbort]pdHearing{}
	}
	if err := cmp.Or(w.addSides("P", sc.Config.Prefills, sc.Config.Prefill), w.addSides("D", sc.Config.Decodes, sc.Config.Decode)); err != nil {
		return w, nil, err
	}
	w.arrive()
	for w.act(end) {
	}
	for _, s := range w.sides {
		if end < vtime.Never {
			break
		}
		before := len(s.results)
		s.e.Unfinished(func(o *metrics.Outcome) {
			s.span(o)
			s.record(o)
			var first any
			if o.FirstToken != vtime.Never {
				first = int64(o.FirstToken)
			}
			s.results[o.ID] = []any{first, nil, int64(o.Preemptions), int64(o.Generated), "in"}
		})
		if len(s.results) > before {
			stuck = append(stuck, s.name)
		}
		if err := s.e.Check(); err != nil {
			return w, stuck, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return w, stuck, w.recorder.Err()
}

// arrive files all requests under their arrivals.
func (w *pdPlay) arrive() {
	all := scenario{Requests: w.sc.Requests}
	list := all.deliveries(w.mode.unnamed)
	prefills := w.sides[:len(w.sides)-len(w.decode)]
	turn := 0
	for k := range list {
		d := &list[k]
		d.HandOver = metrics.NoHandOver()
		r := &w.sc.Requests[slices.IndexFunc(w.sc.Requests, func(r scenarioRequest) bool { return r.ID == d.ID })]
		if r.Direct {
			s := w.turn()
			w.send(s, d, func(d *Delivery, now vtime.Time) { s.e.Deliver(d, now) }, d.Arrival)
			continue
		}
		s := prefills[turn%len(prefills)]
		turn++
		w.send(s, d, func(d *Delivery, now vtime.Time) { s.e.Pulls.Prefill(d, now) }, d.Arrival)
	}
}

// send delivers a request to s at a time, which is its arrival there, and lets its client abort it.
func (w *pdPlay) send(s *pdSide, d *Delivery, deliver func(*Delivery, vtime.Time), at vtime.Time) {
	s.requests[d.ID] = d
	mine := *d
	mine.Arrival = at
	key := pdAbort{s.name, d.ID}
	hears, late := mine.Deadline != vtime.Never && w.heard[key] != neverHeard, w.heard[key] == heardAfterPass
	if abort := mine.Deadline; hears && (!w.known || !w.mode.silent || late || abort == at) {
		mine.Deadline = vtime.Never
		hear := func(now vtime.Time) bool {
			if !w.known && s.now < int64(at) && s.e.passes.until == passEnds {
				return false
			}
			for i := range s.e.requests.slots {
				if m := (member{int32(i), d.ID}); s.e.requests.holds(m) {
					s.e.agenda.addDeadline(now, m)
				}
			}
			return true
		}
		s.post(abort, vtime.ClassStep, func(now vtime.Time) {
			if !late && hear(now) {
				return
			}
			s.post(now, vtime.ClassTimeout, func(now vtime.Time) {
				switch {
				case !hear(now):
					w.heard[key] = neverHeard
				case !w.known:
					w.heard[key] = heardAfterPass
				}
			})
		})
	} else if !hears {
		mine.Deadline = vtime.Never
	}
	s.post(at, vtime.ClassDelivery, func(now vtime.Time) { deliver(&mine, now) })
}

// act does the next message or event before a time, and reports whether there was one.
func (w *pdPlay) act(end vtime.Time) bool {
	var s *pdSide
	at, class := vtime.Never, uint8(0)
	for _, x := range w.sides {
		if t, c := x.e.Next(); t < at {
			s, at, class = x, t, c
		}
	}
	if len(w.mail) > 0 {
		if m := w.mail[0]; m.at < at || m.at == at && m.class <= class {
			if m.at >= end {
				return false
			}
			w.mail = w.mail[1:]
			m.do(m.at)
			return true
		}
	}
	if s == nil || at >= end {
		return false
	}
	until, before := at, class+1
	if w.mode.silent {
		until, before = w.horizon(s, at, class)
	}
	if end < until {
		until, before = end, vtime.ClassDelivery
	}
	s.promise()
	s.e.Act(until, before)
	return true
}

// horizon returns how far s, whose next event is at a time, can go on its own.
func (w *pdPlay) horizon(s *pdSide, at vtime.Time, class uint8) (until vtime.Time, before uint8) {
	until, before = vtime.Never, 255
	if len(w.mail) > 0 {
		until, before = w.mail[0].at, w.mail[0].class
	}
	for _, x := range w.sides {
		t := x.promise()
		if x == s && t > at {
			continue
		}
		if t = t.Add(1); x == s {
			t = t.Add(1)
		}
		if t < until {
			until, before = t, vtime.ClassDelivery
		}
	}
	if every := vtime.Time(w.mode.slice); every > 0 {
		if t := (at/every + 1) * every; t < until {
			until, before = t, vtime.ClassStep
		}
	}
	if until < at || until == at && before <= class {
		until, before = at, class+1
	}
	return until, before
}

func (s *pdSide) Prefilled(o *metrics.Outcome, source KVSource, now vtime.Time) {
	s.tells(0, now)
	s.results[o.ID] = []any{int64(o.FirstToken), int64(now), int64(o.Preemptions), int64(o.Generated), o.State.String()}
	s.gone[0] = append(s.gone[0], o.ID)
	if s.pool != nil {
		s.sources[o.ID] = nil
		for _, b := range s.pool.Blocks(&s.e.requests.at(source.Slot).seq) {
			s.sources[o.ID] = append(s.sources[o.ID], int32(b))
		}
	}
	w, d := s.w, s.requests[o.ID]
	at := now.Add(vtime.Duration(max(1, w.sc.Config.Proxy)))
	if d.Deadline < at {
		return
	}
	d.HandOver = metrics.HandedOver(o, now)
	to := w.turn()
	fails := slices.ContainsFunc(w.sc.Requests, func(r scenarioRequest) bool { return r.ID == d.ID && r.FailTransfer })
	w.send(to, d, func(d *Delivery, now vtime.Time) {
		if source.Blocks == 0 {
			to.e.Deliver(d, now)
		} else {
			to.e.Pulls.Pull(d, source, fails, now)
		}
	}, at)
}

// Released implements PullNotices: the ledgers show it by the free blocks.
func (s *pdSide) Released(_ int, now vtime.Time) { s.tells(3, now) }

// sourceOf returns the instance that computed the prompt of a request.
func (w *pdPlay) sourceOf(request int64) *pdSide {
	for _, s := range w.sides {
		if s.name[0] == 'P' && s.requests[request] != nil {
			return s
		}
	}
	return nil
}

func (s *pdSide) Pulls(p *Pull, now vtime.Time) {
	s.tells(1, now)
	w, source, number := s.w, p.Source, p.Number
	from := w.sourceOf(source.Request)
	end := p.End
	if s.w.mode.mail {
		link := Link{w.sc.Config.Pull[0], w.sc.Config.Pull[1]}
		lasts := link.Time(p.Blocks)
		end = p.Start.Add(lasts)
		s.post(end, vtime.ClassTransfer, func(now vtime.Time) { s.e.Pulls.Ended(number, lasts, now) })
	}
	s.xfers = append(s.xfers, [5]any{"pd", float64(source.Request), float64(p.Blocks), float64(p.Start), float64(end)})
	if !p.Fails {
		from.post(end.Add(vtime.Duration(max(1, w.sc.Config.Notify))-1), vtime.ClassTransfer, func(now vtime.Time) { from.e.Pulls.Over(source, now) })
	}
}

func (s *pdSide) Left(source KVSource, now vtime.Time) {
	s.tells(2, now)
	s.notes = append(s.notes, source.Request)
	from := s.w.sourceOf(source.Request)
	from.post(now.Add(vtime.Duration(max(1, s.w.sc.Config.Notify))), vtime.ClassTransfer, func(now vtime.Time) { from.e.Pulls.Left(source, now) })
}

// describePulls adds what the other side knows of the pulls of a pass.
func (s *pdSide) describePulls(q *pass, r *kvRow) {
	d := s.e.connector.disaggregation
	r.Notes = slices.Sorted(slices.Values(s.notes))
	s.notes = s.notes[:0]
	if s.pool == nil {
		return
	}
	blocks := func(i int32) (list []int32) {
		for _, b := range s.pool.Blocks(&s.e.requests.at(i).seq)[s.e.connector.at(i).hit/s.e.cfg.BlockSize:] {
			list = append(list, int32(b))
		}
		return list
	}
	for _, x := range r.Xfers {
		for i := 0; i < len(d.slots) && x[0] == "pd"; i++ {
			if o := s.e.connector.at(int32(i)); float64(o.id) == x[1] && o.load == loading {
				all := s.w.sourceOf(o.id).sources[o.id]
				to := blocks(int32(i))
				r.Loads = append(r.Loads, kvMove{o.id, all[len(all)-len(to):], to})
			}
		}
	}
	for _, i := range q.received {
		if d.at(i).fails {
			r.Invalid = append(r.Invalid, blocks(i)...)
		}
	}
	slices.Sort(r.Invalid)
}
