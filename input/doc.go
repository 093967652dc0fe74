// Package input reads the files that a user names: plain files, pipes and
// devices alike, none longer than what it is for needs.
package input
