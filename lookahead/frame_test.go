package lookahead

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"blis/vtime"
)

// fieldsOf makes n fields of all kinds and widths, as the library would
// decode them loosely.
func randomFields(r *rand.Rand, n int) []any {
	fields := make([]any, n)
	for i := range fields {
		switch v := r.Uint64() >> r.IntN(64); r.IntN(4) {
		case 0:
			fields[i] = v
		case 1:
			fields[i] = -int64(v>>1) - 1
		case 2:
			fields[i] = math.Float64frombits(r.Uint64() &^ (1 << 62)) // never NaN
		case 3:
			fields[i] = bytes.Repeat([]byte{byte(v)}, int(v%70000)>>r.IntN(17))
		}
	}
	return fields
}

func write(o *Outbox, fields []any) {
	for _, v := range fields {
		switch v := v.(type) {
		case uint64:
			o.Uint(v)
		case int64:
			o.Int(v)
		case float64:
			o.Float(v)
		case []byte:
			o.Bytes(v)
		}
	}
}

func read(d *Decoder, like []any) []any {
	var got []any
	for _, v := range like {
		switch v.(type) {
		case uint64:
			got = append(got, d.Uint())
		case int64:
			got = append(got, d.Int())
		case float64:
			got = append(got, d.Float())
		case []byte:
			got = append(got, slices.Clone(d.Bytes()))
		}
	}
	return got
}

func same(a, b []any) bool {
	return slices.EqualFunc(a, b, func(x, y any) bool {
		p, ok := x.([]byte)
		q, too := y.([]byte)
		if ok || too {
			return ok && too && bytes.Equal(p, q)
		}
		return x == y
	})
}

type sample struct {
	stamp  Stamp
	kind   Kind
	fields []any
}

// randomFrame writes a frame of messages in random order. It returns the samples in
// the order of their stamps.
func randomFrame(r *rand.Rand, source ProcessID) (*frame, []sample) {
	f := &frame{}
	f.start(source)
	var list []sample
	for seq := range 1 + r.IntN(20) {
		m := sample{
			stamp:  Stamp{At: vtime.Time(r.Uint64() >> (1 + r.IntN(63))), Class: uint8(r.IntN(256)), Source: uint32(source), Seq: uint64(seq + 1)},
			kind:   Kind(r.IntN(1 << 16)),
			fields: randomFields(r, r.IntN(20)),
		}
		f.begin(m.stamp, m.kind, len(m.fields))
		o := &Outbox{current: f}
		write(o, m.fields)
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b sample) int {
		if a.stamp.Less(b.stamp) {
			return -1
		}
		return 1
	})
	return f, list
}

// The msgpack library must read what we write.
func TestLibraryReadsFrames(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		source := ProcessID(r.Uint32())
		f, want := randomFrame(r, source)
		if err := f.finish(&sorter{}); err != nil {
			t.Fatal(err)
		}
		d := msgpack.NewDecoder(bytes.NewReader(f.buf))
		must := func(v any, err error) any {
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		must(d.DecodeArrayLen())
		if got := must(d.DecodeUint32()); got != uint32(source) {
			t.Fatalf("source %v, want %d", got, source)
		}
		if n := must(d.DecodeArrayLen()); n != len(want) {
			t.Fatalf("%v messages, want %d", n, len(want))
		}
		for _, m := range want {
			if n := must(d.DecodeArrayLen()); n != 4+len(m.fields) {
				t.Fatalf("array of %v", n)
			}
			head := []any{must(d.DecodeInt64()), must(d.DecodeUint8()), must(d.DecodeUint64()), must(d.DecodeUint16())}
			if !slices.Equal(head, []any{int64(m.stamp.At), m.stamp.Class, m.stamp.Seq, uint16(m.kind)}) {
				t.Fatalf("head %v of %v", head, m.stamp)
			}
			for _, v := range m.fields {
				var got any
				switch v.(type) {
				case uint64:
					got = must(d.DecodeUint64())
				case int64:
					got = must(d.DecodeInt64())
				case float64:
					got = must(d.DecodeFloat64())
				case []byte:
					got = must(d.DecodeBytes())
				}
				if !same([]any{got}, []any{v}) {
					t.Fatalf("field %v, want %v", got, v)
				}
			}
		}
		if _, err := d.DecodeInterface(); err != io.EOF {
			t.Fatal("bytes are left")
		}
	}
}

// We must read what the msgpack library writes, in all of its forms.
func TestFramesReadLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		source := ProcessID(r.Uint32())
		_, want := randomFrame(r, source)
		messages := make([]any, len(want))
		for i, m := range want {
			messages[i] = append([]any{int64(m.stamp.At), m.stamp.Class, m.stamp.Seq, uint16(m.kind)}, m.fields...)
		}
		var buf bytes.Buffer
		e := msgpack.NewEncoder(&buf)
		e.UseCompactInts(r.IntN(2) == 0)
		if err := e.Encode([]any{uint32(source), messages}); err != nil {
			t.Fatal(err)
		}
		f := &frame{buf: buf.Bytes()}
		if err := f.rewind(); err != nil {
			t.Fatal(err)
		}
		for i, m := range want {
			if f.head.stamp != m.stamp || f.head.kind != m.kind || f.head.fields != len(m.fields) || f.unread != len(want)-i {
				t.Fatalf("head %+v of %v", f.head, m)
			}
			end, err := skipFields(f.buf, f.head.body, f.head.fields)
			if err != nil {
				t.Fatal(err)
			}
			d := Decoder{buf: f.buf[:end], pos: f.head.body, left: f.head.fields}
			if got := read(&d, m.fields); !same(got, m.fields) || d.Err() != nil || d.Left() != 0 {
				t.Fatalf("fields %v, %v; want %v", got, d.Err(), m.fields)
			}
			if err := f.step(end); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The digest must not depend on how the messages came, only on what they say.
func TestDigestIgnoresTheForm(t *testing.T) {
	sum := func(b []byte) uint64 {
		f := &frame{buf: b}
		if err := f.rewind(); err != nil {
			t.Fatal(err)
		}
		d := &digest{}
		d.reset()
		if _, err := d.message(f.buf, &f.head); err != nil {
			t.Fatal(err)
		}
		return d.sum()
	}
	short := sum([]byte{0x92, 7, 0x91, 0x96, 9, 3, 1, 2, 5, 0xff})
	long := sum([]byte{0x92, 7, 0x91, 0x96, 9, 3, 99, 2, 0xcd, 0, 5, 0xd3, 255, 255, 255, 255, 255, 255, 255, 255})
	if short != long {
		t.Error("two forms of one message, and another Seq, give two digests")
	}
	for i, other := range [][]byte{
		{0x92, 8, 0x91, 0x96, 9, 3, 1, 2, 5, 0xff}, {0x92, 7, 0x91, 0x96, 8, 3, 1, 2, 5, 0xff}, {0x92, 7, 0x91, 0x96, 9, 4, 1, 2, 5, 0xff},
		{0x92, 7, 0x91, 0x96, 9, 3, 1, 3, 5, 0xff}, {0x92, 7, 0x91, 0x96, 9, 3, 1, 2, 6, 0xff}, {0x92, 7, 0x91, 0x96, 9, 3, 1, 2, 5, 0xfe},
	} {
		if sum(other) == short {
			t.Errorf("change %d is not in the digest", i)
		}
	}
}

func TestDecoderReportsTheFirstError(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		left  int
		read  func(*Decoder)
		want  error
	}{
		"none left":         {[]byte{1}, 0, func(d *Decoder) { d.Int() }, errFields},
		"cut":               {[]byte{0xcd, 1}, 1, func(d *Decoder) { d.Int() }, errShort},
		"empty":             {nil, 1, func(d *Decoder) { d.Float() }, errShort},
		"negative":          {[]byte{0xff}, 1, func(d *Decoder) { d.Uint() }, errRange},
		"too large":         {[]byte{0xcf, 255, 0, 0, 0, 0, 0, 0, 0}, 1, func(d *Decoder) { d.Int() }, errRange},
		"float for int":     {[]byte{0xca, 0, 0, 0, 0}, 1, func(d *Decoder) { d.Int() }, errForm},
		"int for float":     {[]byte{1}, 1, func(d *Decoder) { d.Float() }, errForm},
		"bytes for uint":    {[]byte{0xc4, 0}, 1, func(d *Decoder) { d.Uint() }, errForm},
		"int for bytes":     {[]byte{1}, 1, func(d *Decoder) { d.Bytes() }, errForm},
		"map":               {[]byte{0x80}, 1, func(d *Decoder) { d.Bytes() }, errForm},
		"length beyond end": {[]byte{0xc6, 255, 255, 255, 255, 0}, 1, func(d *Decoder) { d.Bytes() }, errShort},
		"first stays":       {[]byte{0xff, 0x80}, 2, func(d *Decoder) { d.Uint(); d.Uint() }, errRange},
	} {
		d := Decoder{buf: c.bytes, left: c.left}
		if c.read(&d); d.Err() != c.want {
			t.Errorf("%s: %v, want %v", name, d.Err(), c.want)
		}
	}
}

// Any bytes give messages or an error.
func FuzzFrame(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		g, _ := randomFrame(r, 3)
		if err := g.finish(&sorter{}); err != nil {
			f.Fatal(err)
		}
		f.Add(g.buf[:min(len(g.buf), 400)])
	}
	f.Add([]byte{0x92, 7, 0x91, 0x96, 9, 3, 1, 2, 5, 0xff})
	f.Add([]byte{0x92, 7, 0xdd, 255, 255, 255, 255, 0x96})
	f.Add([]byte{0x92, 7, 0x91, 0xdd, 255, 255, 255, 255, 9, 3, 1, 2, 5, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		g := &frame{buf: b}
		if g.rewind() != nil {
			return
		}
		for g.unread > 0 {
			if g.head.stamp.At < 0 {
				t.Fatalf("negative time in %v", g.head.stamp)
			}
			d := &digest{}
			d.reset()
			end, err := d.message(g.buf, &g.head)
			body := Decoder{buf: b[:end], pos: g.head.body, left: g.head.fields}
			for i := 0; body.Left() > 0 && body.Err() == nil; i++ {
				switch (len(b) + i) % 4 {
				case 0:
					body.Int()
				case 1:
					body.Uint()
				case 2:
					body.Float()
				case 3:
					body.Bytes()
				}
			}
			if err != nil || g.step(end) != nil {
				return
			}
		}
	})
}

// A frame that is reused must not keep effectAt of its last messages.
func TestFrameStartsQuiet(t *testing.T) {
	f := &frame{effectAt: at(5, 0)}
	if f.start(1); !f.effectAt.IsNever() {
		t.Errorf("an empty frame has an effect at %v", f.effectAt)
	}
}
