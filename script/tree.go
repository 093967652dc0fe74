package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"blis/policy"
	"blis/suggest"
	"blis/yamldoc"
)

// A decision tree is a mapping in YAML: if, a condition, and then and else, each a tree or
// an expression. It becomes the program of its kind: the text of each expression keeps its
// place, so that errors have it.

// treeLimits are those of a tree's text.
var treeLimits = yamldoc.Options{Bytes: mostSource, Depth: 32, Name: 128}

// treePrograms are what surrounds a tree, by kind. Routing asks the tree about each
// instance; elsewhere names of columns are vectors.
var treePrograms = map[policy.Kind]struct{ function, program, one, all string }{
	policy.AdmissionKind: {"admit", "def admit(req, i):\n  return tree(req, i)\n", "i", "req"},
	policy.PriorityKind:  {"priority", "def priority(req, i):\n  return tree(req, i)\n", "i", "req"},
	policy.RoutingKind:   {"route", "def route(req, i):\n  return [tree(req, x) for x in i]\n", "x", "req"},
	policy.SchedulerKind: {"order", "def order(req):\n  return tree(req, None)\n", "", "req"},
	policy.AutoscaleKind: {"scale", "def scale(ctx, i):\n  return tree(ctx, i)\n", "i", "ctx"},
}

// loadTree reads a tree. An error is an *Error.
func loadTree(kind policy.Kind, name, text string) (p *program, err error) {
	if name == "" {
		name = "tree"
	}
	defer func() {
		if x := recover(); x != nil {
			p, err = nil, &Error{File: name, Kind: PanicError, Message: clip(oneLine(fmt.Sprintf("the interpreter fails: %v", x)), mostMessage)}
		}
	}()
	root, err := yamldoc.Read(name, []byte(text), treeLimits)
	if err != nil {
		return nil, treeProblem(name, err)
	}
	if root == nil {
		root = &yamldoc.Node{}
	}
	around := treePrograms[kind]
	file, err := options.Parse(name, around.program, 0)
	if err != nil {
		return nil, err
	}
	r := &treeReader{name: name, kind: kind, one: around.one, all: around.all}
	body := r.node(root)
	if r.fault != nil {
		return nil, r.fault
	}
	at := r.at(root)
	param := func(name string) syntax.Expr { return &syntax.Ident{NamePos: at, Name: name} }
	decide := &syntax.DefStmt{Def: at, Name: &syntax.Ident{NamePos: at, Name: "tree"}, Params: []syntax.Expr{param(around.all), param(instanceName(around.one))}, Body: body}
	file.Stmts = append(file.Stmts, decide)
	return compile(name, text, file, around.function)
}

// instanceName is the parameter of a tree for instances.
func instanceName(one string) string {
	if one == "" {
		return "none"
	}
	return one
}

// treeProblem is an error of the YAML.
func treeProblem(name string, err error) error {
	fault := &Error{File: name, Kind: SyntaxError, Message: err.Error()}
	var at *yamldoc.Error
	if errors.As(err, &at) {
		fault.Line, fault.Message = at.Line, at.Problem
		if at.Field != "" {
			fault.Message = oneLine(at.Field) + ": " + at.Problem
		}
	}
	fault.Message = clip(oneLine(fault.Message), mostMessage)
	return fault
}

// treeReader makes statements of a tree.
type treeReader struct {
	name     string
	kind     policy.Kind
	one, all string // parameters: of instances, and of the request or context
	fault    *Error
}

// at is the place of a node.
func (r *treeReader) at(n *yamldoc.Node) syntax.Position {
	return syntax.MakePosition(&r.name, int32(max(n.Line, 1)), int32(max(n.Column, 1)))
}

// fail notes the first fault.
func (r *treeReader) fail(n *yamldoc.Node, format string, args ...any) {
	if r.fault == nil {
		r.fault = &Error{File: r.name, Line: n.Line, Column: n.Column, Kind: SyntaxError, Function: "tree", Message: clip(oneLine(fmt.Sprintf(format, args...)), mostMessage)}
	}
}

// node makes statements that return what the tree answers.
func (r *treeReader) node(n *yamldoc.Node) []syntax.Stmt {
	at := r.at(n)
	if n.Kind != yamldoc.Mapping {
		return []syntax.Stmt{&syntax.ReturnStmt{Return: at, Result: r.leaf(n)}}
	}
	parts := map[string]*yamldoc.Node{}
	names := []string{"if", "then", "else"}
	for _, m := range n.Members {
		if !slices.Contains(names, m.Name) {
			r.fail(&yamldoc.Node{Line: m.Line, Column: m.Column}, "%s", yamldoc.Unknown("field", m.Name, names))
		}
		parts[m.Name] = m.Value
	}
	for _, name := range names {
		if x := parts[name]; x == nil || x.Kind == yamldoc.Null {
			r.fail(n, "want %s: {if: \"kv > 0.9\", then: …, else: …}", name)
		}
	}
	if r.fault != nil {
		return nil
	}
	condition := parts["if"]
	if condition.Kind != yamldoc.String {
		r.fail(condition, "if: %s is not allowed, want a condition like \"kv > 0.9 and queue > 4\"", condition.Describe())
		return nil
	}
	return []syntax.Stmt{&syntax.IfStmt{If: at, Cond: r.expression(condition), True: r.node(parts["then"]), ElsePos: at, False: r.node(parts["else"])}}
}

// leaf makes an expression of what a tree answers.
func (r *treeReader) leaf(n *yamldoc.Node) syntax.Expr {
	switch n.Kind {
	case yamldoc.Bool:
		return &syntax.Ident{NamePos: r.at(n), Name: strings.ToUpper(n.Text[:1]) + n.Text[1:]}
	case yamldoc.Number, yamldoc.String:
		return r.expression(n)
	}
	r.fail(n, "%s is not allowed, want {if: …, then: …, else: …}, or an expression", n.Describe())
	return nil
}

// expression parses an expression and puts attributes in the place of names.
func (r *treeReader) expression(n *yamldoc.Node) syntax.Expr {
	portion := syntax.FilePortion{Content: []byte(n.Text), FirstLine: int32(max(n.Line, 1)), FirstCol: int32(max(n.Column, 1))}
	x, err := options.ParseExpr(r.name, portion, 0)
	if err != nil {
		var at syntax.Error
		if errors.As(err, &at) {
			_, remedy := remedyAt(strings.Repeat("\n", int(at.Pos.Line)-1)+strings.Repeat(" ", max(n.Column-1, 0))+n.Text, at)
			r.fail(&yamldoc.Node{Line: int(at.Pos.Line), Column: int(at.Pos.Col)}, "%s%s", at.Msg, remedy)
		} else {
			r.fail(n, "%v", err)
		}
		return nil
	}
	return r.resolve(x)
}

// resolve puts attributes in the place of names in an expression.
func (r *treeReader) resolve(x syntax.Expr) syntax.Expr {
	each := func(list []syntax.Expr) {
		for k := range list {
			list[k] = r.resolve(list[k])
		}
	}
	switch x := x.(type) {
	case *syntax.Ident:
		return r.ident(x)
	case *syntax.ParenExpr:
		x.X = r.resolve(x.X)
	case *syntax.UnaryExpr:
		x.X = r.resolve(x.X)
	case *syntax.BinaryExpr:
		x.X, x.Y = r.resolve(x.X), r.resolve(x.Y)
	case *syntax.CondExpr:
		x.Cond, x.True, x.False = r.resolve(x.Cond), r.resolve(x.True), r.resolve(x.False)
	case *syntax.IndexExpr:
		x.X, x.Y = r.resolve(x.X), r.resolve(x.Y)
	case *syntax.TupleExpr:
		each(x.List)
	case *syntax.ListExpr:
		each(x.List)
	case *syntax.CallExpr:
		if f, ok := x.Fn.(*syntax.Ident); ok && natives[f.Name] == nil && !slices.Contains(kept, f.Name) {
			r.fault = r.cannot(f, fmt.Sprintf("there is no function %s%s", clip(f.Name, mostName), suggest.Hint(f.Name, predeclaredNames())))
		} else if !ok {
			x.Fn = r.resolve(x.Fn)
		}
		each(x.Args)
	case *syntax.DotExpr:
		x.X = r.resolve(x.X)
	case *syntax.Literal:
	default:
		start, _ := x.Span()
		r.fault = r.cannot(&syntax.Ident{NamePos: start}, "that is not for trees: want a program, type: starlark")
	}
	return x
}

func (r *treeReader) cannot(at *syntax.Ident, text string) *Error {
	if r.fault != nil {
		return r.fault
	}
	return &Error{File: r.name, Line: int(at.NamePos.Line), Column: int(at.NamePos.Col), Kind: SyntaxError, Function: "tree", Message: text}
}

// ident puts an attribute in the place of a name.
func (r *treeReader) ident(x *syntax.Ident) syntax.Expr {
	of := func(parameter string) syntax.Expr {
		return &syntax.DotExpr{X: &syntax.Ident{NamePos: x.NamePos, Name: parameter}, Dot: x.NamePos, NamePos: x.NamePos, Name: &syntax.Ident{NamePos: x.NamePos, Name: x.Name}}
	}
	own := attributeTable(requestAttributes)
	if r.kind == policy.AutoscaleKind {
		own = scaleAttributes
	}
	_, isOwn := own.find(x.Name)
	_, isCount := clusterAttributes[x.Name]
	_, isColumn := columns().byName[x.Name]
	switch {
	case x.Name == "admit" && r.kind == policy.AdmissionKind:
		return &syntax.Ident{NamePos: x.NamePos, Name: "True"}
	case x.Name == "reject" && r.kind == policy.AdmissionKind:
		return &syntax.Ident{NamePos: x.NamePos, Name: "False"}
	case x.Name == "True" || x.Name == "False" || x.Name == "None" || x.Name == "cluster":
		return x
	case isOwn:
		return of(r.all)
	case isColumn && r.one != "":
		return of(r.one)
	case isCount && r.kind != policy.SchedulerKind:
		return of("cluster")
	}
	r.fault = r.cannot(x, fmt.Sprintf("there is no %s%s", clip(x.Name, mostName), suggest.Hint(x.Name, r.names(own))))
	return x
}

// names are the names that a tree may use.
func (r *treeReader) names(own attributeTable) []string {
	list := own.names()
	if r.one != "" {
		list = append(list, columns().names()...)
	}
	slices.Sort(list)
	return list
}
