package blis_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// planted breaks every rule; each line that does says which in a comment.
const planted = `package kv

import (
	"math/rand/v2"
	"os" // imports os
	"time"
)

type Exported struct{} // Exported has no doc comment

var Number = 1

func (Exported) Method() {} // Method has no doc comment

// Good is documented, and its loop excused.
func Good(m map[string]int) (sum int) {
	// In any order: integers are added.
	for _, n := range m {
		sum += n
	}
	for range 3 {
		sum++
	}
	return sum
}

func bad(m map[string]float64, a, b float64) float64 {
	c := make(chan int)    // channel
	go close(c)            // go statement
	a += rand.Float64()    // global source
	a += float64(time.Now().Unix()) // wall clock
	for range m {          // ranges over a map
		a += b * 2     // may be fused
	}
	x := a * b             // may be fused
	a *= x                 // may be fused
	y := float64(a * b)
	z := a * b / 3
	_ = os.Args
	return a + y + float64(a*b)*3 - min(z, a*b) // may be fused
}
`

// TestTidyFindsWhatIsPlanted: every rule can fail, and only where it should.
func TestTidyFindsWhatIsPlanted(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "kv/planted.go", planted, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	s := &source{path: "kv", fset: fset, files: []*ast.File{f}, info: newInfo()}
	if _, err := (&types.Config{Importer: importer.ForCompiler(fset, "source", nil)}).Check("blis/kv", fset, s.files, s.info); err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	report := func(s *source, n ast.Node, format string, args ...any) {
		found[fset.Position(n.Pos()).Line] += fmt.Sprintf(format, args...) + "\n"
	}
	checkDocs(s, report)
	checkPurity(s, report)
	checkMapRanges(s, report)
	checkProducts(s, report)
	for i, line := range strings.Split(planted, "\n") {
		code, want, planted := strings.Cut(line, "// ")
		got, reported := found[i+1]
		switch {
		case i == 0: // the missing doc.go
			planted, want = true, "has no doc.go"
		case strings.HasPrefix(line, "var Number"):
			planted, want = true, "Number has no doc comment"
		case strings.TrimSpace(code) == "": // a comment alone
			planted = false
		}
		if planted != reported || !strings.Contains(got, strings.TrimSpace(want)) && planted {
			t.Errorf("line %d, %q: reported %q, want %q", i+1, line, got, want)
		}
	}
}
