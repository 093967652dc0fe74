package yamldoc

import (
	"fmt"
	"math"
	"reflect"
	"testing"
)

type pair struct {
	Low  int64 `yaml:"low"`
	High int64 `yaml:"high"`
}

type settings struct {
	pair
	Name    string     `yaml:"name"`
	Names   []string   `yaml:"names"`
	Share   float64    `yaml:"share"`
	On      *bool      `yaml:"on"`
	Numbers []*float64 `yaml:"numbers"`
	Three   [3]float64 `yaml:"three"`
	Pairs   []pair     `yaml:"pairs"`
	Any     *Node      `yaml:"any"`
	Count   int        `yaml:"count"`
	Own     string     `yaml:"-"`
}

func decode(text string, into any) error {
	n, err := Read("f.yaml", []byte(text), strict)
	if err != nil {
		return err
	}
	return Decode("f.yaml", Place{}, n, into)
}

func TestDecode(t *testing.T) {
	s := settings{Own: "kept", Share: 0.5}
	if err := decode("low: 1\nhigh: 1e6\nname: 1.50\nnames: [a, 2]\nshare: ~\non: false\nnumbers: [1, ~, .inf]\nthree: [1, 2, 3e0]\npairs:\n- {low: 2}\n- ~\nany: [x]\ncount: 3.0", &s); err != nil {
		t.Fatal(err)
	}
	off, one, infinite := false, 1.0, math.Inf(1)
	if s.Any == nil || s.Any.Kind != List {
		t.Errorf("%+v", s.Any)
	}
	s.Any = nil
	want := settings{
		pair: pair{1, 1000000}, Name: "1.50", Names: []string{"a", "2"}, Share: 0.5, On: &off, Numbers: []*float64{&one, nil, &infinite},
		Three: [3]float64{1, 2, 3}, Pairs: []pair{{Low: 2}, {}}, Count: 3, Own: "kept",
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v, want %+v", s, want)
	}
	if err := decode("", &s); err != nil {
		t.Errorf("an empty document: %v", err)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"nam: x", `f.yaml:1: nam: unknown field "nam", the nearest is "name" (there are: low, high, name, names, share, on, numbers, three, pairs, any, count)`},
		{"Own: x", `f.yaml:1: Own: unknown field "Own", the nearest is "on" (there are: low, high, name, names, share, on, numbers, three, pairs, any, count)`},
		{"pairs:\n- {low: 1}\n- {low: few}", `f.yaml:3: pairs[1].low: "few" is not allowed, want a whole number`},
		{"low: 0.5", "f.yaml:1: low: 0.5 is not allowed, want a whole number"},
		{"low: 1e300", "f.yaml:1: low: 1e300 is not allowed, want a whole number"},
		{"share: \"1\"", `f.yaml:1: share: "1" is not allowed, want a number`},
		{"share: 1e999", "f.yaml:1: share: 1e999 is not allowed, want a number"},
		{"on: 1", "f.yaml:1: on: 1 is not allowed, want true or false"},
		{"name: [x]", "f.yaml:1: name: a list is not allowed, want text"},
		{"name: true", "f.yaml:1: name: true is not allowed, want text"},
		{"names: x", `f.yaml:1: names: "x" is not allowed, want a list`},
		{"three: [1, 2]", "f.yaml:1: three: has 2 values, want 3"},
		{"pairs: [1]", "f.yaml:1: pairs[0]: 1 is not allowed, want a mapping of low, high"},
		{"[1]", "f.yaml:1: a list is not allowed, want a mapping of low, high, name, names, share, on, numbers, three, pairs, any, count"},
	} {
		if err := decode(c.text, &settings{}); fmt.Sprint(err) != c.want {
			t.Errorf("%q:\n%v, want\n%s", c.text, err, c.want)
		}
	}
}
