// Package prefixindex keeps what a router expects each instance to have in its prefix
// cache. Policies read it; they do not change it.
//
//	prefixindex.go  the index of all instances, with a picture and an example
//	mirror.go       an index that follows the events of the instances:
//	  holdings.go     which places have which keys in one medium
//	routed.go       an index that follows where requests went:
//	segments.go       which places hold how many blocks of each content
//	orders.go         which blocks each place loses first
//	sets.go         sets of places
//
// A prompt is a number of tokens and the spans that it begins with (workload.Span);
// what follows the spans belongs to this one request. An index has no clock and no
// randomness.
package prefixindex
