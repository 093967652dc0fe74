package engine

// orderedBy is a pointer to T that knows which of two comes first.
type orderedBy[T any] interface {
	*T
	before(*T) bool
}

// push adds x to the binary heap h, the first in front. container/heap would
// allocate for every element, and so would an address of x: elements are
// compared where they lie.
func push[T any, P orderedBy[T]](h []T, x T) []T {
	h = append(h, x)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !P(&h[i]).before(&h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	return h
}

// pop removes the first element of the binary heap h, which is not empty.
func pop[T any, P orderedBy[T]](h []T) []T {
	n := len(h) - 1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			return h
		}
		if c+1 < n && P(&h[c+1]).before(&h[c]) {
			c++
		}
		if !P(&h[c]).before(&h[i]) {
			return h
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}
