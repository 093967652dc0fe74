// Package chromecheck checks Chrome traces for tests: members that events of each phase must have, their
// order, that slices of a thread do not overlap, that asynchronous events nest and balance, and that
// flows have both ends, within slices.
package chromecheck
