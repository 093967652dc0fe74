// Package kv is the KV cache of one instance: a pool of equal blocks, a
// prefix cache over them and the free list that decides what is evicted
// first. It has one tier, the GPU's.
//
// Two caches implement [Cache] and must agree on every number:
//
//   - [Pool] is the fast one. Content that nobody else can have is kept as a
//     count per sequence and costs per request, not per block; only named
//     content has an entry per block.
//   - [NaivePool] is its dumb twin: every block is an entry, every key is the
//     content itself, the free list is a slice. Tests and `blis verify` run
//     the engine over it.
//
// A [Sequence] is what a cache keeps of one request: its content, the blocks
// it holds and how many of them are keyed.
package kv
