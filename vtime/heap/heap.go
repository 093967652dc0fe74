package heap

// Ordered is a pointer to T that knows which of two elements comes first.
type Ordered[T any] interface {
	*T
	// Before reports whether the element comes before the other one.
	Before(*T) bool
}

// Init makes a heap of the elements of h, in place.
func Init[T any, P Ordered[T]](h []T) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		for at := i; ; {
			c := 2*at + 1
			if c >= len(h) {
				break
			}
			if c+1 < len(h) && P(&h[c+1]).Before(&h[c]) {
				c++
			}
			if !P(&h[c]).Before(&h[at]) {
				break
			}
			h[at], h[c] = h[c], h[at]
			at = c
		}
	}
}

// Push adds x to h. It writes two places behind the end of h: a caller must not read
// there what it pushes next.
func Push[T any, P Ordered[T]](h []T, x T) []T {
	// The second copy is what is compared: where x goes is known at the end, and
	// the address of a variable would make it an allocation.
	n := len(h)
	h = append(h, x, x)
	i := n
	for i > 0 {
		up := (i - 1) / 2
		if !P(&h[n+1]).Before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = h[n+1]
	return h[:n+1]
}

// Pop removes the first element of h, which is not empty. What lay at the end
// of h stays in its array.
func Pop[T any, P Ordered[T]](h []T) []T {
	n := len(h) - 1
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && P(&h[c+1]).Before(&h[c]) {
			c++
		}
		if !P(&h[c]).Before(&h[n]) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = h[n]
	return h[:n]
}

// ReplaceFirst replaces the first element of h, which is not empty, by x.
func ReplaceFirst[T any, P Ordered[T]](h []T, x T) []T {
	return Pop[T, P](append(h, x))
}
