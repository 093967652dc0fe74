package trace

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// The msgpack form of a record is a map with the keys and values of its JSON
// form, in the same order.

// encode writes a record. Its type is its kind, whatever its field Type holds.
func encode(e *msgpack.Encoder, r Record) error {
	return encodeStruct(e, reflect.ValueOf(r).Elem(), r.Kind())
}

// encodeStruct writes a struct; kind is the kind of a record, empty for other structs.
func encodeStruct(e *msgpack.Encoder, v reflect.Value, kind string) error {
	fields := fieldsOf(v.Type())
	n := len(fields)
	for i, f := range fields {
		if f.omits(v.Field(i)) {
			n--
		}
	}
	err := e.EncodeMapLen(n)
	for i := 0; i < len(fields) && err == nil; i++ {
		if fields[i].omits(v.Field(i)) {
			continue
		}
		if err = e.EncodeString(fields[i].name); err != nil {
			return err
		}
		if i == 0 && kind != "" {
			err = e.EncodeString(kind)
		} else {
			err = encodeValue(e, v.Field(i))
		}
	}
	return err
}

func encodeValue(e *msgpack.Encoder, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct:
		return encodeStruct(e, v, "")
	case reflect.Pointer:
		if v.IsNil() {
			return e.EncodeNil()
		}
		return encodeValue(e, v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return e.EncodeNil()
		}
		err := e.EncodeArrayLen(v.Len())
		for i := range v.Len() {
			if err == nil {
				err = encodeValue(e, v.Index(i))
			}
		}
		return err
	case reflect.String:
		return e.EncodeString(v.String())
	case reflect.Bool:
		return e.EncodeBool(v.Bool())
	case reflect.Uint64:
		return e.EncodeUint(v.Uint())
	case reflect.Float64:
		return e.EncodeFloat64(v.Float())
	}
	return e.EncodeInt(v.Int())
}

// unpack reads the map of one record. Its first key is its type.
func unpack(d *msgpack.Decoder) (Record, error) {
	if _, err := d.PeekCode(); err != nil {
		return nil, err // io.EOF: there is none
	}
	n, err := mapLength(d)
	if err != nil {
		return nil, cut(err)
	}
	if n == 0 {
		return nil, &fieldError{"type", errors.New("it is missing")}
	}
	key, err := text(d)
	if err != nil {
		return nil, cut(err)
	}
	if key != "type" {
		return nil, fmt.Errorf("the first key is %q, want type", key)
	}
	kind, err := text(d)
	if err != nil {
		return nil, cut(&fieldError{"type", err})
	}
	r, err := blank(kind)
	if err != nil {
		return nil, err
	}
	v := reflect.ValueOf(r).Elem()
	v.Field(0).SetString(kind)
	return r, cut(unpackFields(d, v, n, 1))
}

// cut words the end of the file within a record.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends within the record")
	}
	return err
}

// unpackFields reads the fields of a struct, n keys in all, of which the first read
// have been read.
func unpackFields(d *msgpack.Decoder, v reflect.Value, n, read int) error {
	seen := newSeen(v.Type())
	for i := range read {
		seen.have[i] = true
	}
	for range n - read {
		key, err := text(d)
		if err != nil {
			return err
		}
		i, err := seen.field(key)
		if err != nil {
			return err
		}
		if err := unpackValue(d, v.Field(i)); err != nil {
			return inField(key, err)
		}
	}
	return seen.all()
}

func unpackValue(d *msgpack.Decoder, v reflect.Value) error {
	code, err := d.PeekCode()
	if err != nil {
		return err
	}
	nullable := v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice
	if nullable && code == msgpcode.Nil {
		v.SetZero()
		return d.DecodeNil()
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return unpackValue(d, v.Elem())
	case reflect.Slice:
		return unpackList(d, v, code)
	case reflect.Struct:
		n, err := mapLength(d)
		if err != nil {
			return err
		}
		return unpackFields(d, v, n, 0)
	case reflect.String:
		s, err := text(d)
		v.SetString(s)
		return err
	case reflect.Bool:
		if code != msgpcode.True && code != msgpcode.False {
			return errors.New("want true or false")
		}
		b, err := d.DecodeBool()
		v.SetBool(b)
		return err
	}
	return unpackNumber(d, v, code)
}

func unpackList(d *msgpack.Decoder, v reflect.Value, code byte) error {
	if !msgpcode.IsFixedArray(code) && code != msgpcode.Array16 && code != msgpcode.Array32 {
		return errors.New("want an array")
	}
	n, err := d.DecodeArrayLen()
	if err != nil {
		return err
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, min(n, 64))) // the count may be a lie
	for i := range n {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		if err := unpackValue(d, v.Index(i)); err != nil {
			return inField(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

func unpackNumber(d *msgpack.Decoder, v reflect.Value, code byte) error {
	whole := msgpcode.IsFixedNum(code) || code >= msgpcode.Uint8 && code <= msgpcode.Int64
	switch {
	case v.Kind() == reflect.Float64 && code == msgpcode.Double:
		f, err := d.DecodeFloat64()
		if err == nil && !finite(f) {
			err = fmt.Errorf("%v is not finite", f)
		}
		v.SetFloat(f)
		return err
	case v.Kind() == reflect.Float64:
		return errors.New("want a float of 64 bits")
	case !whole:
		return errors.New("want a whole number")
	case v.Kind() == reflect.Uint64:
		if code == msgpcode.Uint64 {
			n, err := d.DecodeUint64()
			v.SetUint(n)
			return err
		}
		n, err := d.DecodeInt64()
		if err == nil && n < 0 {
			err = fmt.Errorf("%d is negative", n)
		}
		v.SetUint(uint64(n))
		return err
	case code == msgpcode.Uint64:
		n, err := d.DecodeUint64()
		if err == nil && (n > math.MaxInt64 || v.OverflowInt(int64(n))) {
			err = fmt.Errorf("%d is out of range", n)
		}
		v.SetInt(int64(n))
		return err
	}
	n, err := d.DecodeInt64()
	if err == nil && v.OverflowInt(n) {
		return fmt.Errorf("%d is out of range", n)
	}
	v.SetInt(n)
	return err
}

// mapLength reads the head of a map.
func mapLength(d *msgpack.Decoder) (int, error) {
	code, err := d.PeekCode()
	if err != nil {
		return 0, err
	}
	if !msgpcode.IsFixedMap(code) && code != msgpcode.Map16 && code != msgpcode.Map32 {
		return 0, errors.New("want a map")
	}
	return d.DecodeMapLen()
}

// text reads a string.
func text(d *msgpack.Decoder) (string, error) {
	code, err := d.PeekCode()
	if err != nil {
		return "", err
	}
	if !msgpcode.IsString(code) {
		return "", errors.New("want a string")
	}
	return d.DecodeString()
}
