package kv

import (
	"slices"

	"blis/vtime"
)

// tierInterval is consecutive entries of a segment, or ghosts of such entries, that
// are in the same state and follow each other in their queue.
type tierInterval struct {
	segment    segmentID
	from, to   int32      // from < to
	prev, next intervalID // in the segment

	queue        queueID
	older, newer intervalID // in the queue
	group        groupID    // 0: in none
	rising       bool       // the shallowest entry is the oldest, as Store leaves them; else the deepest, as Touch does

	readers        int32 // loads that read it; or beingStored, beingPromoted
	copies         int32 // copies to another tier that read it
	writer         writerID
	earlier, later intervalID // being written for the same request; means something only then
	stored         vtime.Time // end of its store; Never: not known yet

	kept  uint64 // number of the Store that must not evict it
	touch uint64 // number of the last Touch that placed it
}

// Readers of what is being written.
const (
	beingStored   = -1
	beingPromoted = -2
)

// queueID and writerID number the queues and the writers of one tier.
type (
	queueID  int32
	writerID int32
)

// tierQueue is intervals from the one that is evicted first, the oldest, to the newest.
type tierQueue struct {
	rank           float64 // of LFU and Priority: touches, or priority of the request that stored them
	oldest, newest intervalID
	entries        int
	evictable      int        // of those, readable and read by nobody
	start          intervalID // no older one can be evicted; none: none at all
	placed         intervalID // by the last Touch that placed one here
	touch          uint64     // number of that Touch
}

// Queues that every tier has. Those of ARC are in use with ARC only; LRU has one,
// recent; LFU and Priority have one per rank, with later numbers.
const (
	recentGhosts queueID = iota
	frequentGhosts
	recent
	frequent
	fixedQueues
)

// tierTree is what a tier has: intervals, by segment, by queue, and by the request for
// which they are being written. It does not know which entry goes where.
type tierTree struct {
	segmentTree
	eviction  Eviction
	intervals slab[intervalID, tierInterval]
	groups    slab[groupID, tierGroup]
	queues    slab[queueID, tierQueue]
	order     []queueID // those with entries that can be evicted, lowest rank first
	writers   slab[writerID, tierWriter]
	clock     vtime.Time // no load begins before

	// version counts the changes that can alter what a Touch or a Lookup does, so that
	// a request that waits at the head of the queue costs nothing while nothing changed.
	version uint64
}

// tierWriter is a request for which entries are being written.
type tierWriter struct {
	first, last intervalID // its intervals in the order in which they were stored
	unsent      int32      // entries whose transfer was not sent yet
	falling     bool       // stored by StoreDeepest: of one interval the deepest entry first, else the shallowest
	tail        int32      // the entries of last from this one on were stored last, the others are settled; none: last has no tail
	tailEnd     vtime.Time // of the store of the tail; Never: not known yet
}

func newTierTree(e Eviction) tierTree {
	t := tierTree{eviction: e, version: 1} // 0: a sequence that remembers nothing
	t.writers.add(tierWriter{})            // number 0 is no writer
	t.groups.add(tierGroup{})              // and no group
	for range fixedQueues {
		t.queues.add(tierQueue{oldest: none, newest: none, start: none})
	}
	switch e {
	case LRU:
		t.order = []queueID{recent}
	case ARC:
		t.order = []queueID{recent, frequent}
	}
	return t
}

// ranked reports whether there is one queue per rank.
func (t *tierTree) ranked() bool { return t.eviction == LFU || t.eviction == Priority }

// find returns the place of the queue of a rank in the order of ranks, and whether
// there is one.
func (t *tierTree) find(rank float64) (int, bool) {
	return slices.BinarySearchFunc(t.order, rank, func(q queueID, rank float64) int {
		switch at := t.queues.at(q).rank; {
		case at < rank:
			return -1
		case at > rank:
			return 1
		}
		return 0
	})
}

// queueOf returns the queue of a rank, made if there is none.
func (t *tierTree) queueOf(rank float64) queueID {
	i, ok := t.find(rank)
	if !ok {
		t.order = slices.Insert(t.order, i, t.queues.add(tierQueue{rank: rank, oldest: none, newest: none, start: none}))
	}
	return t.order[i]
}

// link puts interval id into queue q right before the interval newer, none: as the newest.
func (t *tierTree) link(id intervalID, q queueID, newer intervalID) {
	v, at := t.intervals.at(id), t.queues.at(q)
	v.queue = q
	t.hang(id, newer)
	at.entries += int(v.to - v.from)
	if v.free() {
		at.evictable += int(v.to - v.from)
	}
}

// hang puts id into the list of its queue right before newer. It counts nothing.
func (t *tierTree) hang(id, newer intervalID) {
	v := t.intervals.at(id)
	at := t.queues.at(v.queue)
	t.version++
	if v.newer = newer; newer == at.start {
		at.start = id
	}
	if newer == none {
		v.older, at.newest = at.newest, id
	} else {
		n := t.intervals.at(newer)
		v.older, n.older = n.older, id
	}
	if v.older == none {
		at.oldest = id
	} else {
		t.intervals.at(v.older).newer = id
	}
}

// unlink takes id out of its queue, and forgets the queue of a rank with its last entry.
func (t *tierTree) unlink(id intervalID) {
	v := t.intervals.at(id)
	at := t.queues.at(v.queue)
	t.unhang(id)
	at.entries -= int(v.to - v.from)
	if v.free() {
		at.evictable -= int(v.to - v.from)
	}
	if at.entries == 0 && t.ranked() {
		i, _ := t.find(at.rank)
		t.order = slices.Delete(t.order, i, i+1)
		t.queues.drop(v.queue)
	}
}

// unhang takes id out of the list of its queue, and out of its group. It counts nothing else.
func (t *tierTree) unhang(id intervalID) {
	t.leave(id)
	v := t.intervals.at(id)
	at := t.queues.at(v.queue)
	if t.version++; at.start == id {
		at.start = v.newer
	}
	if v.older == none {
		at.oldest = v.newer
	} else {
		t.intervals.at(v.older).newer = v.newer
	}
	if v.newer == none {
		at.newest = v.older
	} else {
		t.intervals.at(v.newer).older = v.older
	}
}

// add puts v, whose from and to and state are set, into segment g. It is in no queue yet.
func (t *tierTree) add(g segmentID, v tierInterval) intervalID {
	v.segment, v.prev, v.next = g, none, t.segments.at(g).first
	for v.next != none && t.intervals.at(v.next).from < v.from {
		v.prev, v.next = v.next, t.intervals.at(v.next).next
	}
	id := t.intervals.add(v)
	t.fileBetween(v.prev, id, v.next)
	return id
}

// addBehind is tierTree.add for an interval behind the last one of a segment.
func addBehind(t *tierTree, last intervalID, v tierInterval) intervalID {
	v.segment = t.intervals.at(last).segment
	id := t.intervals.add(v)
	t.fileBetween(last, id, none)
	return id
}

// fileBetween makes id the interval between prev and next in its segment.
func (t *tierTree) fileBetween(prev, id, next intervalID) {
	v := t.intervals.at(id)
	if v.prev, v.next = prev, next; prev == none {
		t.segments.at(v.segment).first = id
	} else {
		t.intervals.at(prev).next = id
	}
	if next != none {
		t.intervals.at(next).prev = id
	}
}

// drop forgets interval id, which is in no queue, and its segment with the last interval.
func (t *tierTree) drop(id intervalID) {
	t.unfile(id)
	g := t.intervals.at(id).segment
	t.intervals.drop(id)
	t.dropUnused(g)
}

// unfile takes id out of its segment.
func (t *tierTree) unfile(id intervalID) {
	v := t.intervals.at(id)
	if v.prev == none {
		t.segments.at(v.segment).first = v.next
	} else {
		t.intervals.at(v.prev).next = v.next
	}
	if v.next != none {
		t.intervals.at(v.next).prev = v.prev
	}
}
