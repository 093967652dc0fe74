package actors

import (
	"slices"

	"blis/lookahead"
	"blis/setup"
)

// Links of instances that are slow or down for a while: those on which KV is pulled.

// holding keeps the lines that hold at an instance, ascending, when another one begins or ends.
func holding(list []int32, line int32, begins bool) []int32 {
	at, _ := slices.BinarySearch(list, line)
	if begins {
		return slices.Insert(list, at, line)
	}
	return slices.Delete(list, at, at+1)
}

// link gives pulls of and to instance i a share of their bandwidth: the product of all that hold.
func (f *failures) link(i int, e *dueFailure, out *lookahead.Outbox, t *tracing) {
	c, at := &f.list[i], f.fleet.servers[i]
	c.links = holding(c.links, e.line, e.begins)
	f.note(e.at)
	l := f.linkShare(at)
	f.tellLink(at, func(to *server) { sendLink(out, to.process(), e.at, l) })
	if l.share == 0 {
		f.coordinator.cut(at, e.at, out)
	}
	what := traceLink
	if !e.begins {
		what = traceLinkEnd
	}
	t.failure(out, what, at.first)
}

// linkShare is the share that pulls of and to an instance have.
func (f *failures) linkShare(at *server) linkShare {
	l := linkShare{at.first, at.pool.plan.Ranks.Ranks, 1}
	for _, line := range f.list[at.number].links {
		l.share = multiply(l.share, f.plan.List[line].Share)
	}
	return l
}

// tellLink calls tell for each instance that has to know of the link of an instance: of those that pull, itself and
// those that pull from it.
func (f *failures) tellLink(at *server, tell func(to *server)) {
	switch at.pool.role {
	case setup.DecodeRole:
		tell(at)
	case setup.PrefillRole:
		for i := range f.list {
			if other := f.fleet.servers[i]; other.pool == at.pool.deployment.serving && !other.isGone() {
				tell(other)
			}
		}
	}
}

// linksFor returns what an instance that comes now has to know of the links of those whose KV it pulls.
func (f *failures) linksFor(at *server) (list []linkShare) {
	if f == nil || at.pool.role != setup.DecodeRole {
		return nil
	}
	for i := range f.list {
		other := f.fleet.servers[i]
		if len(f.list[i].links) > 0 && !f.list[i].Gone && other.pool == at.pool.deployment.prefill {
			list = append(list, f.linkShare(other))
		}
	}
	return list
}

// receiveLink takes in that pulls of or to an instance have another share.
func (x *outage) receiveLink(l linkShare) {
	at := slices.IndexFunc(x.links, func(o linkShare) bool { return o.first == l.first })
	switch {
	case at >= 0 && l.share == 1:
		x.links = slices.Delete(x.links, at, at+1)
	case at >= 0:
		x.links[at] = l
	case l.share < 1:
		x.links = append(x.links, l)
	}
}

// share is the share that pulls from a rank of another instance to that numbered own have: that of the worse link.
func (x *outage) share(own, from int) float64 {
	share := 1.0
	for _, l := range x.links {
		if i := from - l.first; i >= 0 && i < l.n {
			share = min(share, l.share)
		}
		if i := own - l.first; i >= 0 && i < l.n {
			share = min(share, l.share)
		}
	}
	return share
}
