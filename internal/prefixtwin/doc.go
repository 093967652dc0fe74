// Package prefixtwin is the dumb twin of package prefixindex, for its tests and for
// the tests of policies that read it: an LRU list of blocks per instance, and prompts
// that share content.
package prefixtwin
