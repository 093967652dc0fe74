package blis_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// clockNames of package time read or wait for the wall clock.
var clockNames = strings.Fields("Now Since Until After AfterFunc Sleep Tick NewTimer NewTicker")

// seededNames of package math/rand/v2 draw from nothing but what they are
// given.
var seededNames = strings.Fields("New NewPCG PCG Rand Source")

// checkPurity: no wall clock, no global random numbers, no goroutines or
// channels, no files.
func checkPurity(s *source, report reporter) {
	for _, f := range s.files {
		for _, spec := range f.Imports {
			switch path := strings.Trim(spec.Path.Value, `"`); {
			case path == "os" && !slices.Contains(opensFiles, s.file(f)):
				report(s, spec, "imports os: what is read comes as an argument")
			case path == "math/rand", path == "crypto/rand", path == "sync/atomic", path == "os/exec", path == "net":
				report(s, spec, "imports %s", path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				report(s, n, "go statement")
			case *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
				report(s, n, "channel")
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					report(s, n, "channel")
				}
			case *ast.SelectorExpr:
				checkSelector(s, f, n, report)
			}
			return true
		})
	}
}

func checkSelector(s *source, f *ast.File, n *ast.SelectorExpr, report reporter) {
	x, ok := n.X.(*ast.Ident)
	if !ok {
		return
	}
	switch {
	case x.Name == "time" && imports(f, "time") && slices.Contains(clockNames, n.Sel.Name):
		report(s, n, "time.%s reads the wall clock: virtual time is an argument", n.Sel.Name)
	case x.Name == "rand" && imports(f, "math/rand/v2") && !slices.Contains(seededNames, n.Sel.Name):
		report(s, n, "rand.%s draws from the global source: random numbers come from a vtime.Stream", n.Sel.Name)
	}
}

func imports(f *ast.File, path string) bool {
	return slices.ContainsFunc(f.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == `"`+path+`"` })
}

// anyOrder in a comment on or right above a loop over a map says that, and
// why, the order cannot escape.
const anyOrder = "any order"

// checkMapRanges: the order of a map is chance.
func checkMapRanges(s *source, report reporter) {
	for _, f := range s.files {
		excused := map[int]bool{}
		for _, g := range f.Comments {
			if strings.Contains(strings.ToLower(g.Text()), anyOrder) {
				end := s.fset.Position(g.End()).Line
				excused[end], excused[end+1] = true, true
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var x ast.Expr
			switch n := n.(type) {
			case *ast.RangeStmt:
				x = n.X
			case *ast.CallExpr: // maps.Keys and its like yield in that order too
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && isIdent(sel.X, "maps") && slices.Contains([]string{"Keys", "Values", "All"}, sel.Sel.Name) {
					x = n.Args[0]
				}
			}
			if x == nil || excused[s.fset.Position(n.Pos()).Line] {
				return true
			}
			if t := s.info.Types[x].Type; t != nil {
				if _, isMap := t.Underlying().(*types.Map); isMap {
					report(s, n, "ranges over a map: sort, or say in a comment with the words %q why its order cannot escape", anyOrder)
				}
			}
			return true
		})
	}
}

func isIdent(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

// checkProducts: a product that feeds a sum may be fused with it on some
// machines, and rounds differently then. Fusion reaches across statements and
// inlined calls; a conversion, float64(a*b), prevents it. So a product of
// floats stands in a conversion, unless what takes it is no sum.
func checkProducts(s *source, report reporter) {
	for _, f := range s.files {
		var stack []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				stack = stack[:len(stack)-1]
				return true
			}
			if p, ok := n.(*ast.BinaryExpr); ok && p.Op == token.MUL && isFloat(s, p) && s.info.Types[p].Value == nil && feedsSum(s, stack) {
				report(s, p, "a product of floats may be fused into a sum: write float64(a*b)")
			}
			if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.MUL_ASSIGN && isFloat(s, a.Lhs[0]) {
				report(s, a, "a product of floats may be fused into a sum: write x = float64(x*y)")
			}
			stack = append(stack, n)
			return true
		})
	}
}

func isFloat(s *source, x ast.Expr) bool {
	t := s.info.Types[x].Type
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0
}

// feedsSum reports whether a product with these ancestors may end up in a sum
// without being rounded. Factors, quotients, comparisons and conversions round
// it; so do calls of functions that are not inlined, but who knows which.
func feedsSum(s *source, stack []ast.Node) bool {
	for i := len(stack) - 1; i >= 0; i-- {
		switch p := stack[i].(type) {
		case *ast.ParenExpr, *ast.UnaryExpr:
			continue
		case *ast.BinaryExpr:
			return p.Op == token.ADD || p.Op == token.SUB
		case *ast.CallExpr:
			return !s.info.Types[p.Fun].IsType() && !rounds(p)
		case *ast.IfStmt, *ast.SwitchStmt, *ast.CaseClause, *ast.ForStmt:
			return false
		}
		return true
	}
	return false
}

// rounds reports whether a call is one of package math, whose functions take
// a float as it is in memory, or an output function.
func rounds(p *ast.CallExpr) bool {
	sel, ok := p.Fun.(*ast.SelectorExpr)
	return ok && (isIdent(sel.X, "math") || isIdent(sel.X, "fmt") || isIdent(sel.X, "strconv"))
}
