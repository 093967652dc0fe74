package policy

import (
	"maps"
	"slices"
)

// Complete returns the effective bundle. Each kind has its type, and every parameter
// its value, by its name and in the order of the template; settings of tenants
// follow, by name. Weights are an exception: if one is given only the given ones
// count, in the order given, else the defaults that are not 0. Single fields and
// metadata stay as they are. A bad type or parameter is an *Error.
func (b Bundle) Complete() (Bundle, error) {
	list := sections()
	for i := range list {
		s := &list[i]
		if s.selection == nil {
			continue
		}
		c := s.selection(&b)
		t, err := c.template(Kind(s.name))
		if err != nil {
			return Bundle{}, err
		}
		v, err := t.resolve(c.Params)
		if err != nil {
			return Bundle{}, err
		}
		*c = Selection{Type: t.Name, Params: effective(&v)}
	}
	return b, nil
}

// effective lists the parameters of a policy with their values.
func effective(v *values) []Setting {
	var params []Setting
	add := func(i int) {
		params = append(params, Setting{v.parameters[i].Name, v.list[i].text})
	}
	given := func(i int) bool { return slices.Contains(v.given, i) }
	for _, i := range chosen(*v) { // all of them given, or none
		if given(i) || v.list[i].number != 0 {
			add(i)
		}
	}
	for i := range v.parameters {
		if v.parameters[i].Type != Weight {
			add(i)
		}
	}
	names := slices.Sorted(maps.Keys(v.open)) // any order: they are sorted
	for _, name := range names {
		params = append(params, Setting{TenantsPrefix + name, v.open[name].text})
	}
	return params
}
