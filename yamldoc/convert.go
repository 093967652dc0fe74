package yamldoc

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// step leads from a value to one in it: the name of a member, or an item.
type step struct {
	name string
	item int // −1: a member
}

// at is the place of the value that is being converted, which stands on line.
// The path is spelled out for errors only: with long names it is longer than the
// document.
func (r *reader) at(line int) Place {
	at := Place{Line: line}
	for _, s := range r.path {
		if s.item < 0 {
			at = at.Within(s.name, line)
		} else {
			at = at.Item(s.item, line)
		}
	}
	return at
}

// convertPart converts a part of the value at the path.
func (r *reader) convertPart(s step, in ast.Node, line int) *Node {
	r.path = append(r.path, s)
	v := r.convert(in, line)
	r.path = r.path[:len(r.path)-1]
	return v
}

// convert turns a node of the parser into a Node. line is where it stands if the
// parser does not say.
func (r *reader) convert(in ast.Node, line int) *Node {
	if in == nil {
		return &Node{Line: line, size: 1}
	}
	n := &Node{size: 1}
	if t := in.GetToken(); t != nil && t.Position != nil {
		n.Line, n.Column = t.Position.Line, t.Position.Column
	}
	switch in := in.(type) {
	case *ast.MappingNode:
		return r.convertMembers(n, in.Values)
	case *ast.MappingValueNode:
		return r.convertMembers(n, []*ast.MappingValueNode{in})
	case *ast.SequenceNode:
		return r.convertList(n, in)
	case *ast.AnchorNode:
		v := r.convert(in.Value, n.Line)
		if in.Name != nil {
			if r.anchors == nil {
				r.anchors = map[string]*Node{}
			}
			r.anchors[in.Name.GetToken().Value] = v
		}
		return v
	case *ast.AliasNode:
		return r.alias(in, n.Line)
	case *ast.NullNode:
		n.Kind, n.Text = Null, "null"
	case *ast.BoolNode:
		n.Kind, n.Text = Bool, strconv.FormatBool(in.Value)
	case *ast.LiteralNode:
		n.Kind, n.Text = String, in.Value.Value
	case *ast.StringNode:
		r.convertString(n, in)
	case *ast.IntegerNode:
		n.Kind, n.Text = Number, numeral(in.Token.Value, fmt.Sprint(in.Value))
	case *ast.FloatNode:
		n.Kind, n.Text = Number, numeral(in.Token.Value, strconv.FormatFloat(in.Value, 'g', -1, 64))
	case *ast.InfinityNode, *ast.NanNode:
		n.Kind, n.Text = Number, in.GetToken().Value
	default:
		r.fail(r.at(n.Line), "not supported, want a plain value, a list or a mapping")
	}
	return n
}

// numeral is a number as it was written if that is JSON, else in decimal.
func numeral(written, decimal string) string {
	if isJSONNumber(written) {
		return written
	}
	return decimal
}

// convertString reads 1e5 as a number, as YAML 1.2 and JSON do. The parser does
// not.
func (r *reader) convertString(n *Node, in *ast.StringNode) {
	n.Kind, n.Text = String, in.Value
	switch {
	case in.Token.Type == token.StringType && isNumeral(in.Value):
		n.Kind = Number
	case !utf8.ValidString(in.Value):
		r.fail(r.at(n.Line), "an escape that stands for no character, want text in UTF-8")
	}
}

// alias is the value of an anchor above.
func (r *reader) alias(in *ast.AliasNode, line int) *Node {
	name := ""
	if in.Value != nil {
		name = in.Value.GetToken().Value
	}
	v := r.anchors[name]
	if v == nil {
		r.fail(r.at(line), "unknown alias *%s, want the name of an anchor above", Clip(name))
		return &Node{Line: line, size: 1}
	}
	return v
}

func (r *reader) convertList(n *Node, in *ast.SequenceNode) *Node {
	n.Kind = List
	if r.tooDeep(n.Line) {
		return n
	}
	n.Items = make([]*Node, 0, len(in.Values))
	for i, item := range in.Values {
		v := r.convertPart(step{item: i}, item, n.Line)
		n.Items = append(n.Items, v)
		if r.count(n, v); r.fault != nil {
			break
		}
	}
	return n
}

func (r *reader) convertMembers(n *Node, pairs []*ast.MappingValueNode) *Node {
	n.Kind = Mapping
	if r.tooDeep(n.Line) {
		return n
	}
	var merged []Member
	given := make(map[string]int, len(pairs))
	n.Members = make([]Member, 0, len(pairs))
	for i, pair := range pairs {
		key := pair.Key.GetToken()
		name, line := key.Value, lineOf(key)
		if i == 0 && key.Position != nil {
			n.Column = min(n.Column, key.Position.Column)
		}
		if _, isMerge := pair.Key.(*ast.MergeKeyNode); isMerge {
			merged = append(merged, r.merged(r.convertPart(step{name, -1}, pair.Value, line), name, line)...)
			continue
		}
		r.checkName(pair, given)
		v := r.convertPart(step{name, -1}, pair.Value, line)
		if r.count(n, v); r.fault != nil {
			return n
		}
		n.Members = append(n.Members, Member{name, line, placeOf(key).Column, v})
	}
	for _, m := range merged {
		if _, own := given[m.Name]; !own { // the first of several counts
			given[m.Name] = m.Line
			n.Members = append(n.Members, m)
			r.count(n, m.Value)
		}
	}
	return n
}

// checkName refuses a name without a value, and one that is among those given.
func (r *reader) checkName(pair *ast.MappingValueNode, given map[string]int) {
	name, line := pair.Key.GetToken().Value, lineOf(pair.Key.GetToken())
	column := func(at Place) Place {
		at.Column = placeOf(pair.Key.GetToken()).Column
		return at
	}
	switch first, again := given[name]; {
	case again:
		r.fail(column(r.at(line).Within(name, line)), "is given twice, first on line %d, want it once", first)
	case pair.Start.Type != token.MappingValueType:
		r.fail(column(r.at(line).Within(name, line)), "has no value, want name: value")
	case !utf8.ValidString(name):
		r.fail(column(r.at(line)), "a name that is not UTF-8, want text in UTF-8")
	}
	given[name] = line
}

// merged are the members that a merge key brings in, of one mapping or of several.
func (r *reader) merged(v *Node, key string, line int) []Member {
	at := r.at(line).Within(key, line)
	switch {
	case r.fault != nil:
	case v.Kind == Mapping:
		return v.Members
	case v.Kind == List:
		var all []Member
		for i, item := range v.Items {
			if item.Kind != Mapping {
				r.fail(at.Item(i, item.Line), "%s is not allowed, want the alias of a mapping", item.Describe())
			}
			all = append(all, item.Members...)
		}
		return all
	default:
		r.fail(at, "%s is not allowed, want the alias of a mapping", v.Describe())
	}
	return nil
}

const tooManyValues = "has more than %d values with its aliases written out, want less"

// count adds the size of a part to n. Aliases of aliases can make a short file
// stand for more than any memory holds; that ends here.
func (r *reader) count(n, part *Node) {
	n.size += part.size
	if most := r.options.Values; most > 0 && n.size > most {
		r.fail(r.at(n.Line), tooManyValues, most)
	}
}

// tooDeep knows better than the tokens: a list right below its name, and a
// name in a list, are deeper than what they stand in.
func (r *reader) tooDeep(line int) bool {
	if len(r.path) < r.options.Depth {
		return false
	}
	r.fail(r.at(line), "%s", tooDeep(r.options.Depth))
	return true
}
