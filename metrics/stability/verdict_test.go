package stability

import (
	"testing"

	"blis/vtime"
)

// every makes n requests, one each 10 ms, that take as long as service says, and of which one in loses is lost; 0: none.
func every(n int, service func(i int) vtime.Duration, loses int) (list []Request) {
	for i := range n {
		r := Request{Arrival: vtime.Time(i) * vtime.Time(10*vtime.Millisecond), E2E: service(i)}
		r.End = r.Arrival.Add(r.E2E)
		if loses > 0 && i%loses == loses-1 {
			r.E2E, r.Lost = -1, true
		}
		list = append(list, r)
	}
	return list
}

// Runs whose verdict is plain.
func TestVerdicts(t *testing.T) {
	const ms = vtime.Millisecond
	steady := func(int) vtime.Duration { return 50 * ms }
	for _, c := range []struct {
		name string
		list []Request
		want Level
	}{
		{"nobody", nil, Undecided},
		{"served as they come", every(400, steady, 0), Stable},
		{"too few", every(150, steady, 0), Undecided},
		{"one in a hundred and fifty lost", every(600, steady, 150), Stable},
		{"one in fifty lost", every(600, steady, 50), Backlogged},
		{"one in fifteen lost", every(600, steady, 15), Overloaded},
		{"served at two thirds of the rate", every(400, func(i int) vtime.Duration { return 50*ms + vtime.Duration(i)*5*ms }, 0), Overloaded},
		{"a pause of 300 ms", every(1000, func(i int) vtime.Duration {
			if i >= 500 && i < 530 {
				return 50*ms + vtime.Duration(530-i)*10*ms
			}
			return 50 * ms
		}, 0), Backlogged},
		{"latencies as long as the run", every(400, func(int) vtime.Duration { return 3 * vtime.Second }, 0), Undecided},
		{"all at once", every(1, steady, 0), Undecided},
	} {
		if got := Judge(c.list); got.Level != c.want {
			t.Errorf("%s: %+v, want %v", c.name, got, c.want)
		}
	}
}

// Names are those of the public simulator, and what is no name is refused with those that there are.
func TestParseNames(t *testing.T) {
	for text, want := range map[string]int{"all": 3, "composite": 1, "threshold, composite,threshold": 2} { // any order
		if got, err := ParseNames(text); err != nil || len(got) != want {
			t.Errorf("%s: %v %v, want %d names", text, got, err, want)
		}
	}
	for _, text := range []string{"", "compost", "all,", "composite,,threshold"} {
		if got, err := ParseNames(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}
