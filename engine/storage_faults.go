package engine

import "blis/vtime"

// StorageFaults says how the link of a storage tier is, at any time: it is known ahead.
type StorageFaults interface {
	// Share returns the share of the bandwidth, in [0, 1], of a transfer that begins at a time, and the first time from
	// then on at which the link goes down: a transfer fails that goes on then. A transfer with a share of 0 fails after
	// the time of one of no blocks.
	Share(at vtime.Time) (share float64, down vtime.Time)
}

// failedTransfers counts what a station moved in vain.
type failedTransfers struct{ transfers, blocks int64 }

// isDown reports whether the link of the tier is down for what begins at now.
func (t *StorageTier) isDown(now vtime.Time) bool {
	if t.cfg.Faults == nil {
		return false
	}
	share, _ := t.cfg.Faults.Share(now)
	return share == 0
}

// move puts job j on its way at now, which moves the entries of a, and takes in what comes of it: when it starts and ends,
// and nothing if it fails.
func (t *StorageTier) move(q *storageStation, j *storageJob, a *StorageAnswer, now vtime.Time) {
	x := transfer{blocks: a.Entries * t.cfg.EntryBlocks, submitted: now, start: max(now, q.free)}
	if j.failed = false; t.cfg.Faults != nil {
		x.lasts, j.failed = durationUnder(t.cfg.Faults, &x, q.link)
	}
	x = q.put(x)
	q.jobs = append(q.jobs, j)
	if a.Start, a.End = x.start, x.end; j.failed {
		a.Entries = 0
		q.failed.transfers++
		q.failed.blocks += int64(x.blocks)
	}
}

// durationUnder returns how long x takes on a link with faults, and whether it fails. No answer comes earlier than that of
// an operation that moves nothing.
func durationUnder(f StorageFaults, x *transfer, link Link) (lasts vtime.Duration, fails bool) {
	share, down := f.Share(x.start)
	if share == 0 {
		return link.Latency(), true
	}
	link.PerBlock /= share
	lasts = link.Time(x.blocks)
	if down < x.start.Add(lasts) {
		return max(down.Add(1), x.submitted.Add(link.Latency())).Sub(x.start), true
	}
	return lasts, false
}
