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
// and nothing if it fails. No answer comes earlier than that of an operation that moves nothing.
func (t *StorageTier) move(q *storageStation, j *storageJob, a *StorageAnswer, now vtime.Time) {
	n := a.Entries * t.cfg.EntryBlocks
	if j.failed = false; t.cfg.Faults == nil {
		a.Start, a.End = q.submit(j, n, now)
		return
	}
	x := transfer{blocks: n, submitted: now, start: max(now, q.free)}
	share, down := t.cfg.Faults.Share(x.start)
	link := q.link
	if share > 0 {
		link.PerBlock /= share
		x.lasts = link.Time(n)
	} else {
		x.lasts, j.failed = link.Latency(), true
	}
	if end := x.start.Add(x.lasts); down < end && !j.failed {
		j.failed = true
		x.lasts = max(down.Add(1), now.Add(link.Latency())).Sub(x.start)
	}
	x.end = x.start.Add(x.lasts)
	q.free = x.end
	q.books.submit(n)
	q.moving, q.jobs = append(q.moving, x), append(q.jobs, j)
	if a.Start, a.End = x.start, x.end; j.failed {
		a.Entries = 0
		q.failed.transfers++
		q.failed.blocks += int64(n)
	}
}
