package engine

import (
	"fmt"

	"blis/vtime"
)

// What disaggregation counts, checks and forgets.

// book takes in that p is noticed at now.
func (d *disaggregation) book(p *pull, now vtime.Time) {
	k := d.counts
	k.NoticedPulls++
	k.PullNotice += int64(now.Sub(p.end))
	d.blocks += int64(p.blocks)
	switch took := p.end.Sub(p.start); {
	case d.fault != nil:
	case p.start >= p.end || p.end > now:
		d.fault = fmt.Errorf("a pull of %d blocks lasts from %v to %v and is noticed at %v: want that order", p.blocks, p.start, p.end, now)
	case p.lasts > 0 && !p.cut && took != p.lasts:
		d.fault = fmt.Errorf("a pull of %d blocks takes %v, want %v", p.blocks, took, p.lasts)
	}
}

// bookAdmission counts what a pull saved slot i, which is admitted, and reports whether there was
// one. The last token of a prompt is computed at all events.
func (d *disaggregation) bookAdmission(i int32) bool {
	if d == nil || d.at(i).remote == 0 {
		return false
	}
	h, s := d.at(i), d.e.requests.at(i)
	h.of.RemoteTokens = h.remote - 1
	d.counts.RemoteTokens += int64(h.of.RemoteTokens)
	if d.e.cfg.EnablePrefixCaching {
		d.counts.PulledPrompts += int64(s.Input)
		d.counts.PulledCached += int64(s.Input - h.remote)
	}
	h.remote = 0
	if d.fault == nil && (h.there > d.e.connector.formed || s.computed != s.Input) {
		d.fault = fmt.Errorf("request %d is scheduled at %v with %d of %d tokens; its pull lets it start at %v", s.ID, d.e.connector.formed, s.computed, s.Input, h.there)
	}
	return true
}

// endPull takes in that the load of slot i has ended, and reports whether it was a pull.
func (d *disaggregation) endPull(i int32) bool {
	was := d.isPulling(i)
	if was {
		d.at(i).pulling = false
	}
	return was
}

// giveBack notes that the request in slot i gave its blocks back, and what was pulled with them, since
// nothing would go on otherwise.
func (d *disaggregation) giveBack(i int32) {
	if d != nil {
		d.at(i).remote = 0
		d.counts.DeadlockBreak++
	}
}

// isPulling reports whether the load of slot i is a pull.
func (d *disaggregation) isPulling(i int32) bool { return d != nil && d.at(i).pulling }

// restore gives the request in slot i, which goes on elsewhere, the output back that its client wants.
func (d *disaggregation) restore(i int32, to *Delivery) {
	if d != nil && d.at(i).prefill {
		to.Output, to.MaxOutput = d.at(i).client.output, d.at(i).client.most
	}
}

// drop forgets everything: the instance is taken away.
func (d *disaggregation) drop(now vtime.Time) {
	if d == nil {
		return
	}
	for i := range d.slots {
		if h := d.at(int32(i)); h.hold > 0 {
			d.counts.Lost++
		}
		d.slots[i] = handOver{}
	}
	for i := range d.moving {
		d.blocks += int64(d.moving[i].blocks)
	}
	d.dropped += int64(len(d.moving))
	if d.awaiting > 0 {
		d.cfg.Notices.Released(d.awaiting, now)
	}
	d.prefills = prefills{gone: d.counts.HandOvers}
	d.moving, d.unknown, d.failing, d.linksDown, d.left = nil, 0, 0, 0, nil
}

// goOn makes the books those of an instance before its restart, was, which had dropped everything.
func (d *disaggregation) goOn(was *disaggregation) {
	if d != nil {
		d.gone, d.dropped, d.blocks = was.gone, was.dropped, was.blocks
	}
}

// close takes back what pulls will last after now, the end of the instance or of the run.
func (d *disaggregation) close(now vtime.Time) {
	if d == nil {
		return
	}
	for i := range d.moving {
		if p := &d.moving[i]; p.end != vtime.Never {
			d.counts.PullMicros -= int64(max(0, p.end.Sub(max(p.start, now))))
		}
	}
}

// check verifies the books: each prefill that left KV was pulled, or given up, or still awaits
// that; each pull ends once.
func (d *disaggregation) check() error {
	if d == nil {
		return nil
	}
	k := d.counts
	kept, awaiting := int64(0), 0
	for i := range d.slots {
		if d.slots[i].hold > 0 {
			kept++
		}
		if d.slots[i].held && d.slots[i].prefill {
			awaiting++
		}
	}
	moving, blocks := int64(len(d.moving))+d.dropped, d.blocks
	for i := range d.moving {
		blocks += int64(d.moving[i].blocks)
	}
	switch over := k.NoticedEnds + k.NoticedLeft + k.Expired + k.Lost; {
	case d.fault != nil:
		return d.fault
	case awaiting != d.awaiting || int64(awaiting) < kept:
		return fmt.Errorf("%d prefills await their pull by the slots, %d by the books, %d of them unnoticed", awaiting, d.awaiting, kept)
	case k.HandOvers != over+kept:
		return fmt.Errorf("%d prefills left KV, %d are over and %d await their pull", k.HandOvers, over, kept)
	case k.StalePulls > k.Expired:
		return fmt.Errorf("%d pulls came too late, but only %d prefills were given up", k.StalePulls, k.Expired)
	case k.Pulls != k.NoticedPulls+moving || k.PulledBlocks != blocks:
		return fmt.Errorf("%d pulls of %d blocks began, %d were noticed, %d are under way or lost, of %d blocks in all", k.Pulls, k.PulledBlocks, k.NoticedPulls, moving, blocks)
	}
	return nil
}
