package workload

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"
)

// token is what the twin works with: one token of a sequence, by itself.
type token struct {
	content ContentID
	private bool
	offset  int32
}

func tokensOf(pieces []Piece) (list []token) {
	for _, p := range pieces {
		for k := range p.Length {
			list = append(list, token{p.Content, p.Private, p.Offset + k})
		}
	}
	return list
}

// cut cuts pieces at random places into more of them: the same tokens.
func cut(t *rapid.T, pieces []Piece) (out []Piece) {
	for _, p := range pieces {
		for p.Length > 1 && rapid.Bool().Draw(t, "cut") {
			n := rapid.Int32Range(1, p.Length-1).Draw(t, "at")
			out = append(out, Piece{p.Content, p.Offset, n, p.Private})
			p.Offset += n
			p.Length -= n
		}
		out = append(out, p)
	}
	return out
}

func drawPieces(t *rapid.T) []Piece {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Piece {
		return Piece{
			Content: ContentID(rapid.IntRange(1, 2).Draw(t, "content")),
			Offset:  rapid.SampledFrom([]int32{0, 0, 0, 4, 8}).Draw(t, "offset"),
			Length:  rapid.Int32Range(1, 12).Draw(t, "length"),
			Private: rapid.SampledFrom([]bool{false, false, true}).Draw(t, "private"),
		}
	}), 0, 6).Draw(t, "pieces")
}

// TestKeysAreEqualExactlyWhenTokensAre compares two sequences, which often
// share a beginning, block by block with their token lists.
func TestKeysAreEqualExactlyWhenTokensAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int32{1, 3, 4, 8}).Draw(t, "block size")
		a, b := drawPieces(t), drawPieces(t)
		if len(a) > 0 && rapid.Bool().Draw(t, "share") {
			b = append(slices.Clone(a[:rapid.IntRange(0, len(a)).Draw(t, "shared")]), b...)
		}
		keys := func(pieces []Piece) (list []uint64) {
			chain := NewChain(size, RootKey)
			for _, p := range cut(t, pieces) {
				list = chain.Append(list, p)
			}
			return list
		}
		x, y, u, v := keys(a), keys(b), tokensOf(a), tokensOf(b)
		if len(x) != len(u)/int(size) || len(y) != len(v)/int(size) {
			t.Fatalf("%d and %d keys for %d and %d tokens", len(x), len(y), len(u), len(v))
		}
		for i := range min(len(x), len(y)) {
			end := (i + 1) * int(size)
			if equal := slices.Equal(u[:end], v[:end]); equal != (x[i] == y[i]) {
				t.Fatalf("block %d: tokens equal: %v, keys equal: %v\n%v\n%v", i, equal, x[i] == y[i], a, b)
			}
		}
	})
}

func TestChainBlockKeyAndAppendKeysAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int32{1, 3, 4, 16}).Draw(t, "block size")
		var spans []Span
		chain, want := NewChain(size, RootKey), []uint64(nil)
		var all []Piece
		for _, p := range drawPieces(t) {
			spans = append(spans, Span{p.Content, p.Length})
			p.Offset, p.Private = 0, false
			all = append(all, p)
			want = chain.Append(want, p)
		}
		limit := rapid.IntRange(-1, len(want)+1).Draw(t, "blocks")
		got := AppendKeys([]uint64{7}, spans, size, limit)
		if expect := append([]uint64{7}, want[:max(0, min(limit, len(want)))]...); !slices.Equal(got, expect) {
			t.Fatalf("AppendKeys = %x, want %x", got, expect)
		}
		// One block by itself, token by token, after any other.
		list, previous := tokensOf(all), RootKey
		for i, key := range want {
			var pieces []Piece
			for _, k := range list[i*int(size) : (i+1)*int(size)] {
				pieces = append(pieces, Piece{k.content, k.offset, 1, k.private})
			}
			if got := BlockKey(previous, pieces...); got != key {
				t.Fatalf("BlockKey of block %d = %x, want %x", i, got, key)
			}
			fork := NewChain(size, previous)
			if got := fork.Append(nil, pieces[0]); len(got) > 0 && got[0] != key {
				t.Fatalf("a chain resumed before block %d goes another way", i)
			}
			previous = key
		}
	})
}

func TestPrivateContentIsNoContinuationOfNamedContent(t *testing.T) {
	named, private := Piece{Content: 1, Length: 8}, Piece{Content: 1, Offset: 8, Length: 8, Private: true}
	other := private
	other.Private = false
	if BlockKey(RootKey, named, private) == BlockKey(RootKey, named, other) {
		t.Error("the request's own tokens have the key of named ones")
	}
	chain := NewChain(16, RootKey)
	keys := chain.Append(chain.Append(nil, named), private)
	if len(keys) != 1 || keys[0] != BlockKey(RootKey, named, private) {
		t.Errorf("the chain has %x", keys)
	}
}

func TestKeysDoNotAllocate(t *testing.T) {
	spans := []Span{{1, 500}, {2, 300}, {3, 7}, {4, 1000}}
	dst := make([]uint64, 0, 200)
	if n := testing.AllocsPerRun(100, func() { dst = AppendKeys(dst[:0], spans, 16, 1000) }); n != 0 || len(dst) != 1807/16 {
		t.Errorf("%v allocations, %d keys", n, len(dst))
	}
	if n := testing.AllocsPerRun(100, func() {
		dst = append(dst[:0], BlockKey(5, Piece{Content: 1, Length: 9}, Piece{Content: 2, Length: 7}))
	}); n != 0 {
		t.Errorf("BlockKey: %v allocations", n)
	}
}

// The written-out form of the first key, so that it cannot change unseen.
func TestKeyIsTheHashOfPreviousContentOffsetLength(t *testing.T) {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[8:], 77)
	binary.LittleEndian.PutUint64(b[16:], 16<<32)
	got := AppendKeys(nil, []Span{{77, 32}}, 16, 9)
	if len(got) != 2 || got[0] != xxhash.Sum64(b[:]) {
		t.Errorf("keys %x", got)
	}
	binary.LittleEndian.PutUint64(b[0:], got[0])
	binary.LittleEndian.PutUint64(b[16:], 16<<32|16)
	if got[1] != xxhash.Sum64(b[:]) {
		t.Errorf("keys %x", got)
	}
}

func TestNamedContentIsNeverZeroAndDiffers(t *testing.T) {
	if a, b := NamedContent(""), NamedContent("a"); a == 0 || b == 0 || a == b || a>>63 != 1 {
		t.Errorf("%x %x", a, b)
	}
}
