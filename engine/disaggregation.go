package engine

import (
	"blis/metrics"
	"blis/vtime"
)

// Disaggregation is what an instance does for prefill/decode disaggregation, as vLLM's
// NixlConnector does: one instance computes a prompt and keeps its KV, another one pulls that and
// goes on. An engine without it does nothing of this.
type Disaggregation struct {
	Pull        Link           // how long a pull takes; the blocks are this instance's
	SharedLink  bool           // pulls wait for each other: PullPort.Ended says when one ends
	Recompute   bool           // a request whose pull failed computes what did not come; false: it fails
	StartShare  float64        // share of the blocks of a pull with which its request may start; its first step does not end before the pull. In (0, 1]; 0: all. Not with SharedLink
	HoldTimeout vtime.Duration // from the end of a prefill until its blocks are released that nobody pulled; above 0
	MaxModelLen int32          // effective max-model-len where requests go on, for which none may be too long; 0: no limit
	MaxHeld     int            // prefills whose KV awaits its pull, from which on no request is admitted; 0: no limit
	Notices     PullNotices
	Faults      PullFaults // nil: no pull fails but those of which PullPort.Pull says so, and their requests fail
}

// PullFaults says which pulls go wrong, and takes requests whose pull did.
type PullFaults interface {
	// Share returns the share of the bandwidth, in [0, 1], that a pull from a KVSource.From has which begins now;
	// 0: it fails after the time of a pull of no blocks. PullPort.SharesChange says that it is another one.
	Share(from int64) float64
	// GiveBack takes a request whose pull failed at now, with how far it got, both valid during the call. The instance
	// has it no more.
	GiveBack(d *Delivery, p *Progress, now vtime.Time)
}

// PullNotices gets what an instance has to tell the other side. What it is given is valid during
// the call.
type PullNotices interface {
	// Prefilled takes in that the prefill of a request ended at now, the end of its step: a notice
	// of class 8 at now. o is how far it got, with the one token, which is discarded. Without
	// blocks in s there is nothing to pull: the request ended by itself, or as a victim without
	// KV, and the other side computes the prompt.
	Prefilled(o *metrics.Outcome, s KVSource, now vtime.Time)
	// Pulls takes in that a pull begins in the pass formed at now: a notice of class 8 at now.
	Pulls(p *Pull, now vtime.Time)
	// Left takes in, in the pass formed at now, that a request left before its pull began: a
	// notice of class 8 at now. Nobody will pull s.
	Left(s KVSource, now vtime.Time)
	// Released takes in that the blocks of n prefills, which awaited their pull, were let go at now, the end
	// of a pass, or went with the instance then: a notice of class 8 at now.
	Released(n int, now vtime.Time)
}

// KVSource is the KV of a prompt that awaits its pull in the instance that computed it.
type KVSource struct {
	Request int64
	Number  int64 // of those of its instance, from 1
	Slot    int32
	Blocks  int32 // of that instance; 0: nothing to pull
	From    int64 // the instance, by a number that the engine keeps and does not read
	Gone    bool  // it is there no longer: a pull of it fails after the time of a pull of no blocks
}

// Pull moves the KV of a prompt to the instance where its request goes on.
type Pull struct {
	Source     KVSource
	Number     int64          // of those of the pulling instance, from 1
	Blocks     int32          // of that instance
	Start, End vtime.Time     // End is vtime.Never with Disaggregation.SharedLink, unless nothing is moved
	Lasts      vtime.Duration // once it has its turn
	Fails      bool           // nothing has come when it ends, and nobody tells the source
}

// disaggregation is the part of a connector that hands KV over to other instances, and pulls it.
type disaggregation struct {
	cfg    *Disaggregation
	e      *Engine
	counts *metrics.Disaggregation
	slots  []handOver // by slot
	prefills
	pulls
}

// handOver is what is known of the hand-over of the request in a slot.
type handOver struct {
	// As the one who computes the prompt.
	prefill bool         // the request ends here with its prefill
	client  outputLimits // what its client wants
	hold    int64        // number of its KV that awaits its pull; 0: none, or a pass has noticed that it need not
	held    bool         // its blocks are held for that, or for the rest of its own pull, until a pass has ended that noticed the end

	// As the one who goes on.
	source   KVSource   // to be pulled; without blocks nothing, or no more
	fails    bool       // its pull does
	linkDown bool       // its pull fails unless PullFaults.Share changes before it begins
	pulling  bool       // its load is a pull
	there    vtime.Time // when its request may start
	end      vtime.Time // of its pull; 0: there was none
	remote   int32      // tokens that a pull gave it

	of metrics.HandOver // as it was delivered, and what the pull gave it
}

// outputLimits are what a client says of the length of its output.
type outputLimits struct{ output, most int32 }

// newDisaggregation returns the part of the connector of e that hands KV over, nil without it.
func newDisaggregation(e *Engine) *disaggregation {
	d := e.cfg.Disaggregation
	switch {
	case d == nil:
		return nil
	case !(d.StartShare >= 0 && d.StartShare <= 1) || d.StartShare > 0 && d.SharedLink:
		panic("engine: requests start with a share of a pull outside of (0, 1], or on a shared link")
	case d.HoldTimeout <= 0 || d.Notices == nil || e.cfg.Threshold != nil:
		panic("engine: disaggregation without a hold time-out, without somebody to tell, or with blocks that move")
	}
	return &disaggregation{cfg: d, e: e, counts: &e.Disaggregated}
}

// at returns what is known of slot i.
func (d *disaggregation) at(i int32) *handOver { return &d.slots[i] }

// open takes in the request that was put into slot i, with what became of it before.
func (d *disaggregation) open(i int32, of *metrics.HandOver) {
	if d == nil {
		return
	}
	for int(i) >= len(d.slots) {
		d.slots = append(d.slots, handOver{})
	}
	*d.at(i) = handOver{of: *of}
}

// handOverOf returns what became of the request in slot i before it came here, and of its pull until now.
func handOverOf(e *Engine, i int32, now vtime.Time) metrics.HandOver {
	if e.connector == nil || e.connector.disaggregation == nil {
		return metrics.NoHandOver()
	}
	h := e.connector.disaggregation.at(i)
	of := h.of
	if of.PullEnd == vtime.Never && h.end > 0 && h.end <= now {
		of.PullEnd = h.end
	}
	return of
}

// busy reports whether a pull is under way, or a prefill awaits its own.
func (d *disaggregation) busy() bool { return d != nil && d.awaiting+len(d.moving) > 0 }

// awaited reports whether a message is to come that ends a pull.
func (d *disaggregation) awaited() bool { return d != nil && d.unknown > 0 }

// fails reports whether a request may fail because its pull does.
func (d *disaggregation) fails() bool {
	return d != nil && d.failing+d.linksDown > 0 && !d.cfg.Recompute
}

// next returns the first time at which something ended that nobody noticed, but for time-outs.
func (d *disaggregation) next() vtime.Time {
	switch {
	case d == nil:
		return vtime.Never
	case len(d.over) > 0:
		return 0
	}
	return d.nextPull()
}

// expires is expiry, without disaggregation vtime.Never.
func (d *disaggregation) expires() vtime.Time {
	if d == nil {
		return vtime.Never
	}
	return d.expiry()
}

// poll tells the other side who left, and notices in pass p what ended at now or before.
func (d *disaggregation) poll(p *pass, now vtime.Time) {
	if d == nil {
		return
	}
	d.tell(d.e.connector.formed)
	d.pollPulls(p, now)
	p.over = d.pollHolds(now, p.over)
}

// moves reports whether a pull is under way.
func (d *disaggregation) moves() bool { return d != nil && len(d.moving) > 0 }

// whole returns when the pull of slot i, which is admitted, has all of the prompt.
func (d *disaggregation) whole(i int32) vtime.Time {
	if d == nil {
		return 0
	}
	return d.at(i).end
}
