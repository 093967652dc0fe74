// Package sweepfile is sweeps as files: what a person writes of one, and the folder in
// which it keeps its rows.
//
//	read.go    Read: a sweep file, or the lock of a folder, as a study.Sweep
//	axis.go    the values on an axis; span.go those between two numbers
//	lock.go    Lock: a plan as a sweep file that depends on no other file
//	folder.go  Folder: the lock and the rows of a sweep that runs
//
// docs/sweeps.md describes the form.
package sweepfile
