package chrometrace

import (
	"math"

	"blis/vtime"
)

// thinning is what is left out since there are more events than the cap, and how many there are.
// The counts may be too high by what the window cuts off; the file is counted exactly.
type thinning struct {
	merged    bool           // decode steps of one size in a row are one event
	width     vtime.Duration // above 0: so are all steps of an instance that begin in a bin of this width
	limit     uint64         // requests are kept whose hash is not above it, and what is about them
	rareLimit uint64         // the same for scale actions and failures, which are few
	most      int32          // instances below it are kept

	stepEvents, keyedEvents, rareEvents int
	processes                           int
}

const (
	perProcess     = 4 // lines of metadata, and the counter when its last step has ended
	mostOfTransfer = 3 // the transfer and both ends of a flow
	mostOfRare     = 3 // a scale action has a counter too, a crash two
)

// total is the number of events, at most.
func (t *thinning) total() int {
	return t.stepEvents + t.keyedEvents + t.rareEvents + (t.processes+1)*perProcess
}

// thin leaves out more if there are more events than that. What is not enough when decode runs are merged
// is then thinned to an eighth less, so that it seldom has to be.
func (r *Recorder) thin(most int) {
	if r.total() > most && !r.merged {
		r.thinOnce(most)
	}
	if r.total() <= most {
		return
	}
	for r.total() > most-most/8 && r.thinOnce(most) {
	}
}

// all leaves nothing out.
func all() thinning {
	return thinning{limit: math.MaxUint64, rareLimit: math.MaxUint64, most: math.MaxInt32}
}

// thinOnce leaves out a part: decode runs become one event each, then there are an eighth less requests, or steps
// become coarser, whichever has more events. Last, when no instance has more than one event, instances
// are halved. It reports whether there was something to leave out.
func (r *Recorder) thinOnce(most int) bool {
	coarsest := r.width > vtime.Duration(r.last)
	switch {
	case !r.merged:
		r.merged = true
		r.joinSteps()
	case r.rareEvents > most/4:
		r.rareLimit -= r.rareLimit/8 + 1
		r.drop()
	case r.keyedEvents > 0 && (coarsest || r.keyedEvents >= r.stepEvents):
		r.limit -= r.limit/8 + 1
		r.drop()
	case !coarsest:
		r.width = max(narrowest, 2*r.width)
		r.joinSteps()
	case r.most > 1:
		r.most = max(1, min(r.most, int32(len(r.seats)))/2)
		r.drop()
	default:
		return false
	}
	return true
}

// narrowest is the first width of bins in which steps become one event, in µs.
const narrowest = 1 << 10

// joins reports whether a step is one event with the one of its instance before it.
func (r *Recorder) joins(before, s *step) bool {
	if r.width > 0 && int64(before.start)/int64(r.width) == int64(s.start)/int64(r.width) {
		return true
	}
	return r.merged && before.prefill == 0 && s.prefill == 0 && before.end == s.start && before.running == s.running && before.waiting == s.waiting &&
		before.decode*int64(s.steps) == s.decode*int64(before.steps)
}

// join adds a later step.
func (s *step) join(later *step) {
	s.end = later.end
	s.busy += later.busy
	s.prefill += later.prefill
	s.decode += later.decode
	s.steps += later.steps
	s.blocks = max(s.blocks, later.blocks)
	s.running, s.waiting = max(s.running, later.running), max(s.waiting, later.waiting)
}

// joinSteps joins the steps that are kept as far as they are one event now, and leaves out those of
// instances that are left out.
func (r *Recorder) joinSteps() {
	for i := range r.seats {
		r.seats[i].last = -1
	}
	old := r.steps
	r.steps, r.stepEvents = chunks[step]{}, 0
	for i := range old.len() {
		if s := old.at(i); r.shows(s.instance) {
			r.addStep(s)
		}
		if i%chunkSize == chunkSize-1 {
			old.parts[i/chunkSize] = nil
		}
	}
}

// keeps reports whether a request, and what is about it, is kept.
func (r *Recorder) keeps(request int64) bool { return vtime.Mix(uint64(request)) <= r.limit }

// keepsInstant reports whether an instant is kept.
func (r *Recorder) keepsInstant(i *instant) bool {
	switch {
	case i.rare():
		return vtime.Mix(uint64(i.at)) <= r.rareLimit
	case i.request >= 0:
		return r.keeps(i.request)
	}
	return r.keeps(int64(vtime.Mix(uint64(i.at))) ^ int64(i.instance))
}

// drop leaves out what is no longer kept, and counts the rest.
func (r *Recorder) drop() {
	r.processes, r.keyedEvents, r.rareEvents = 0, 0, 0
	for i := range r.seats {
		r.seats[i].used = false
	}
	r.joinSteps()
	r.requests.keep(func(q *request) bool {
		if !r.keeps(q.id) || !r.showsRequest(q) {
			return false
		}
		r.useOf(q)
		r.keyedEvents += r.eventsOfRequest(q)
		return true
	})
	r.transfers.keep(func(t *transfer) bool {
		if !r.keeps(t.request) || !r.shows(t.instance) {
			return false
		}
		r.use(t.instance)
		r.keyedEvents += mostOfTransfer
		return true
	})
	r.instants.keep(func(i *instant) bool {
		if !r.keepsInstant(i) || !r.shows(i.instance) {
			return false
		}
		r.use(i.instance)
		if i.rare() {
			r.rareEvents += mostOfRare
		} else {
			r.keyedEvents++
		}
		return true
	})
}
