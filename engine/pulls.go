package engine

import (
	"math"
	"slices"

	"blis/metrics"
	"blis/vtime"
)

// pulls is what an instance knows of the KV that it pulls from others.
type pulls struct {
	moving    []pull     // nobody noticed their end; in the order of at
	unknown   int        // … of them, those whose end is not known
	wanting   int        // requests that are here and whose pull has not begun
	failing   int        // pulls that fail, from the delivery of their request until that acts
	linksDown int        // pulls that have not begun, and fail unless PullFaults.Share changes before
	left      []KVSource // of requests that left before their pull; the other side does not know
	dropped   int64      // went with the instance
	blocks    int64      // of those that are over
	fault     error      // of the first that went wrong
	shown     Pull       // to PullNotices: no allocation per pull
}

// pull is a pull under way. Its slot waits for it, or has held its blocks since its request left.
type pull struct {
	transfer
	number  int64
	from    int64      // KVSource.From
	at      vtime.Time // when there is something to notice next: its request may start, or its end
	fails   bool
	empty   bool // nothing comes, since nothing did when it began
	cut     bool // it failed before its time
	arrived bool // its request may start; a pass has noticed it
}

// Pull hands the instance a request whose prompt was computed elsewhere: it pulls the KV
// from s, of which it lacks what is not cached here. With fails the pull brings nothing. d is not
// kept.
func (p PullPort) Pull(d *Delivery, s KVSource, fails bool, now vtime.Time) {
	p.pulls(p.e.deliver(d, now), s, fails)
}

// PullAgain is Pull for a request that was taken away from another instance.
func (p PullPort) PullAgain(d *Delivery, progress *Progress, s KVSource, fails bool, now vtime.Time) {
	i := p.e.deliver(d, now)
	p.pulls(i, s, fails)
	p.e.requests.resume(i, progress)
}

// pulls notes that the request in slot i, which was just delivered, pulls the KV from s.
func (p PullPort) pulls(i int32, s KVSource, fails bool) {
	x := p.e.connector.disaggregation
	if h := x.at(i); s.Blocks > 0 {
		h.source, h.fails = s, fails || s.Gone
		if x.wanting++; h.fails {
			x.failing++
		}
		x.noteLink(h)
	}
}

// noteLink finds out whether the link is down on which h is to be pulled.
func (d *disaggregation) noteLink(h *handOver) {
	if h.linkDown {
		d.linksDown--
	}
	if h.linkDown = h.source.Blocks > 0 && !h.fails && d.share(&h.source) == 0; h.linkDown {
		d.linksDown++
	}
}

// share returns the share of the bandwidth that a pull from s has now; 0: nothing comes from there.
func (d *disaggregation) share(s *KVSource) float64 {
	switch {
	case s.Gone:
		return 0
	case d.cfg.Faults == nil:
		return 1
	}
	return d.cfg.Faults.Share(s.From)
}

// wants reports whether there is KV to be pulled for slot i.
func (d *disaggregation) wants(i int32) bool { return d != nil && d.at(i).source.Blocks > 0 }

// begin begins the pull of slot i at now: of the prompt but for the first hit tokens, into blocks
// fresh blocks.
func (d *disaggregation) begin(i, hit, upto, blocks int32, now vtime.Time) {
	h, k := d.at(i), d.counts
	d.wanting--
	k.Pulls++
	k.PulledBlocks += int64(blocks)
	p := pull{transfer: transfer{slot: i, blocks: blocks, submitted: now, start: now, end: vtime.Never}, number: k.Pulls, from: h.source.From, at: vtime.Never}
	link, moves := d.cfg.Pull, blocks
	if share := d.share(&h.source); share > 0 {
		link.PerBlock /= share
	} else if moves = 0; !h.fails {
		h.fails = true
		d.failing++
	}
	p.empty = moves == 0
	lasts := link.Time(moves)
	if p.fails = h.fails; d.cfg.SharedLink && moves > 0 {
		d.unknown++
	} else {
		p.lasts = lasts
		p.end = now.Add(p.lasts)
		p.at = p.end
		k.PullMicros += int64(p.end.Sub(now))
	}
	if x := d.cfg.StartShare; x > 0 && !p.fails {
		p.at = now.Add(link.Time(int32(math.Ceil(x * float64(blocks)))))
	}
	h.there, h.end = p.at, p.end
	d.insert(p)
	d.shown = Pull{Source: h.source, Number: p.number, Blocks: blocks, Start: now, End: p.end, Lasts: lasts, Fails: p.fails}
	d.cfg.Notices.Pulls(&d.shown, now)
	h.source, h.pulling, h.remote = KVSource{}, true, upto-hit
	d.noteLink(h)
	h.of.PullStart = now
}

// insert files a pull by what there is to notice next.
func (d *disaggregation) insert(p pull) {
	at := len(d.moving)
	for at > 0 && d.moving[at-1].at > p.at {
		at--
	}
	d.moving = slices.Insert(d.moving, at, p)
}

// leaves notes that the request in slot i leaves. If its KV was not pulled the next pass tells the
// other side, unless it was not even queued.
func (d *disaggregation) leaves(i int32, pending bool) {
	if d == nil {
		return
	}
	if d.at(i).prefill {
		d.computing--
	}
	if !d.wants(i) {
		return
	}
	h := d.at(i)
	if d.wanting--; !pending {
		d.left = append(d.left, h.source)
	}
	if h.fails {
		d.failing--
	}
	h.source, h.fails = KVSource{}, false
	d.noteLink(h)
}

// tell tells the other side in the pass formed at now who left since the one before.
func (d *disaggregation) tell(now vtime.Time) {
	for _, s := range d.left {
		d.counts.Left++
		d.cfg.Notices.Left(s, now)
	}
	d.left = d.left[:0]
}

// nextPull returns the first time that is known at which there is something to notice of a pull.
func (d *disaggregation) nextPull() vtime.Time {
	if len(d.moving) == 0 {
		return vtime.Never
	}
	return d.moving[0].at
}

// pollPulls notices in pass p what pulls have brought at now or before. A request whose pull goes on
// when it may start keeps its blocks until the end of that was noticed, if it leaves before.
func (d *disaggregation) pollPulls(p *pass, now vtime.Time) {
	for len(d.moving) > 0 && d.moving[0].at <= now {
		x := d.moving[0]
		d.moving = slices.Delete(d.moving, 0, 1)
		if !x.arrived {
			p.received = append(p.received, x.slot)
			if x.end > now {
				d.at(x.slot).held = true
				x.arrived, x.at = true, x.end
				d.insert(x)
				continue
			}
		} else {
			p.over = append(p.over, x.slot)
		}
		d.book(&x, now)
		d.e.connector.show(now, WayPull, &x.transfer, x.from)
	}
}

// fail lets the requests fail whose pulls pass p noticed to have failed, or cuts them back to
// what they had before.
func (d *disaggregation) fail(p *pass, now vtime.Time) {
	if d == nil {
		return
	}
	e := d.e
	for _, i := range p.received {
		h, s := d.at(i), e.requests.at(i)
		if !h.pulling || !h.fails {
			continue
		}
		if d.failing--; s.phase != waiting {
			continue
		}
		d.counts.FailedPulls++
		if h.remote = 0; d.cfg.Recompute {
			s.computed = e.connector.at(i).hit
			continue
		}
		e.batcher.remove(i)
		if d.cfg.Faults == nil {
			e.done(i, metrics.Failed, metrics.TransferFailed, now)
			continue
		}
		gone, progress := lastSeen(e, i, now)
		d.cfg.Faults.GiveBack(&gone, &progress, now)
		e.vacate(i)
	}
}

// endNow ends a pull at now that began at start, vtime.Never for when it was put on its way, and lets it fail if it failed,
// unless its request may start already. It reports whether there is such a pull.
func (d *disaggregation) endNow(number int64, start vtime.Time, failed bool, now vtime.Time) bool {
	at := slices.IndexFunc(d.moving, func(p pull) bool { return p.number == number })
	if at < 0 || d.moving[at].cut { // one that was cut off ended then, also if nobody has noticed
		return false
	}
	p := d.moving[at]
	d.moving = slices.Delete(d.moving, at, at+1)
	if p.end == vtime.Never {
		d.unknown--
	} else {
		d.counts.PullMicros -= int64(p.end.Sub(p.start))
	}
	if p.end, p.at, p.cut = now, now, failed; start != vtime.Never { // it waited for its turn before
		p.start = start
	}
	d.counts.PullMicros += int64(now.Sub(p.start))
	h := d.at(p.slot)
	if h.there, h.end = min(h.there, now), now; failed && !h.fails && !p.arrived {
		h.fails = true
		d.failing++
	}
	d.insert(p)
	return true
}
