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

// history is what a process executed.
type history struct {
	digest digest
	tracer *tracer // the marks that Config.Trace asks for; nil: none
	last   Stamp   // of the last message
}

// start begins the history of the process with an id.
func (h *history) start(t Trace, id ProcessID) {
	h.digest.reset()
	h.tracer = newTracer(t, id)
}

// mark adds the mark after the message that has just been digested, if one is
// asked for.
func (h *history) mark(s Stamp) {
	if h.tracer != nil {
		h.tracer.mark(h.digest.messages, s, &h.digest)
	}
}

// close adds the final state of the process and returns the hash of everything.
func (h *history) close(p Process) uint64 {
	if h.tracer != nil {
		h.tracer.finish(h.digest.messages, h.last, &h.digest)
	}
	if f, ok := p.(Folder); ok {
		h.digest.word(f.Fold())
	}
	return h.digest.sum()
}

// marks returns the marks.
func (h *history) marks() []Mark {
	if h.tracer == nil {
		return nil
	}
	return h.tracer.marks
}

// digest hashes executed messages as words of fixed width: At, Class, Source,
// Kind, fields. Seq and the division into frames are left out, because they
// belong to the protocol and not to the model.
type digest struct {
	hash     xxhash.Digest
	messages uint64
	fill     int // bytes in buf, a multiple of 8
	buf      [1024]byte
}

func (d *digest) reset() { d.hash.Reset() }

// word adds one word.
func (d *digest) word(w uint64) {
	if d.fill == len(d.buf) {
		d.flush()
	}
	binary.LittleEndian.PutUint64(d.buf[d.fill:], w)
	d.fill += 8
}

// flush hashes the words in buf.
func (d *digest) flush() {
	d.hash.Write(d.buf[:d.fill])
	d.fill = 0
}

// sum returns the hash of all words so far.
func (d *digest) sum() uint64 {
	d.flush()
	return d.hash.Sum64()
}

// message adds the message with head m, whose fields are in b, and returns where
// it ends. It runs for every field of every message, so it reserves room for all its
// words at once, and reads the short forms of integers without a call of readScalar.
func (d *digest) message(b []byte, m *message) (int, error) {
	d.messages++
	const head = 4
	if m.fields > len(d.buf)/8-head {
		return d.longMessage(b, m)
	}
	if d.fill > len(d.buf)-8*(head+m.fields) {
		d.flush()
	}
	put, at := d.buf[d.fill:d.fill+8*(head+m.fields)], 8*head
	binary.LittleEndian.PutUint64(put, uint64(m.stamp.At))
	binary.LittleEndian.PutUint64(put[8:], uint64(m.stamp.Class))
	binary.LittleEndian.PutUint64(put[16:], uint64(m.stamp.Source))
	binary.LittleEndian.PutUint64(put[24:], uint64(m.kind))
	pos := m.body
	for i := range m.fields {
		var word uint64
		switch left := len(b) - pos; {
		case left > 0 && b[pos] < 0x80:
			word = uint64(b[pos])
			pos++
		case left > 2 && b[pos] == 0xcd:
			word = uint64(binary.BigEndian.Uint16(b[pos+1:]))
			pos += 3
		case left > 4 && b[pos] == 0xce:
			word = uint64(binary.BigEndian.Uint32(b[pos+1:]))
			pos += 5
		default:
			var f form
			var next int
			if word, f, next = readScalar(b, pos); f >= octets {
				d.fill += at
				return d.fields(b, pos, m.fields-i)
			}
			pos = next
		}
		binary.LittleEndian.PutUint64(put[at:], word)
		at += 8
	}
	d.fill += at
	return pos, nil
}

// longMessage is message for one that may not fit buf.
func (d *digest) longMessage(b []byte, m *message) (int, error) {
	d.word(uint64(m.stamp.At))
	d.word(uint64(m.stamp.Class))
	d.word(uint64(m.stamp.Source))
	d.word(uint64(m.kind))
	return d.fields(b, m.body, m.fields)
}

// fields adds n fields from pos on, of any type, and returns where they end.
func (d *digest) fields(b []byte, pos, n int) (int, error) {
	for range n {
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

// octets adds a byte string in whole words; its length has been added.
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
