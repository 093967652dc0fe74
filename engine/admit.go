package engine

// admit moves waiting requests into the running list while max_num_seqs and the
// budget, left tokens, allow it and each fits; the first that does not fit stops
// the scan.
func (f *batcher) admit(b *batch, left int32) {
	for f.requests.waiting() > 0 {
		switch {
		case f.requests.running() >= f.cfg.MaxNumSeqs:
			f.blocked = atMaxSeqs
			return
		case left <= 0:
			f.blocked = noBudget
			return
		}
		i := f.queue.head()
		known := f.requests.at(i).known()
		cached, n, why := f.offer(i, left)
		if why != free {
			f.stops(b, i, why)
			return
		}
		if n <= 0 {
			return // the scheduler gives it nothing now
		}
		left -= n
		f.queue.pop(i, running)
		f.enter(b, i, cached, n, known)
	}
}

// offer returns what the waiting request in slot i would get of the left tokens of the budget: tokens found in
// the prefix cache, and tokens to compute; or what keeps it from being admitted.
func (f *batcher) offer(i, left int32) (cached, n int32, why blockade) {
	s := f.requests.at(i)
	known := s.known()
	hit := f.cache.Lookup(&s.seq, known)
	cached = int32(hit.Blocks) * f.cfg.BlockSize
	if f.threshold != nil {
		cached += f.threshold.lookUp(i, hit.Blocks, known)
	}
	n = known - cached
	if n > 1 {
		f.prefillLeft = left
		n = f.chunk(s, n, cached)
	}
	if why := f.shortage(s, known, cached, n, left); why != free {
		return 0, 0, why
	}
	return cached, min(n, left), free
}

// stops notes why the scan of the waiting requests ends at slot i.
func (f *batcher) stops(b *batch, i int32, why blockade) {
	if f.blocked = why; why == noBlocks {
		f.counters.AllocationFailures++
	}
	if !b.empty() { // else it is no step
		f.diagnosis.headBlocked(i, b.formedAt)
	}
}

// enter puts slot i, which is in phase running and has cached of its known tokens, at
// the end of the running list and gives it n tokens in b.
func (f *batcher) enter(b *batch, i, cached, n, known int32) {
	s := f.requests.at(i)
	s.computed, s.order = cached, f.admissions
	if !f.schedule(b, i, n) {
		panic("engine: a request that fits does not")
	}
	f.admissions++
	f.individuals.append(i)
	if f.connector != nil {
		f.connector.filling.admits(i, s.Preempted)
		f.connector.bookAdmission(i, known)
		b.notBefore = max(b.notBefore, f.connector.disaggregation.whole(i))
	}
	if f.threshold != nil {
		f.threshold.moveBack(i, known, b.formedAt)
	}
	f.bookAdmission(b, s, cached, known)
}

// shortage returns what keeps a waiting request from being admitted; free: nothing. It
// was just looked up and asks for n tokens, left of the budget are there.
func (f *batcher) shortage(s *slot, known, cached, n, left int32) blockade {
	if !f.cfg.EnableChunkedPrefill && n > left {
		return noFit
	}
	upto := cached + max(0, min(n, left))
	if f.cfg.SchedulerReserveFullISL {
		upto = min(known, f.requests.maxLen)
	}
	if f.cache.Need(&s.seq, upto) > f.cache.Free() {
		return noBlocks
	}
	return free
}

// bookAdmission books that a request with known tokens, cached ones of them
// found in the prefix cache, was admitted to b.
func (f *batcher) bookAdmission(b *batch, s *slot, cached, known int32) {
	c, lookedUp := f.counters, int64(0)
	if f.cfg.EnablePrefixCaching {
		lookedUp = int64(known)
	}
	f.diagnosis.admits(s, cached)
	if !s.Preempted {
		s.cached, s.scheduled = cached, b.formedAt
		c.LookedUpTokens += lookedUp
		c.CachedTokens += int64(cached)
		return
	}
	s.Preempted = false
	again := max(0, s.lost-cached)
	s.recomputed += again
	c.RelookedTokens += lookedUp
	c.RecachedTokens += int64(cached)
	c.Recomputed += int64(again)
}
