// Package traffic generates requests: clients that send them at random times,
// with random lengths.
//
//	synthetic.go  Synthetic: one client that sends independent requests
package traffic
