package lookahead

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// ProcessDigest is what one process executed, as a hash: equal digests of all
// processes mean equal runs.
type ProcessDigest struct {
	Name     string
	ID       ProcessID
	Hash     uint64
	Messages uint64
}

// digest folds executed messages as words of fixed width: At, Class, Source,
// Kind, fields. Seq and the frames are left out, they belong to the protocol.
type digest struct {
	hash     xxhash.Digest
	messages uint64
	fill     int
	buf      [1024]byte
}

func (d *digest) reset() { d.hash.Reset() }

func (d *digest) word(w uint64) {
	if d.fill == len(d.buf) {
		d.flush()
	}
	binary.LittleEndian.PutUint64(d.buf[d.fill:], w)
	d.fill += 8
}

func (d *digest) flush() {
	d.hash.Write(d.buf[:d.fill])
	d.fill = 0
}

// sum is the rolling hash so far.
func (d *digest) sum() uint64 {
	d.flush()
	return d.hash.Sum64()
}

// message folds the message m of b and returns where it ends.
func (d *digest) message(b []byte, m *message) (int, error) {
	d.messages++
	d.word(uint64(m.stamp.At))
	d.word(uint64(m.stamp.Class))
	d.word(uint64(m.stamp.Source))
	d.word(uint64(m.kind))
	pos := m.body
	for range m.fields {
		word, f, next := readScalar(b, pos)
		if f > octets {
			return pos, f.err()
		}
		d.word(word)
		if pos = next; f == octets {
			pos += int(word)
			d.octets(b[next:pos])
		}
	}
	return pos, nil
}

// octets folds a byte string, after its length, in whole words.
func (d *digest) octets(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		d.word(binary.LittleEndian.Uint64(b))
	}
	if len(b) > 0 {
		var tail [8]byte
		copy(tail[:], b)
		d.word(binary.LittleEndian.Uint64(tail[:]))
	}
}
