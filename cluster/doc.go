// Package cluster has the points of a sweep run on many machines. It moves points and
// rows; what a point is, its callers know.
//
// A coordinator publishes points on a NATS server with JetStream, workers fetch them, run
// them and publish rows, and the coordinator keeps the rows in its folder. The server only
// carries: all that it has may be lost at any time. Every point ends in exactly one row,
// whatever is killed, as long as the coordinator's disk keeps what was synced to it and
// some worker lives. A point may run more than once.
//
//	coordinator.go  Serve: what a coordinator knows, and which rows it keeps
//	session.go      its work while a server stays what it was
//	checks.go       points that run on two workers, to find machines that compute something else
//	status.go       answers to workers, and Status
//	worker.go       Worker: asking for a job, again whenever the server was away
//	shift.go        its work on a job: the points that are here
//	points.go       fetching points, publishing rows
//	child.go        points that may have killed workers run in a process of their own
//	inputs.go       the files that points read: the object store, and the cache of a worker
//	server.go       Server: the NATS server inside the coordinator, and what workers may do there
//	connect.go      Remote: a server in another process
//	credentials.go  keys, which only their owner can read
//	messages.go     what is sent; names.go streams and subjects
//	engine.go       Engine: what has to be equal on all machines
package cluster
