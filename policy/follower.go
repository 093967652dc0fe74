package policy

// follower is how far a policy has followed a view. Each policy has its own,
// so that several may follow one view.
type follower struct {
	view *View
	seen uint64 // changes of the view that the policy has taken in
}

// catchUp brings the follower up to date. The changes that it had not seen are
// those with the numbers from first to before view.changes; an instance may be
// among them more than once. With anew, anything may have changed, the number
// of instances too.
func (f *follower) catchUp(view *View) (first uint64, anew bool) {
	first = f.seen
	anew = f.view != view || view.changes-first > uint64(len(view.log))
	f.view, f.seen = view, view.changes
	return first, anew
}

// changed is the instance that change number c was about, for the last
// len(log) of them.
func (v *View) changed(c uint64) int { return int(v.log[c&uint64(len(v.log)-1)]) }
