package engine

import (
	"cmp"
	"fmt"

	"blis/kv"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// Storage is a tier below the CPU tier as an instance reaches it: its own, or one that
// several share.
type Storage interface {
	// Submit hands the tier an operation at now. It returns the answer, or false if the
	// answer comes by Engine.Answer. op is not kept.
	Submit(op *StorageOp, now vtime.Time) (StorageAnswer, bool)
}

// StorageOp is what an instance asks of a storage tier.
type StorageOp struct {
	Kind   StorageKind
	Number int32         // of the instance; the answer bears it
	Parts  []StoragePart // a question and a read have one
}

// StorageKind is a kind of operation of a storage tier.
type StorageKind uint8

// Kinds of operations.
const (
	StorageAsk   StorageKind = iota // how many entries of a range can be read, one after the other?
	StorageRead                     // read as many of a range as can be, one after the other
	StorageWrite                    // write those of some ranges that are not there
)

// StoragePart is a range of the entries of one request, which is described by its content
// (see kv.TierSequence.OpenContent).
type StoragePart struct {
	ID     uint64
	Input  int32
	Spans  []workload.Span
	Output workload.ContentID
	kv.EntryRange
}

// StorageAnswer is what came of an operation.
type StorageAnswer struct {
	Number     int32 // of the operation
	Entries    int32 // that can be read, were read, or were written
	Used       int64 // entries in the tier now
	Start, End vtime.Time
}

// StorageConfig is what a storage tier is made of.
type StorageConfig struct {
	Tier        kv.Tier // evicts by LRU
	EntryTokens int32
	EntryBlocks int32 // GPU blocks in an entry
	Read, Write Link
	Faults      StorageFaults // nil: the links are as they are
}

// StorageTier is a storage tier: entries, and a station for reads and one for writes. It
// has no events: what has ended shows when the next operation comes. Operations come in
// the order of time.
type StorageTier struct {
	cfg    StorageConfig
	Counts metrics.KVStorage
	Used   []*metrics.Gauge // entries in use over time, as many as somebody asks for

	read, write storageStation
	scratch     kv.TierSequence
	spare       []*storageJob // of jobs that ended
	until       vtime.Time    // the integral of Counts is up to this time
	evicted     int64         // before the machine crashed last
}

// storageJob is a read or a write that is under way.
type storageJob struct {
	parts  []storagePiece
	failed bool // nothing comes of it
}

// storagePiece is a range of entries that is read or written.
type storagePiece struct {
	seq kv.TierSequence
	kv.EntryRange
}

// storageStation is a station and the jobs of its transfers.
type storageStation struct {
	station
	jobs   []*storageJob // as many as there are transfers in moving
	failed failedTransfers
}

// NewStorageTier returns an empty tier.
func NewStorageTier(c StorageConfig) *StorageTier {
	t := &StorageTier{cfg: c, read: storageStation{station: station{link: c.Read}}, write: storageStation{station: station{link: c.Write}}}
	t.Counts.Capacity, t.Counts.EntryBlocks = int64(c.Tier.Capacity()), int64(c.EntryBlocks)
	return t
}

// MinAnswer returns the least time from an operation to its answer.
func (c *StorageConfig) MinAnswer() vtime.Duration { return min(c.Read.Time(0), c.Write.Time(0)) }

// Submit implements Storage: an instance has the tier to itself.
func (t *StorageTier) Submit(op *StorageOp, now vtime.Time) (StorageAnswer, bool) {
	return t.Handle(op, now), true
}

// Handle executes an operation at now and returns its answer, which ends later than now.
func (t *StorageTier) Handle(op *StorageOp, now vtime.Time) StorageAnswer {
	t.settle(now)
	a := t.execute(op, now)
	a.Used = int64(t.cfg.Tier.Used())
	return a
}

func (t *StorageTier) execute(op *StorageOp, now vtime.Time) StorageAnswer {
	a := StorageAnswer{Number: op.Number, Start: now}
	switch {
	case op.Kind == StorageAsk && t.isDown(now): // it does not get there
	case op.Kind == StorageAsk:
		a.Entries = t.ask(&op.Parts[0])
	case op.Kind == StorageRead:
		j := t.job()
		if a.Entries = t.beginRead(j, &op.Parts[0], now); a.Entries > 0 {
			t.move(&t.read, j, &a, now)
			t.countRead(&a, now)
			return a
		}
		t.spare = append(t.spare, j)
	case op.Kind == StorageWrite:
		j := t.job()
		if a.Entries = t.beginWrite(j, op.Parts); a.Entries > 0 {
			t.move(&t.write, j, &a, now)
			t.countWrite(&a, now)
			return a
		}
		t.spare = append(t.spare, j)
	}
	link := t.cfg.Read
	if op.Kind == StorageWrite {
		link = t.cfg.Write
	}
	a.End = now.Add(link.Time(0))
	return a
}

// settle lets what ended at now or before show: entries that were written can be read,
// those that were read can be evicted.
func (t *StorageTier) settle(now vtime.Time) {
	t.integrate(now)
	t.cfg.Tier.Advance(now)
	for j := t.write.ended(now); j != nil; j = t.write.ended(now) {
		for i := range j.parts {
			p := &j.parts[i]
			if j.failed {
				t.cfg.Tier.Withdraw(&p.seq, p.From, p.To)
			}
			t.cfg.Tier.Written(&p.seq, nil)
		}
		t.spare = append(t.spare, j)
	}
	for j := t.read.ended(now); j != nil; j = t.read.ended(now) {
		p := &j.parts[0]
		t.cfg.Tier.EndLoad(&p.seq, p.From, p.To)
		t.spare = append(t.spare, j)
	}
}

// integrate brings the integral up to now.
func (t *StorageTier) integrate(now vtime.Time) {
	used := int64(t.cfg.Tier.Used())
	t.Counts.UsedMicros += int64(now.Sub(t.until)) * used
	for _, g := range t.Used {
		g.Hold(now, used)
	}
	t.until = now
}

// job returns a job without parts.
func (t *StorageTier) job() *storageJob {
	n := len(t.spare)
	if n == 0 {
		return &storageJob{}
	}
	j := t.spare[n-1]
	t.spare = t.spare[:n-1]
	j.parts = j.parts[:0]
	return j
}

// add returns one more part of j, with the content of p.
func (t *StorageTier) add(j *storageJob, p *StoragePart) *storagePiece {
	if n := len(j.parts); n < cap(j.parts) {
		j.parts = j.parts[:n+1] // with the memory of its sequence
	} else {
		j.parts = append(j.parts, storagePiece{})
	}
	piece := &j.parts[len(j.parts)-1]
	t.open(&piece.seq, p)
	piece.EntryRange = p.EntryRange
	return piece
}

func (t *StorageTier) open(s *kv.TierSequence, p *StoragePart) {
	s.OpenContent(p.ID, p.Input, p.Spans, p.Output, t.cfg.EntryTokens, 0)
}

// ask touches all entries up to the end of the range and returns how many from its start
// on can be read.
func (t *StorageTier) ask(p *StoragePart) int32 {
	t.open(&t.scratch, p)
	t.cfg.Tier.Touch(&t.scratch, p.To)
	n := t.cfg.Tier.Lookup(&t.scratch, p.From, p.To)
	c := &t.Counts
	c.Asked++
	c.AskedEntries += int64(p.To - p.From)
	c.FoundEntries += int64(n)
	return n
}

// beginRead lets j read those entries of p that can still be, and returns their number.
func (t *StorageTier) beginRead(j *storageJob, p *StoragePart, now vtime.Time) int32 {
	piece := t.add(j, p)
	n := t.cfg.Tier.Lookup(&piece.seq, p.From, p.To)
	if piece.To = p.From + n; n > 0 {
		t.cfg.Tier.BeginLoad(&piece.seq, piece.From, piece.To, now)
	}
	return n
}

// beginWrite lets j write those entries of the parts that are not there, as far as there is
// room, and returns their number.
func (t *StorageTier) beginWrite(j *storageJob, parts []StoragePart) (entries int32) {
	for i := range parts {
		piece := t.add(j, &parts[i])
		n, ok := t.cfg.Tier.Store(&piece.seq, piece.From, piece.To)
		if n == 0 || !ok {
			j.parts = j.parts[:len(j.parts)-1]
			if !ok {
				t.Counts.NoRoom++
			}
			continue
		}
		t.cfg.Tier.Touch(&piece.seq, piece.To)
		entries += n
	}
	t.Counts.PeakUsed = max(t.Counts.PeakUsed, int64(t.cfg.Tier.Used()))
	return entries
}

func (t *StorageTier) countRead(a *StorageAnswer, now vtime.Time) {
	c := &t.Counts
	if a.Entries > 0 { // else it failed
		c.Reads++
	}
	c.ReadEntries += int64(a.Entries)
	c.ReadMicros += int64(a.End.Sub(a.Start))
	c.ReadWait += int64(a.Start.Sub(now))
}

func (t *StorageTier) countWrite(a *StorageAnswer, now vtime.Time) {
	c := &t.Counts
	if a.Entries > 0 {
		c.Writes++
	}
	c.WrittenEntries += int64(a.Entries)
	c.WriteMicros += int64(a.End.Sub(a.Start))
	c.WriteWait += int64(a.Start.Sub(now))
}

// Lose empties the tier at now, whose machine crashed: fresh has nothing of what was in it, and what is under way never
// ends. What was counted goes on.
func (t *StorageTier) Lose(fresh kv.Tier, now vtime.Time) {
	t.settle(now)
	c := &t.Counts
	c.ReadMicros -= int64(t.read.after(now))
	c.WriteMicros -= int64(t.write.after(now))
	for _, q := range []*storageStation{&t.read, &t.write} {
		q.drop()
		q.jobs, q.free = nil, now
	}
	t.evicted += t.cfg.Tier.Evicted()
	t.cfg.Tier = fresh
}

// Finish brings the counts up to the end of the run.
func (t *StorageTier) Finish(end vtime.Time) {
	if end > t.until {
		t.integrate(end)
	}
	t.Counts.ReadMicros -= int64(t.read.after(end))
	t.Counts.WriteMicros -= int64(t.write.after(end))
	t.Counts.Evicted = t.evicted + t.cfg.Tier.Evicted()
}

// Check verifies the books.
func (t *StorageTier) Check() error {
	var writers []*kv.TierSequence
	for _, j := range t.write.jobs {
		for i := range j.parts {
			writers = append(writers, &j.parts[i].seq)
		}
	}
	reading := 0
	for _, j := range t.read.jobs {
		reading += int(j.parts[0].To - j.parts[0].From)
	}
	c, blocks := &t.Counts, int64(t.cfg.EntryBlocks)
	if err := cmp.Or(t.cfg.Tier.Check(writers, reading, 0), t.read.check(c.Reads+t.read.failed.transfers, c.ReadEntries*blocks+t.read.failed.blocks), t.write.check(c.Writes+t.write.failed.transfers, c.WrittenEntries*blocks+t.write.failed.blocks)); err != nil {
		return fmt.Errorf("storage tier: %w", err)
	}
	return nil
}

// Fold is a hash of what is in the tier and of its counts.
func (t *StorageTier) Fold() uint64 {
	return t.cfg.Tier.Fold() ^ t.Counts.Fold()
}

// ended takes out the first job if it ended at now or before; nil if it did not.
func (q *storageStation) ended(now vtime.Time) *storageJob {
	if q.next() > now {
		return nil
	}
	q.books.end(&q.moving[0], &q.link, now)
	j := q.jobs[0]
	q.moving, q.jobs = append(q.moving[:0], q.moving[1:]...), append(q.jobs[:0], q.jobs[1:]...)
	return j
}
