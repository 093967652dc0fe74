// Package cputime measures how much processor time a piece of work takes, for
// tests that bound it. Time on the clock says little: the machine may be busy
// with something else.
package cputime
