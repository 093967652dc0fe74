package actors

import (
	"slices"
	"strconv"

	"blis/engine"
	"blis/setup"
	"blis/vtime"
)

// storageFaults says how the link of a storage tier is. What fails is known ahead, so that the tier needs no messages
// about it. All places of a tier have the same link.
type storageFaults struct {
	plan  *setup.Failures
	lines []storageLine
}

// storageLine is a line of failures of the link.
type storageLine struct {
	of     *setup.Failure
	stream *vtime.Stream // nil: it does not come by chance
	spans  []linkSpan    // in which it holds, as far as they are drawn
	next   vtime.Time    // the next one begins no earlier; Never: there is none
}

// linkSpan is a time in which a line holds: for what begins after from, up to to.
type linkSpan struct{ from, to vtime.Time }

var _ engine.StorageFaults = (*storageFaults)(nil)

// newStorageFaults returns nil if the link of the tier with a name never fails.
func newStorageFaults(p *setup.Plan, name string) engine.StorageFaults {
	if p.Failures == nil {
		return nil
	}
	f := &storageFaults{plan: p.Failures}
	for i := range p.Failures.List {
		x := &p.Failures.List[i]
		if x.Storage != name {
			continue
		}
		l := storageLine{of: x, next: vtime.Never}
		if x.MTBF > 0 {
			l.stream = vtime.NewStream(p.Config.Seed, "failure/"+strconv.Itoa(x.Line)+"/"+name)
			l.next = 0
		} else {
			to := vtime.Never
			if x.For > 0 {
				to = x.At.Add(x.For)
			}
			l.spans = []linkSpan{{x.At, to}}
		}
		f.lines = append(f.lines, l)
	}
	if len(f.lines) == 0 {
		return nil
	}
	return f
}

// draw draws spans until one begins at t or later.
func (l *storageLine) draw(t vtime.Time) {
	for l.next != vtime.Never && (len(l.spans) == 0 || l.spans[len(l.spans)-1].from < t) {
		from := l.next.Add(uptime(l.of, l.stream))
		l.next = from.Add(max(1, l.of.MTTR.Draw(l.stream)))
		l.spans = append(l.spans, linkSpan{from, l.next})
	}
}

// Share implements engine.StorageFaults.
func (f *storageFaults) Share(at vtime.Time) (share float64, down vtime.Time) {
	share, down = 1, vtime.Never
	for i := range f.lines {
		l := &f.lines[i]
		l.draw(at)
		k, _ := slices.BinarySearchFunc(l.spans, at, func(s linkSpan, at vtime.Time) int {
			if s.from < at {
				return -1
			}
			return 1
		}) // the first one that begins at at or later
		if k > 0 && at <= l.spans[k-1].to {
			share = multiply(share, l.of.Share)
		}
		if k < len(l.spans) && l.of.Share == 0 {
			down = min(down, l.spans[k].from)
		}
	}
	return share, down
}

// multiply is the share of two lines that hold.
func multiply(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(float64(a*b), setup.LeastShare)
}
