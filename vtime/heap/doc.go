// Package heap keeps a slice as a binary heap: the element that comes first is
// at index 0. It allocates nothing but what append does, and compares elements
// where they lie, unlike container/heap, which allocates for every element.
//
//	         [0]            each element comes before
//	   [1]         [2]      the two below it:
//	[3]   [4]   [5]   [6]   i before 2i+1 and 2i+2
//
// Elements of which neither comes before the other leave in any order: a type
// whose order must not depend on the history of the heap has to break ties.
package heap
