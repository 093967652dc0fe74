package engine

// orderedBy is a pointer to T that knows which of two comes first.
type orderedBy[T any] interface {
	*T
	before(*T) bool
}

// push adds x to the binary heap h, the first in front. container/heap would
// allocate for every element.
func push[T any, P orderedBy[T]](h []T, x T) []T {
	h = append(h, x)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !P(&x).before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = x
	return h
}

// pop removes the first element of the binary heap h, which is not empty.
func pop[T any, P orderedBy[T]](h []T) []T {
	n := len(h) - 1
	last := h[n]
	h = h[:n]
	if n == 0 {
		return h
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && P(&h[c+1]).before(&h[c]) {
			c++
		}
		if !P(&h[c]).before(&last) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = last
	return h
}
