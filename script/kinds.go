package script

import (
	"slices"

	"go.starlark.net/syntax"

	"blis/policy"
)

// deciders are the functions of a program, with the kind of policy that calls each.
var deciders = map[string]policy.Kind{
	"admit": policy.AdmissionKind, "priority": policy.PriorityKind, "route": policy.RoutingKind, "filter": policy.RoutingKind,
	"order": policy.SchedulerKind, "victim": policy.SchedulerKind, "make_batch": policy.SchedulerKind, "on_arrival": policy.SchedulerKind,
	"scale": policy.AutoscaleKind,
}

// companions are those that need another one beside them.
var companions = []string{"filter", "on_arrival"}

// Kinds returns the kinds of policies that a program has functions for, in their order. It finds
// functions that are defined or assigned outside of others. file is the name of the program in
// errors, which are an *Error: for a text that is no program, and for a program without any.
func Kinds(file, source string) ([]policy.Kind, error) {
	p, err := load(file, source)
	if err != nil {
		return nil, err
	}
	parsed, err := options.Parse(p.name, source, 0)
	if err != nil {
		return nil, syntaxProblem(p.name, source, err)
	}
	found := map[policy.Kind]bool{}
	note := func(name string) {
		if kind, ok := deciders[name]; ok {
			found[kind] = true
		}
	}
	var look func(list []syntax.Stmt)
	look = func(list []syntax.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *syntax.DefStmt:
				note(s.Name.Name)
			case *syntax.AssignStmt:
				if to, ok := s.LHS.(*syntax.Ident); ok {
					note(to.Name)
				}
			case *syntax.IfStmt:
				look(s.True)
				look(s.False)
			}
		}
	}
	look(parsed.Stmts)
	var kinds []policy.Kind
	for _, kind := range policy.Kinds {
		if found[kind] {
			kinds = append(kinds, kind)
		}
	}
	if kinds == nil {
		names := []string{}
		for name := range deciders { // any order: sorted below
			if !slices.Contains(companions, name) {
				names = append(names, signatures[name])
			}
		}
		slices.Sort(names)
		return nil, &Error{File: p.name, Kind: SyntaxError, Message: "decides nothing: want " + joinOr(names)}
	}
	return kinds, nil
}

// joinOr joins alternatives.
func joinOr(list []string) string {
	text := ""
	for i, s := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			text += " or "
		default:
			text += ", "
		}
		text += s
	}
	return text
}
