package actors_test

import (
	"errors"
	"io"
	"reflect"

	"github.com/vmihailenco/msgpack/v5"
)

// A reader of recordings, written from docs/recordings.md alone: it uses no package
// of BLIS.

// seenDecision is an entry about a decision. The table has what its observer has
// seen up to it.
type seenDecision struct {
	observer, at, class, request int64
	decision                     string
	signals                      []string
	table                        map[int64]map[string][]float64
}

// eachSeen calls f for every entry, in their order. Tables are valid during the call.
func eachSeen(in io.Reader, f func(seenDecision)) error {
	tables := map[int64]map[int64]map[string][]float64{}
	d := msgpack.NewDecoder(in)
	for {
		v, err := d.DecodeInterface()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		e := v.([]any)
		if word, ok := e[0].(string); !ok || word != "seen" {
			continue
		}
		x := seenDecision{observer: whole(e[1]), decision: e[2].(string), at: whole(e[3]), class: whole(e[4]), request: whole(e[5])}
		for _, name := range e[6].([]any) {
			x.signals = append(x.signals, name.(string))
		}
		if tables[x.observer] == nil {
			tables[x.observer] = map[int64]map[string][]float64{}
		}
		x.table = tables[x.observer]
		for _, c := range e[7].([]any) {
			change := c.([]any)
			i := whole(change[0])
			if x.table[i] == nil {
				x.table[i] = map[string][]float64{}
			}
			var numbers []float64
			for _, n := range change[2:] {
				numbers = append(numbers, float(n))
			}
			x.table[i][change[1].(string)] = numbers
		}
		f(x)
	}
}

// whole is an integer of any width.
func whole(v any) int64 {
	r := reflect.ValueOf(v)
	if r.CanUint() {
		return int64(r.Uint())
	}
	return r.Int()
}

func float(v any) float64 {
	if r := reflect.ValueOf(v); r.CanFloat() {
		return r.Float()
	}
	return float64(whole(v))
}
