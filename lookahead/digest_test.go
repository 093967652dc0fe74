package lookahead

import (
	"errors"
	"math/rand/v2"
	"testing"

	"blis/vtime"
)

// A message is hashed as one whose words come one at a time: fields of all types and
// widths, more fields than the buffer has words, ends of the buffer anywhere, bytes
// that are cut short.
func TestDigestOfMessages(t *testing.T) {
	const seed = 20261129
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		var fast, slow digest
		fast.reset()
		slow.reset()
		for range 1 + r.IntN(40) {
			m := message{stamp: Stamp{At: vtime.Time(r.Int64()), Class: uint8(r.IntN(13)), Source: r.Uint32()}, kind: Kind(r.IntN(20)), body: r.IntN(3)}
			if m.fields = r.IntN(30); r.IntN(8) == 0 {
				m.fields = r.IntN(300)
			}
			b := make([]byte, m.body)
			for range m.fields {
				b = appendRandomField(b, r)
			}
			if r.IntN(10) == 0 {
				b = b[:m.body+r.IntN(1+len(b)-m.body)]
			}
			pos, err := fast.message(b, &m)
			slow.messages++
			wantPos, wantErr := slow.longMessage(b, &m)
			if pos != wantPos || !errors.Is(err, wantErr) {
				t.Fatalf("%d fields in %x: end at %d, %v; word by word %d, %v", m.fields, b, pos, err, wantPos, wantErr)
			}
			if err != nil {
				break
			}
		}
		if got, want := fast.sum(), slow.sum(); got != want || fast.messages != slow.messages {
			t.Fatalf("hash %x of %d messages, word by word %x of %d", got, fast.messages, want, slow.messages)
		}
	}
}

// appendRandomField appends a field as a process may write it, or in a wider form.
func appendRandomField(b []byte, r *rand.Rand) []byte {
	switch r.IntN(12) {
	case 0:
		return appendFloat(b, r.NormFloat64())
	case 1:
		return appendBytes(b, make([]byte, r.IntN(20)))
	case 2:
		return append(b, 0xcd, 0, byte(r.IntN(256))) // 16 bits for what needs 8
	case 3:
		return appendUint(b, r.Uint64())
	}
	return appendInt(b, r.Int64()>>r.IntN(64))
}
