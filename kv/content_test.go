package kv

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"blis/workload"
)

// prompt is what a request is opened with.
type prompt struct {
	id     uint64
	spans  []workload.Span
	tail   int32 // tokens of the prompt after the spans
	output workload.ContentID
}

func (p *prompt) input() int32 {
	n := p.tail
	for _, s := range p.spans {
		n += s.Length
	}
	return n
}

func (p *prompt) open(blockSize int32) *Sequence {
	s := &Sequence{}
	s.Open(p.id, p.input(), p.spans, p.output, blockSize, true)
	return s
}

// key is the key of block i of s.
func key(s *Sequence, i int32) uint64 { return naive(s).key(&s.content, i) }

// tokens is the naive twin: the first n tokens one by one, named ones as
// content/offset, the request's own as #request/position.
func (p *prompt) tokens(n int) []string {
	var list []string
	for _, s := range p.spans {
		for k := range s.Length {
			list = append(list, fmt.Sprintf("%d/%d", s.Content, k))
		}
	}
	for generated := 0; len(list) < n; {
		if p.tail == 0 && p.output != 0 {
			list = append(list, fmt.Sprintf("%d/%d", p.output, generated))
			generated++
		} else {
			list = append(list, fmt.Sprintf("#%d/%d", p.id, len(list)))
		}
	}
	return list[:n]
}

// drawPrompt draws from few contents and few requests, numbered alike, so that
// many prompts share a beginning and own content could be taken for named.
func drawPrompt(pick func(int) int) prompt {
	p := prompt{id: uint64(pick(4)), output: workload.ContentID(pick(3))}
	for range pick(4) {
		p.spans = append(p.spans, workload.Span{Content: workload.ContentID(1 + pick(2)), Length: int32(1 + pick(9))})
	}
	if len(p.spans) == 0 || pick(2) == 0 {
		p.tail = int32(1 + pick(7))
	}
	return p
}

// book holds both directions of "equal keys ⇔ equal tokens" over all blocks
// entered into it.
type book struct {
	keyOf    map[string]uint64
	tokensOf map[uint64]string
	shared   int // blocks that were there before, under another request
}

func newBook() *book { return &book{map[string]uint64{}, map[uint64]string{}, 0} }

func (b *book) enter(p *prompt, blockSize int32, last int32) error {
	s := p.open(blockSize)
	tokens := p.tokens(int((last + 1) * blockSize))
	key(s, last) // the order in which keys are asked for must not matter
	for i := range last + 1 {
		list, key := strings.Join(tokens[:(i+1)*blockSize], " "), key(s, i)
		if old, ok := b.keyOf[list]; ok && old != key {
			return fmt.Errorf("block %d of %+v has key %x, the same tokens had %x", i, p, key, old)
		} else if ok {
			b.shared++
		}
		if old, ok := b.tokensOf[key]; ok && old != list {
			return fmt.Errorf("block %d of %+v has the key %x of other tokens:\n%s\n%s", i, p, key, list, old)
		}
		b.keyOf[list], b.tokensOf[key] = key, list
	}
	return nil
}

func TestKeysAreEqualExactlyWhenTokenListsAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		size, b := int32(1+pick(8)), newBook()
		for range 6 {
			p := drawPrompt(pick)
			if err := b.enter(&p, size, int32(pick(8))); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestKeysAreEqualExactlyWhenTokenListsAreOverManyPrompts(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for size := int32(1); size <= 16; size++ {
		b := newBook()
		for range 400 {
			p := drawPrompt(r.IntN)
			if err := b.enter(&p, size, int32(r.IntN(6))); err != nil {
				t.Fatalf("seed %d, block size %d: %v", seed, size, err)
			}
		}
		t.Logf("seed %d, block size %2d: %d different blocks, %d shared", seed, size, len(b.keyOf), b.shared)
		if b.shared < 50 || len(b.keyOf) < 50 {
			t.Errorf("seed %d, block size %d: %d different and %d shared blocks are too few to test anything", seed, size, len(b.keyOf), b.shared)
		}
	}
}

func TestSameLastTokensAfterDifferentPrefixesHaveDifferentKeys(t *testing.T) {
	const size = 16
	seen := map[uint64]int{}
	for i := range 100 {
		p := prompt{spans: []workload.Span{{Content: workload.ContentID(10 + i), Length: size}, {Content: 1, Length: size}}}
		if i == 0 {
			p.spans = p.spans[1:] // no prefix at all
		}
		key := key(p.open(size), int32(len(p.spans)-1))
		if other, ok := seen[key]; ok {
			t.Errorf("prefixes %d and %d give one key", other, i)
		}
		seen[key] = i
	}
}

// The router's index and the cache must speak of the same blocks.
func TestKeysAreThoseOfTheWorkload(t *testing.T) {
	p := prompt{id: 7, spans: []workload.Span{{Content: 1, Length: 37}, {Content: 2, Length: 40}}, tail: 30}
	s := p.open(16)
	keys := workload.AppendKeys(nil, p.spans, 16, 100)
	if len(keys) != 77/16 {
		t.Fatalf("%d keys", len(keys))
	}
	for i, want := range keys {
		if got := key(s, int32(i)); got != want {
			t.Errorf("block %d: key %x in the cache, %x in the workload", i, got, want)
		}
	}
}

func TestOpenAgainForgetsTheOldContent(t *testing.T) {
	a := prompt{id: 1, spans: []workload.Span{{Content: 1, Length: 21}}, output: 3}
	b := prompt{id: 2, spans: []workload.Span{{Content: 2, Length: 5}}, tail: 9}
	s := &Sequence{}
	s.Open(a.id, a.input(), a.spans, a.output, 4, true)
	key(s, 9)
	s.Open(b.id, b.input(), b.spans, b.output, 4, true)
	if got, want := key(s, 5), key(b.open(4), 5); got != want {
		t.Errorf("key %x, of a new sequence %x", got, want)
	}
}
