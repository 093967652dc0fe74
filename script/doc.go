// Package script makes policies of programs in Starlark, a small dialect of Python,
// and of decision trees. A policy sees the instances as columns, vectors with an entry
// per instance, so that a decision takes a dozen operations and no loop.
//
// Importing the package registers the templates starlark and tree of package policy.
// Commands do so; a program of your own writes
//
//	import _ "blis/script"
//
// A program reads nothing but its arguments, keeps nothing but its state, and ends
// after a number of steps. What it computes are the same bits on every machine. Its
// memory is not bounded: run programs of strangers in a process of their own.
//
//	program.go     a file is parsed, its names are checked, and the signals that it reads
//	               are found; kinds.go which policies it has; remedies.go what to write in place of Python
//	machine.go     one program of one policy that runs: steps, errors, memory of vectors
//	error.go       what a program does wrong, and where
//	vec.go         vectors; functions.go, reduce.go functions of them
//	builtins.go    the other functions; state.go what a policy remembers
//	columns.go     what is known of instances; instances.go as arguments
//	request.go     a request as an argument; cluster.go what the router counts
//	hints.go       the priority policy, and what it gives besides a number
//	routing.go, admission.go, scheduling.go, autoscale.go
//	               the policies
//	tree.go        decision trees, which become programs
//	register.go    the templates
package script
