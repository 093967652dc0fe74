package policy

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// ParseBundle reads a bundle; errors call the file file. The format is strict: a
// field that is unknown, of another type, out of range or given twice is a
// *BundleError with its line. null means not given. An empty file is the empty
// bundle.
func ParseBundle(file string, text []byte) (Bundle, error) { return parseBundle(file, text, maxText) }

func parseBundle(file string, text []byte, limit int) (Bundle, error) {
	r := reader{bundle: Bundle{file: file, lines: map[string]int{}}}
	members, fault := readDocument(text, limit)
	if fault == nil {
		fault = noWorkload(members)
	}
	for i := 0; i < len(members) && fault == nil; i++ {
		fault = r.section(&members[i])
	}
	if fault != nil {
		fault.File = file
		return Bundle{}, fault
	}
	return r.bundle, nil
}

// reader turns a document into a bundle.
type reader struct{ bundle Bundle }

func (r *reader) section(p *member) *BundleError {
	s, problem := findSection(p.name)
	switch {
	case s == nil:
		return &BundleError{Line: p.line, Field: p.name, Problem: problem}
	case p.value == nil:
		return nil
	case s.selection != nil:
		members, fault := translate(Kind(s.name), p)
		if fault != nil {
			return fault
		}
		p = &member{p.name, p.line, members}
	}
	members, isMapping := p.value.([]member)
	if !isMapping {
		return &BundleError{Line: p.line, Field: p.name, Problem: describe(p.value) + " is not allowed, want a mapping like {name: value}"}
	}
	r.bundle.lines[p.name] = p.line
	if s.name == metadata {
		var fault *BundleError
		r.bundle.Metadata, fault = freeMapping(members)
		if fault != nil {
			return fault.within(metadata)
		}
		return nil
	}
	if s.selection != nil {
		if fault := r.selection(Kind(s.name), s.selection(&r.bundle), members); fault != nil {
			return fault
		}
	}
	return r.fields(s, members)
}

// selection reads type, params and tenants, in this order, whatever their order in
// the file.
func (r *reader) selection(kind Kind, c *Selection, members []member) *BundleError {
	for i := range members {
		if p := &members[i]; p.name == "type" && p.value != nil {
			if fault := r.policyType(kind, c, p); fault != nil {
				return fault
			}
		}
	}
	for i := range members {
		if p := &members[i]; p.name == "params" && p.value != nil {
			if fault := r.params(kind, c, p); fault != nil {
				return fault
			}
		}
	}
	for i := range members {
		if p := &members[i]; p.name == tenantsKey && p.value != nil && haveTenants(kind) {
			if fault := r.tenants(kind, c, p); fault != nil {
				return fault
			}
		}
	}
	return nil
}

func (r *reader) policyType(kind Kind, c *Selection, p *member) *BundleError {
	path := string(kind) + ".type"
	name, isString := p.value.(string)
	if !isString {
		return &BundleError{Line: p.line, Field: path, Problem: fmt.Sprintf("%s is not allowed, want the name of a policy like %s", describe(p.value), ofKind(kind)[0].Name)}
	}
	if _, err := lookUp(kind, name); err != nil {
		return located(err, p.line)
	}
	c.Type = name
	r.bundle.lines[path] = p.line
	return nil
}

func (r *reader) params(kind Kind, c *Selection, p *member) *BundleError {
	path := string(kind) + ".params"
	members, isMapping := p.value.([]member)
	if !isMapping {
		return &BundleError{Line: p.line, Field: path, Problem: describe(p.value) + " is not allowed, want a mapping like {parameter: value}"}
	}
	r.bundle.lines[path] = p.line
	t, err := c.template(kind)
	if err != nil {
		return located(err, p.line)
	}
	given := make(map[string]bool, len(members))
	for i := range members {
		q := &members[i]
		if _, ok := tenantOf(q.name); ok {
			return &BundleError{Line: q.line, Field: path + "." + q.name, Problem: "settings of tenants stand beside params: " + tenantsKey + ": {NAME: …}"}
		}
		s, err := t.setting(q.name, q.value)
		if err != nil {
			return located(err, q.line)
		}
		name := t.name(q.name)
		if given[name] {
			return &BundleError{Line: q.line, Field: path + "." + q.name, Problem: name + " is given twice, want it once"}
		}
		given[name] = true
		r.bundle.lines[path+"."+q.name], r.bundle.lines[path+"."+name] = q.line, q.line
		c.Params = append(c.Params, s)
	}
	return nil
}

// fields reads the fields of a section beside type and params.
func (r *reader) fields(s *section, members []member) *BundleError {
	for i := range members {
		p := &members[i]
		if s.selection != nil && (p.name == "type" || p.name == "params" || p.name == tenantsKey && haveTenants(Kind(s.name))) {
			continue
		}
		if err := r.field(s, "", p); err != nil {
			return err
		}
	}
	return nil
}

// field reads one field of a section, or the fields of a mapping within it.
func (r *reader) field(s *section, within string, p *member) *BundleError {
	name := within + p.name
	path := s.name + "." + name
	if inner, ok := p.value.([]member); ok && s.holds(name) {
		for i := range inner {
			if err := r.field(s, name+".", &inner[i]); err != nil {
				return err
			}
		}
		return nil
	}
	f, problem := s.find(name)
	if f == nil {
		return &BundleError{Line: p.line, Field: path, Problem: problem}
	}
	if p.value == nil {
		return nil
	}
	text, isText := f.text(p.value)
	if !isText {
		return &BundleError{Line: p.line, Field: path, Problem: describe(p.value) + " is not allowed, want " + f.Range()}
	}
	v, ok := f.parse(text)
	if !ok {
		return &BundleError{Line: p.line, Field: path, Problem: fmt.Sprintf("%q is not allowed, want %s", text, f.Range())}
	}
	f.put(&r.bundle, v)
	r.bundle.lines[path] = p.line
	return nil
}

// parameter returns the parameter of that name or alias: Open for a setting of a
// tenant, nil if the template has none.
func (t *Template) parameter(name string) *Parameter {
	if _, ok := tenantOf(name); ok {
		return t.Open
	}
	v := values{parameters: t.Parameters}
	if i := v.find(name); i >= 0 {
		return &t.Parameters[i]
	}
	return nil
}

// name returns the name of the parameter of that name or alias.
func (t *Template) name(alias string) string {
	if p := t.parameter(alias); p != nil && p != t.Open {
		return p.Name
	}
	return alias
}

// setting checks a value of a file for a parameter of the template. Its error is an
// *Error.
func (t *Template) setting(name string, x any) (Setting, error) {
	text, isText := "", true
	if p := t.parameter(name); p != nil {
		if text, isText = p.text(x); !isText {
			return Setting{}, &Error{Field: t.path(name), Problem: describe(x) + " is not allowed, want " + p.Range()}
		}
	}
	s := Setting{name, text}
	return s, t.check(s)
}

// check returns the error of resolve for one setting alone.
func (t *Template) check(s Setting) error {
	v := values{parameters: t.Parameters, list: make([]value, len(t.Parameters))}
	return v.set(t, s)
}

// text returns a value of a file as text for parse. ok is false if it does not have
// the YAML type of the parameter: a number in quotes is not a number.
func (p *Parameter) text(x any) (text string, ok bool) {
	switch x := x.(type) {
	case bool:
		return strconv.FormatBool(x), p.Type == Flag
	case string:
		return x, p.Type == Choice || p.Type == Triggers || p.Type == Duration || p.Type == Freshness || p.Type == RandomDuration || p.Type == CountOrAuto && x == Auto
	case json.Number:
		_, err := strconv.ParseInt(string(x), 10, 64)
		return string(x), p.isNumber() || (p.Type == Duration || p.Type == Freshness || p.Type == RandomDuration) && err == nil
	case []member: // {periodic: 50ms}
		if p.Type == RandomDuration {
			return randomDuration(x)
		}
		if p.Type == Freshness && len(x) == 1 && x[0].name == "periodic" {
			return p.text(x[0].value)
		}
	}
	return "", false
}

// located returns an *Error as a *BundleError with a line.
func located(err error, line int) *BundleError {
	fault, ok := err.(*Error)
	if !ok {
		panic("policy: not an *Error: " + err.Error())
	}
	return &BundleError{Line: line, Field: fault.Field, Problem: fault.Problem}
}

// freeMapping returns free-form content without its lines.
func freeMapping(members []member) (Mapping, *BundleError) {
	m := make(Mapping, len(members))
	for i := range members {
		v, fault := freeValue(members[i].value, members[i].line)
		if fault != nil {
			return nil, fault.within(members[i].name)
		}
		m[i] = Entry{members[i].name, v}
	}
	return m, nil
}

func freeValue(x any, line int) (any, *BundleError) {
	switch x := x.(type) {
	case []member:
		return freeMapping(x)
	case []any:
		list := make([]any, len(x))
		for i := range x {
			v, fault := freeValue(x[i], line)
			if fault != nil {
				return nil, fault.within("[" + strconv.Itoa(i) + "]")
			}
			list[i] = v
		}
		return list, nil
	case json.Number:
		if !isNumeral(string(x)) { // .inf or .nan
			return nil, &BundleError{Line: line, Problem: fmt.Sprintf("%s is not allowed, want a finite number", x)}
		}
	}
	return x, nil
}

// randomDuration returns {type: lognormal, params: {mean: 40s, cv: 0.2}} or {type:
// constant, params: {mean: 40s}} in the form that ParseRandomDuration reads.
func randomDuration(members []member) (string, bool) {
	if len(members) != 2 || members[0].name != "type" || members[1].name != "params" {
		return "", false
	}
	params, _ := members[1].value.([]member)
	words := map[string]string{}
	for _, m := range params {
		switch v := m.value.(type) {
		case string:
			words[m.name] = v
		case json.Number:
			words[m.name] = v.String()
		}
	}
	mean, cv := words["mean"], words["cv"]
	switch {
	case members[0].value == "constant" && len(params) == 1 && mean != "":
		return mean, true
	case members[0].value == "lognormal" && len(params) == 2 && mean != "" && cv != "":
		return mean + ",cv=" + cv, true
	}
	return "", false
}
