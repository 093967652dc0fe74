// Package stability says of a run that has ended whether its servers kept up with what arrived.
//
//	request.go    what is known of a request
//	verdict.go    the verdict on a run, from the requests in the system over time
//	detectors.go  the saturation detectors of the public simulator, event by event
//	composite.go  threshold.go  drift.go: one each
//
// Both describe one run. What a configuration can carry is what a capacity search finds.
package stability
