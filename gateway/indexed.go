package gateway

// indexed is a binary heap whose elements know their places, so that one in the middle can be removed
// or moved.
type indexed[T any] struct {
	list   []T
	before func(a, b T) bool
	moved  func(x T, to int) // x is at index to; −1: no more in the heap
}

// push adds x.
func (h *indexed[T]) push(x T) {
	h.list = append(h.list, x)
	h.up(len(h.list)-1, x)
}

// remove removes the element at index i.
func (h *indexed[T]) remove(i int) {
	x, n := h.list[i], len(h.list)-1
	last := h.list[n]
	var none T
	h.list[n] = none
	h.list = h.list[:n]
	if i < n {
		h.place(i, last)
	}
	h.moved(x, -1)
}

// fix moves the element at index i to where it belongs after a change of its order.
func (h *indexed[T]) fix(i int) { h.place(i, h.list[i]) }

// place puts x at index i, or where it belongs from there.
func (h *indexed[T]) place(i int, x T) {
	if i > 0 && h.before(x, h.list[(i-1)/2]) {
		h.up(i, x)
		return
	}
	for {
		c := 2*i + 1
		if c >= len(h.list) {
			break
		}
		if c+1 < len(h.list) && h.before(h.list[c+1], h.list[c]) {
			c++
		}
		if !h.before(h.list[c], x) {
			break
		}
		h.list[i] = h.list[c]
		h.moved(h.list[i], i)
		i = c
	}
	h.list[i] = x
	h.moved(x, i)
}

// up puts x at index i, or above it.
func (h *indexed[T]) up(i int, x T) {
	for i > 0 {
		above := (i - 1) / 2
		if !h.before(x, h.list[above]) {
			break
		}
		h.list[i] = h.list[above]
		h.moved(h.list[i], i)
		i = above
	}
	h.list[i] = x
	h.moved(x, i)
}
