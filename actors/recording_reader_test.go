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
// seen up to it, by what the numbers are of, and their name.
type seenDecision struct {
	observer, at, class, request int64
	decision                     string
	signals                      []string
	table                        map[int64]map[string][]float64
	names                        [3][]string // of tenants, classes and models
	asked                        []any       // the request, at its first decision
}

// eachSeen calls f for every entry, in their order. Tables are valid during the call.
func eachSeen(in io.Reader, f func(seenDecision)) error {
	tables := map[int64]map[int64]map[string][]float64{}
	var names [3][]string
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
		switch e[0] {
		case "names":
			for i, list := range e[1:] {
				names[i] = words(list)
			}
			continue
		case "seen":
		default:
			continue
		}
		x := seenDecision{observer: whole(e[1]), decision: e[2].(string), at: whole(e[3]), class: whole(e[4]), request: whole(e[5]),
			signals: words(e[6]), names: names, asked: e[8].([]any)}
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

func words(v any) (list []string) {
	for _, word := range v.([]any) {
		list = append(list, word.(string))
	}
	return list
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
