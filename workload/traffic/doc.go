// Package traffic generates requests: clients that send them at random times,
// with random lengths, one by one or in sessions.
//
//	config.go     Config, Client, Session: what there is to send
//	check.go      what of it is legal
//	source.go     Source: all clients as one source, in order of arrival
//	queue.go      the order
//	client.go     one client: arrivals, single requests, prefixes
//	session.go    sessions: how they are drawn
//	burst.go      prompts that are larger in bursts
//	send.go       the prompts of conversations, whose context grows
//	graph.go      the prompts of graphs
//	loop.go       what follows from answers; users of a closed loop
//	synthetic.go, normal.go   one client, as the flags of a run say it
//
// Nothing here grows with the number of requests: a source holds its clients and
// the sessions that are going on.
package traffic
