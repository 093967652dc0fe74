// Package search has no code: the examples for search programs are in Python, and its test runs them.
package search
