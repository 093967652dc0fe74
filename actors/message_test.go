package actors

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// courier is a process of the tests: at time 1 it runs send, and it keeps what
// read makes of the messages that come.
type courier struct {
	send func(out *lookahead.Outbox)
	read func(m *lookahead.Message) any
	got  []any
}

func (c *courier) Next() lookahead.Key {
	if c.send == nil {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: 1}
}

func (c *courier) Promise() lookahead.Key { return c.Next() }

func (c *courier) PromiseOf(lookahead.NoticeKind) lookahead.Key { return c.Next() }

func (c *courier) Receive(m *lookahead.Message, _ *lookahead.Outbox) {
	c.got = append(c.got, c.read(m))
}

func (c *courier) Advance(_ lookahead.Key, out *lookahead.Outbox) {
	for out.Execute(c.Next()) {
		c.send(out)
		c.send = nil
	}
}

// carry sends the values as messages of this kind and returns what arrives.
func (c *carried) carry(t *testing.T, values []any) []any {
	s := lookahead.New(lookahead.Config{Workers: 1, Sequential: true})
	processes := map[lookahead.ProcessID]*courier{}
	for _, id := range []lookahead.ProcessID{routerID, autoscalerID, testLeaf, lookahead.ThirdControl, collectorID} {
		processes[id] = &courier{}
	}
	processes[c.from].send = func(out *lookahead.Outbox) {
		for _, v := range values {
			c.send(out, v)
		}
	}
	processes[c.to].read = c.read
	notices := []lookahead.NoticeKind{0, cutOffNotice, prefilledNotice, pullingNotice, notPulledNotice}
	s.AddControl("router", processes[routerID], notices...)
	s.AddControl("autoscaler", processes[autoscalerID], notices...)
	s.AddControl("storage", processes[lookahead.ThirdControl], storageNotice)
	s.AddLeaf("leaf", processes[testLeaf])
	s.AddSink("collector", processes[collectorID])
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return processes[c.to].got
}

// leaves calls f for every field of v that is no struct, with its name.
func leaves(v reflect.Value, name string, f func(name string, v reflect.Value)) {
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			field := v.Field(i)
			leaves(reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem(), v.Type().Field(i).Name, f)
		}
		return
	}
	f(name, v)
}

// set gives v the value n, or one made of it.
func set(v reflect.Value, n int64) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(n != 0)
	case reflect.Float64:
		v.SetFloat(float64(n) + 0.5)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(n))
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			leaves(v.Index(i), "", func(_ string, x reflect.Value) { set(x, n+int64(i)) })
		}
	case reflect.Pointer: // hints
		v.Set(reflect.New(v.Type().Elem()))
		for i := range v.Elem().Len() {
			set(v.Elem().Index(i), n+int64(i))
		}
	default:
		panic("a message has a field of kind " + v.Kind().String())
	}
}

// fill returns a value of the type of v whose fields are what f makes of them.
func fill(v any, f func(name string, v reflect.Value)) any {
	x := reflect.New(reflect.TypeOf(v)).Elem()
	leaves(x, "", f)
	return x.Interface()
}

// notHandedOver is v with requests that nobody handed over.
func notHandedOver(v any) any {
	x := reflect.New(reflect.TypeOf(v)).Elem()
	x.Set(reflect.ValueOf(v))
	var clear func(v reflect.Value)
	clear = func(v reflect.Value) {
		if v.Type() == reflect.TypeFor[metrics.HandOver]() {
			v.Set(reflect.ValueOf(metrics.NoHandOver()))
			return
		}
		for i := 0; v.Kind() == reflect.Struct && i < v.NumField(); i++ {
			f := v.Field(i)
			clear(reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem())
		}
	}
	clear(x)
	return x.Interface()
}

// without is v without fields of these names; an empty slice is none.
func without(v any, names ...string) any {
	x := reflect.New(reflect.TypeOf(v)).Elem()
	x.Set(reflect.ValueOf(v))
	leaves(x, "", func(name string, v reflect.Value) {
		if slices.Contains(names, name) || v.Kind() == reflect.Slice && v.Len() == 0 {
			v.SetZero()
		}
	})
	return x.Interface()
}

// TestMessagesCarryEveryField: whatever field of a message is set, it arrives:
// all at once, each alone, times that are never, the largest labels.
func TestMessagesCarryEveryField(t *testing.T) {
	for _, c := range messages {
		t.Run(c.name, func(t *testing.T) {
			n := int64(0)
			all := fill(c.value, func(name string, v reflect.Value) {
				if n++; name == "Arrival" {
					n = 1 // other times are later
				}
				set(v, 1+n)
			})
			if c.name == "traced admission" { // a delay alone has a time to wait
				x := all.(valueAdmission)
				x.Decision.Verdict = policy.Delay
				all = x
			}
			values, names := []any{all}, []string{"all fields"}
			leaves(reflect.New(reflect.TypeOf(c.value)).Elem(), "", func(alone string, _ reflect.Value) {
				if alone == "Wait" {
					return
				}
				values, names = append(values, fill(c.value, func(name string, v reflect.Value) {
					if name == alone || alone == "Arrival" && v.Type() == reflect.TypeFor[vtime.Time]() { // no time is before it
						set(v, 1)
					}
				})), append(names, alone+" alone")
			})
			values, names = append(values, fill(c.value, func(name string, v reflect.Value) {
				if v.Type() == reflect.TypeFor[vtime.Time]() && name != "Arrival" {
					set(v, int64(vtime.Never))
				}
			})), append(names, "times that are never")
			values, names = append(values, fill(c.value, func(_ string, v reflect.Value) {
				if v.Type() == reflect.TypeFor[workload.Label]() {
					set(v, 1<<16-1)
				}
			})), append(names, "the last labels")
			for i, v := range values {
				values, names = append(values, notHandedOver(v)), append(names, names[i]+", not handed over")
			}
			got := c.carry(t, values)
			if len(got) != len(values) {
				t.Fatalf("%d messages arrived of %d", len(got), len(values))
			}
			for i, v := range values {
				if want := without(v, c.lost...); !reflect.DeepEqual(without(got[i]), want) {
					t.Errorf("%s: sent\n%+v, of which should arrive\n%+v, got\n%+v", names[i], v, want, got[i])
				}
			}
			for _, name := range c.lost {
				if !slices.Contains(names, name+" alone") {
					t.Errorf("no field is named %s, which is not to travel", name)
				}
			}
		})
	}
}

// FuzzMessages: fields of any value arrive.
func FuzzMessages(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		for _, c := range messages {
			r := rand.New(rand.NewPCG(seed, 0))
			var values []any
			for range 20 {
				values = append(values, fill(c.value, func(name string, v reflect.Value) {
					n := int64(r.Uint64() >> (1 + r.IntN(63)))
					switch {
					case r.IntN(4) == 0:
						return
					case name == "Arrival":
						n = 0 // as if others were later
					case v.Kind() == reflect.Bool:
						n &= 1
					case v.Kind() == reflect.Int32:
						n = int64(int32(n) & 0x7fffffff)
					case v.Kind() == reflect.Uint64 && r.IntN(4) == 0:
						v.SetUint(r.Uint64())
						return
					case v.Type() == reflect.TypeFor[vtime.Time]() && r.IntN(4) == 0:
						n = int64(vtime.Never)
					}
					set(v, n)
				}))
			}
			got := c.carry(t, values)
			for i, v := range values {
				if x, is := v.(valueAdmission); is && x.Decision.Verdict != policy.Delay {
					continue // its time to wait does not travel
				}
				if want := without(v, c.lost...); !reflect.DeepEqual(without(got[i]), want) {
					t.Fatalf("seed %d: %s: sent\n%+v, of which should arrive\n%+v, got\n%+v", seed, c.name, v, want, got[i])
				}
			}
		}
	})
}
