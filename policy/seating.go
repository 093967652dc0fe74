package policy

import "slices"

// seating follows a view and gives its instances seats, in their order, but
// for those that are gone. What a policy keeps by seat is as long as there are
// instances, however many there have been. While nobody is gone seats are
// instances.
//
// Seats are given anew when anything may have changed, as it may have whenever
// an instance was added. Who goes in between keeps its seat until then.
type seating struct {
	follower
	taken  []int32 // instance by seat
	before []int32 // taken, before seats were given anew last
	whole  bool    // seats are instances
}

// catchUp is that of the follower. If it is anew, so are the seats.
func (s *seating) catchUp(view *View) (first uint64, anew bool) {
	if first, anew = s.follower.catchUp(view); anew {
		s.before, s.taken = s.taken, append(s.before[:0], view.present...)
		s.whole = len(s.taken) == view.Len()
	}
	return first, anew
}

// seat is that of an instance, −1 for one that has none.
func (s *seating) seat(i int) int {
	if s.whole && i < len(s.taken) {
		return i
	}
	return s.search(i)
}

func (s *seating) search(i int) int {
	if k, seated := slices.BinarySearch(s.taken, int32(i)); seated {
		return k
	}
	return -1
}

// instance is the one in a seat, −1 for seat −1.
func (s *seating) instance(seat int) int {
	if seat < 0 || s.whole {
		return seat
	}
	return int(s.taken[seat])
}
