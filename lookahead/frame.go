package lookahead

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"blis/vtime"
)

// frame carries the messages of one sender to one receiver. A frame to a leaf or
// a control process has the messages of one turn; a frame to a sink may have
// messages of several turns. The bytes are msgpack:
//
//	[source, [message, message, …]]
//	message = [at, class, seq, kind, field, field, …]
//
//	92 ce ssssssss dd nnnnnnnn │ 9x at class seq kind fields │ 9x at …
//	└─── frameHeader bytes ──┘   └─ first message          ┘
//
// The number n of messages is known at the end: it has full width in the header,
// and finish patches it. After finish the messages are in the order of stamps.
type frame struct {
	buf   []byte
	count int // messages

	first, last Stamp // the earliest and the latest message, after finish
	sorted      bool  // messages were sent in the order of stamps
	effectAt    Key   // no message takes effect on other processes before it
	loud        Stamp // the latest message that is not silent, if isLoud
	isLoud      bool

	// The reader's position. A frame has one reader.
	position int     // of the next message in buf
	unread   int     // messages from position on
	head     message // the next message, if unread > 0
}

// message is the parsed head of one message within a frame.
type message struct {
	stamp  Stamp
	kind   Kind
	fields int // number of fields
	body   int // position of the first field
}

const (
	frameHeader = 11 // bytes: fixarray(2), uint32 source, array32 count
	countOffset = 7  // of the count in the header
)

// start empties the frame for messages of source.
func (f *frame) start(source ProcessID) {
	f.buf = append(f.buf[:0], 0x92, 0xce, 0, 0, 0, 0, 0xdd, 0, 0, 0, 0)
	binary.BigEndian.PutUint32(f.buf[2:], uint32(source))
	f.count, f.sorted, f.effectAt, f.isLoud = 0, true, NeverKey, false
}

// begin writes the head of a message; its fields follow.
func (f *frame) begin(s Stamp, kind Kind, fields int) {
	if f.count == 0 {
		f.first = s
	} else if s.Less(f.last) {
		f.sorted = false
	}
	if kind&Silent == 0 && (!f.isLoud || f.loud.Less(s)) {
		f.loud, f.isLoud = s, true
	}
	f.last = s
	f.count++
	b := appendArray(f.buf, 4+fields)
	b = appendInt(b, int64(s.At))
	b = appendUint(b, uint64(s.Class))
	b = appendUint(b, s.Seq)
	f.buf = appendUint(b, uint64(kind))
}

// unreadLoud returns the Key of the last message that is not silent, NeverKey if it has been read.
func (f *frame) unreadLoud() Key {
	if !f.isLoud || f.loud.Less(f.head.stamp) {
		return NeverKey
	}
	return f.loud.Key()
}

// sorter is scratch memory for frames with messages that were sent out of order.
type sorter struct {
	index []messageRange
	buf   []byte
}

// messageRange is the place of a message in a frame's bytes.
type messageRange struct {
	stamp      Stamp
	start, end int
}

// finish patches the count and sorts the messages.
func (f *frame) finish(scratch *sorter) error {
	binary.BigEndian.PutUint32(f.buf[countOffset:], uint32(f.count))
	if f.sorted {
		return nil
	}
	source, count, pos, err := parseFrame(f.buf)
	scratch.index = scratch.index[:0]
	for range count {
		if err != nil {
			return err
		}
		var m message
		start := pos
		if m, err = parseMessage(f.buf, pos, source); err == nil {
			pos, err = skipFields(f.buf, m.body, m.fields)
		}
		scratch.index = append(scratch.index, messageRange{m.stamp, start, pos})
	}
	if err != nil {
		return err
	}
	slices.SortFunc(scratch.index, func(a, b messageRange) int {
		if a.stamp.Less(b.stamp) {
			return -1
		}
		return 1
	})
	b := append(scratch.buf[:0], f.buf[:frameHeader]...)
	for _, e := range scratch.index {
		b = append(b, f.buf[e.start:e.end]...)
	}
	f.buf, scratch.buf = b, f.buf
	f.first, f.last, f.sorted = scratch.index[0].stamp, scratch.index[count-1].stamp, true
	return nil
}

// rewind moves the reader to the first message.
func (f *frame) rewind() error {
	source, count, pos, err := parseFrame(f.buf)
	if err != nil {
		return err
	}
	f.unread, f.position = count, pos
	if count == 0 {
		return nil
	}
	f.head, err = parseMessage(f.buf, pos, source)
	return err
}

// step moves the reader past the next message, which ends at end.
func (f *frame) step(end int) (err error) {
	f.unread--
	f.position = end
	if f.unread > 0 {
		f.head, err = parseMessage(f.buf, end, f.head.stamp.Source)
	}
	return err
}

// Errors of the wire format. Frames of this kernel never have them; bytes from
// elsewhere may.
var (
	errShort  = errors.New("lookahead: frame ends within a value")
	errForm   = errors.New("lookahead: value of an unexpected msgpack type")
	errRange  = errors.New("lookahead: value out of range")
	errFields = errors.New("lookahead: read past the last field")
)

// parseFrame reads a frame's header. The first message starts at pos.
func parseFrame(b []byte) (source uint32, count, pos int, err error) {
	n, pos, err := readArray(b, 0)
	if err != nil || n != 2 {
		return 0, 0, 0, orElse(err, errForm)
	}
	from, pos, err := readUint(b, pos)
	if err != nil || from > math.MaxUint32 {
		return 0, 0, 0, orElse(err, errRange)
	}
	if count, pos, err = readArray(b, pos); err != nil {
		return 0, 0, 0, err
	}
	// A message takes at least five bytes: refuse counts that cannot be true.
	if count > (len(b)-pos)/5 {
		return 0, 0, 0, errShort
	}
	return uint32(from), count, pos, nil
}

// parseMessage reads the head of the message at pos.
func parseMessage(b []byte, pos int, source uint32) (m message, err error) {
	n, pos, err := readArray(b, pos)
	if err != nil || n < 4 {
		return m, orElse(err, errForm)
	}
	var head [4]uint64
	for i := range head {
		if head[i], pos, err = readUint(b, pos); err != nil {
			return m, err
		}
	}
	if head[0] > math.MaxInt64 || head[1] > math.MaxUint8 || head[3] > math.MaxUint16 {
		return m, errRange
	}
	return message{
		stamp:  Stamp{At: vtime.Time(head[0]), Class: uint8(head[1]), Source: source, Seq: head[2]},
		kind:   Kind(head[3]),
		fields: n - 4,
		body:   pos,
	}, nil
}

// skipFields returns the position after n fields from pos on.
func skipFields(b []byte, pos, n int) (int, error) {
	for range n {
		word, f, next := readScalar(b, pos)
		if f > octets {
			return pos, f.err()
		}
		if pos = next; f == octets {
			pos += int(word)
		}
	}
	return pos, nil
}

// orElse returns err, or other if err is nil.
func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
