package workload

import (
	"testing"

	"blis/vtime"
)

func TestSliceYieldsItsRequests(t *testing.T) {
	list := []Request{NewRequest(5, 10, 1), NewRequest(5, 20, 0), NewRequest(9, 30, 3)}
	for i := range list {
		list[i].Source = 0
	}
	s, err := NewSlice(list, Labels{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Collect(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || all[1].Input != 20 || all[1].Index != 1 || all[1].Source != FirstSource {
		t.Errorf("got %+v", all)
	}
	if s.Labels().Classes.Name(0) != "standard" || s.Labels().Tenants.Name(0) != "" {
		t.Error("the default names are missing")
	}
}

func TestSliceRefusesWhatIsNotLegal(t *testing.T) {
	change := func(f func(*Request)) []Request {
		r := NewRequest(5, 10, 4)
		f(&r)
		return []Request{r}
	}
	for _, c := range []struct {
		name string
		list []Request
		want string
	}{
		{"literal", []Request{{Identity: Identity{Arrival: 5, Input: 10}, Output: 4}},
			"request 0: deadline: 0: want a time not before the arrival 5, vtime.Never for none; max output: 0: want at least the output 4, or Absent"},
		{"literal at 0", []Request{{Identity: Identity{Input: 10}}}, "request 0: deadline: 0: want vtime.Never for none"},
		{"input", change(func(r *Request) { r.Input = 0 }), "request 0: input: 0: want at least 1 token"},
		{"output", change(func(r *Request) { r.Output = -1 }), "request 0: output: -1: want at least 0 tokens"},
		{"limit", change(func(r *Request) { r.MaxOutput = 3 }), "request 0: max output: 3: want at least the output 4, or Absent"},
		{"arrival", change(func(r *Request) { r.Arrival = -1 }), "request 0: arrival: -1: want from 0 to 4611686018427387903"},
		{"never", change(func(r *Request) { r.Arrival = vtime.Never }), "request 0: arrival: 9223372036854775807: want from 0 to 4611686018427387903"},
		{"source", change(func(r *Request) { r.Source = 2 }), "request 0: source: 2: want from 2147483648"},
		{"span", change(func(r *Request) { r.Spans = []Span{{0, 3}} }), "request 0: span 0: 0:3: want content and length from 1"},
		{"spans", change(func(r *Request) { r.Spans = []Span{{1, 1 << 30}, {2, 1 << 30}, {3, 1 << 30}} }),
			"request 0: spans: 3221225472: want at most the 10 tokens of the input"},
		{"label", change(func(r *Request) { r.Tenant = 1 }), "request 0: tenant: 1: want a label below 1, of a name that Labels has before the first request"},
		{"order", []Request{NewRequest(6, 1, 1), NewRequest(5, 1, 1)},
			"request 1: (arrival, source, index): (5, 2147483648, 0): want it after that of request 0"},
		{"same stamp", []Request{NewRequest(6, 1, 1), NewRequest(6, 1, 1)},
			"request 1: (arrival, source, index): (6, 2147483648, 0): want it after that of request 0"},
	} {
		if _, err := NewSlice(c.list, Labels{}); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}
