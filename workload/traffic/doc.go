// Package traffic generates requests: clients that send them at random times,
// with random lengths, one by one or in sessions.
//
//	config.go     Config, Client, Session: the clients and their requests
//	check.go      legal values of a Config
//	source.go     Source: all clients as one source, in order of arrival
//	queue.go      the requests to come, in that order
//	client.go     one client: arrivals, single requests, prefixes, prompts in bursts
//	session.go    sessions, drawn when they begin
//	send.go       the prompts of conversations, whose context grows
//	graph.go      the prompts of graphs
//	loop.go       requests that follow from answers; users of a closed loop
//	synthetic.go  one client, as the workload flags of a run describe it
//
// Nothing here grows with the number of requests: a source holds its clients and
// the sessions that are going on.
package traffic
