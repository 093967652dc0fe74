// Package confine carries out a piece of work in a process of its own that can take no
// more time and memory than it may, and harm nothing outside. The program of the child is usually
// that of the parent, with another command.
//
//	child.go       Child: a process that waits for its work, and how it ended
//	lower.go       Lower: the child lowers its own limits before it reads what it does not trust
//	isolate_linux.go, isolate_other.go
//	               a process group of its own, which dies with the parent; the limit on
//	               memory: RLIMIT_DATA on Linux, elsewhere the parent watches
//
// Not RLIMIT_AS: a program in Go that does nothing has more than a GB of address space.
package confine
