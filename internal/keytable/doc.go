// Package keytable is a hash table of numbers: from keys, which are hashes or packed
// pairs, to indices of an array. It is for arrays whose entries come and go all the
// time.
package keytable
