package bundle

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"

	"blis/policy"
)

// Parse reads a bundle; errors call the file file. The format is strict: a
// field that is unknown, of another type, out of range or given twice is a
// *Error with its line. null means not given. An empty file is the empty
// bundle.
func Parse(file string, text []byte) (Bundle, error) { return parseBundle(file, text, maxText) }

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

func (r *reader) section(p *member) *Error {
	s, problem := findSection(p.name)
	switch {
	case s == nil:
		return &Error{Line: p.line, Field: p.name, Problem: problem}
	case p.value == nil:
		return nil
	case s.selection != nil:
		members, fault := translate(policy.Kind(s.name), p)
		if fault != nil {
			return fault
		}
		p = &member{p.name, p.line, members}
	}
	members, isMapping := p.value.([]member)
	if !isMapping {
		return &Error{Line: p.line, Field: p.name, Problem: describe(p.value) + " is not allowed, want a mapping like {name: value}"}
	}
	r.bundle.lines[p.name] = p.line
	if s.name == metadata {
		var fault *Error
		r.bundle.Metadata, fault = freeMapping(members)
		if fault != nil {
			return fault.within(metadata)
		}
		return nil
	}
	if s.selection != nil {
		if fault := r.selection(policy.Kind(s.name), s.selection(&r.bundle), members); fault != nil {
			return fault
		}
	}
	return r.fields(s, members)
}

// selection reads type, params and tenants, in this order, whatever their order in
// the file.
func (r *reader) selection(kind policy.Kind, c *Selection, members []member) *Error {
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
		if p := &members[i]; p.name == policy.TenantsKey && p.value != nil && policy.HasTenants(kind) {
			if fault := r.tenants(kind, c, p); fault != nil {
				return fault
			}
		}
	}
	return nil
}

func (r *reader) policyType(kind policy.Kind, c *Selection, p *member) *Error {
	path := string(kind) + ".type"
	name, isString := p.value.(string)
	if !isString {
		return &Error{Line: p.line, Field: path, Problem: fmt.Sprintf("%s is not allowed, want the name of a policy like %s", describe(p.value), policy.OfKind(kind)[0].Name)}
	}
	if _, err := policy.Find(kind, name); err != nil {
		return located(err, p.line)
	}
	c.Type = name
	r.bundle.lines[path] = p.line
	return nil
}

func (r *reader) params(kind policy.Kind, c *Selection, p *member) *Error {
	path := string(kind) + ".params"
	members, isMapping := p.value.([]member)
	if !isMapping {
		return &Error{Line: p.line, Field: path, Problem: describe(p.value) + " is not allowed, want a mapping like {parameter: value}"}
	}
	r.bundle.lines[path] = p.line
	t, err := c.template(kind)
	if err != nil {
		return located(err, p.line)
	}
	beside := r.beside(t, members)
	given := make(map[string]bool, len(members))
	for i := range members {
		q := &members[i]
		if _, ok := policy.TenantOf(q.name); ok {
			return &Error{Line: q.line, Field: path + "." + q.name, Problem: "settings of tenants stand beside params: " + policy.TenantsKey + ": {NAME: …}"}
		}
		s, err := setting(t, q.name, q.value)
		if err != nil {
			return located(err, q.line)
		}
		name := t.Canonical(q.name)
		if given[name] {
			return &Error{Line: q.line, Field: path + "." + q.name, Problem: name + " is given twice, want it once"}
		}
		if given[name] = true; t.Parameter(name).Type == policy.Path {
			s.Value = beside(s.Value)
		}
		r.bundle.lines[path+"."+q.name], r.bundle.lines[path+"."+name] = q.line, q.line
		c.Params = append(c.Params, s)
	}
	return nil
}

// beside returns a function for the paths among parameters: relative ones are relative
// to the file of the bundle. Beside the text of a file its path is a name and stays.
func (r *reader) beside(t *policy.Template, members []member) func(path string) string {
	folder := filepath.Dir(r.bundle.file)
	for i := range members {
		if p := t.Parameter(members[i].name); p != nil && p.Type == policy.Text && members[i].value != nil {
			folder = ""
		}
	}
	return func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(folder, path)
	}
}

// tenants reads the settings of tenants.
func (r *reader) tenants(kind policy.Kind, c *Selection, p *member) *Error {
	path := string(kind) + "." + policy.TenantsKey
	members, isMapping := p.value.([]member)
	if !isMapping {
		return &Error{Line: p.line, Field: path, Problem: describe(p.value) + " is not allowed, want a mapping like {tenant: value}"}
	}
	r.bundle.lines[path] = p.line
	t, err := c.template(kind)
	if err != nil {
		return located(err, p.line)
	}
	if t.Open == nil {
		return &Error{Line: p.line, Field: path, Problem: t.NoTenants()}
	}
	for i := range members {
		q := &members[i]
		s, err := setting(t, policy.TenantsPrefix+q.name, q.value)
		if err != nil {
			return located(err, q.line)
		}
		r.bundle.lines[path+"."+q.name] = q.line
		c.Params = append(c.Params, s)
	}
	return nil
}

// fields reads the fields of a section beside type and params.
func (r *reader) fields(s *section, members []member) *Error {
	for i := range members {
		p := &members[i]
		if s.selection != nil && (p.name == "type" || p.name == "params" || p.name == policy.TenantsKey && policy.HasTenants(policy.Kind(s.name))) {
			continue
		}
		if err := r.field(s, "", p); err != nil {
			return err
		}
	}
	return nil
}

// field reads one field of a section, or the fields of a mapping within it.
func (r *reader) field(s *section, within string, p *member) *Error {
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
		return &Error{Line: p.line, Field: path, Problem: problem}
	}
	if p.value == nil {
		return nil
	}
	text, isText := textOf(&f.Parameter, p.value)
	if !isText {
		return &Error{Line: p.line, Field: path, Problem: describe(p.value) + " is not allowed, want " + f.Range()}
	}
	if !f.Allows(text) {
		return &Error{Line: p.line, Field: path, Problem: fmt.Sprintf("%q is not allowed, want %s", text, f.Range())}
	}
	f.put(&r.bundle, text)
	r.bundle.lines[path] = p.line
	return nil
}

// setting checks a value of a file for a parameter of the template. Its error is a
// *policy.Error.
func setting(t *policy.Template, name string, x any) (policy.Setting, error) {
	value, isText := "", true
	if p := t.Parameter(name); p != nil {
		if value, isText = textOf(p, x); !isText {
			return policy.Setting{}, &policy.Error{Field: t.Path(name), Problem: describe(x) + " is not allowed, want " + p.Range()}
		}
	}
	s := policy.Setting{Name: name, Value: value}
	return s, t.Check(s)
}

// textOf returns a value of a file as text for the parameter. ok is false if it does not have
// the YAML type of the parameter: a number in quotes is not a number.
func textOf(p *policy.Parameter, x any) (text string, ok bool) {
	switch x := x.(type) {
	case bool:
		return strconv.FormatBool(x), p.Type == policy.Flag
	case string:
		return x, p.Type == policy.Choice || p.Type == policy.Path || p.Type == policy.Text || p.Type == policy.Mapping || p.Type == policy.Triggers || p.Type == policy.Duration || p.Type == policy.Freshness || p.Type == policy.RandomDuration || p.Type == policy.CountOrAuto && x == policy.Auto
	case json.Number:
		_, err := strconv.ParseInt(string(x), 10, 64)
		return string(x), p.IsNumber() || (p.Type == policy.Duration || p.Type == policy.Freshness || p.Type == policy.RandomDuration) && err == nil
	case []member: // {periodic: 50ms}
		if p.Type == policy.Mapping {
			return mappingText(x)
		}
		if p.Type == policy.RandomDuration {
			return randomDuration(x)
		}
		if p.Type == policy.Freshness && len(x) == 1 && x[0].name == "periodic" {
			return textOf(p, x[0].value)
		}
	}
	return "", false
}

// mappingText returns a mapping as the text that a Mapping keeps: JSON, which is YAML.
func mappingText(members []member) (string, bool) {
	m, fault := freeMapping(members)
	if fault != nil {
		return "", false
	}
	text, err := jsonNotation.append(nil, m)
	return string(text), err == nil
}

// mappingOf returns the mapping of the text of a Mapping, nil if it is none.
func mappingOf(text string) Mapping {
	members, fault := readDocument([]byte(text), maxText)
	if fault != nil {
		return nil
	}
	m, fault := freeMapping(members)
	if fault != nil {
		return nil
	}
	return m
}

// located returns a *policy.Error as an *Error with a line.
func located(err error, line int) *Error {
	fault, ok := err.(*policy.Error)
	if !ok {
		panic("bundle: not a *policy.Error: " + err.Error())
	}
	return &Error{Line: line, Field: fault.Field, Problem: fault.Problem}
}

// freeMapping returns free-form content without its lines.
func freeMapping(members []member) (Mapping, *Error) {
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

func freeValue(x any, line int) (any, *Error) {
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
			return nil, &Error{Line: line, Problem: fmt.Sprintf("%s is not allowed, want a finite number", x)}
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
