"""Translates a policy in Python to Starlark, line by line: python py2star.py policy.py > policy.star
What Starlark has no word for is refused by its line. f-strings lose their formats."""
import ast
import sys

REFUSED = {"ClassDef": "class: want functions and dictionaries", "Try": "try: want a test before the operation", "With": "with",
           "Global": "global: want the dictionary state", "Nonlocal": "nonlocal: want a dictionary", "Match": "match: want if and elif",
           "NamedExpr": ":=, want an assignment on a line of its own", "Yield": "yield: want a list", "Delete": "del: want x.pop(k)",
           "AsyncFunctionDef": "async", "MatMult": "@: want sum(a * b)", "Starred": "*: want the arguments one by one"}
RESERVED = {"load": "load_"}  # a word of Starlark
MATH = {"fabs": "abs", "e": "2.718281828459045", "pi": "3.141592653589793", "inf": 'float("inf")'}


call = lambda name, *args: ast.Call(ast.Name(name), list(args), [])  # noqa: E731


class Translator(ast.NodeTransformer):
    def visit(self, node):
        kind, line = type(node).__name__, getattr(node, "lineno", 0)
        if kind in REFUSED or getattr(node, "decorator_list", None):
            raise SyntaxError(f"line {line}: no {REFUSED.get(kind, 'decorators')}")
        if kind in ("Import", "ImportFrom"):
            if {getattr(node, "module", n.name) for n in node.names} - {"math", "typing", "__future__"}:
                raise SyntaxError(f"line {line}: no import but math: vectors have argmax, where, clip and more without one")
            return ast.Pass(lineno=line)
        if kind == "Attribute" and getattr(node.value, "id", "") == "math":
            return ast.Name(MATH.get(node.attr, node.attr))
        node = super().visit(node)  # an own rule, else the parts
        if kind == "FunctionDef":
            node.returns = None
        elif kind == "arg":
            node.annotation, node.arg = None, RESERVED.get(node.arg, node.arg)
        elif kind == "Name":
            node.id = RESERVED.get(node.id, node.id)
        elif kind == "AnnAssign":
            return ast.Assign([node.target], node.value, lineno=line) if node.value else ast.Pass(lineno=line)
        elif isinstance(getattr(node, "op", None), ast.Pow):
            return call("pow", node.left, node.right) if kind == "BinOp" else ast.Assign([node.target], call("pow", node.target, node.value), lineno=line)
        elif kind == "GeneratorExp":
            return ast.ListComp(node.elt, node.generators)
        elif kind in ("Set", "SetComp"):
            return call("set", ast.List(node.elts) if kind == "Set" else ast.ListComp(node.elt, node.generators))
        elif kind == "JoinedStr":
            parts = [v if isinstance(v, ast.Constant) else call("str", v.value) for v in node.values] or [ast.Constant("")]
            return ast.parse(" + ".join(map(ast.unparse, parts)), mode="eval").body
        elif kind == "Compare":
            ops = [{"Is": ast.Eq(), "IsNot": ast.NotEq()}.get(type(o).__name__, o) for o in node.ops]
            pairs = [ast.Compare(a, [o], [b]) for a, o, b in zip([node.left] + node.comparators, ops, node.comparators)]
            return pairs[0] if len(pairs) == 1 else ast.BoolOp(ast.And(), pairs)
        elif kind == "Assert":
            fail = call("fail", node.msg or ast.Constant("assertion failed"))
            return ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Expr(fail, lineno=line)], [], lineno=line)
        elif kind == "Raise":
            return ast.Expr(call("fail", *getattr(node.exc, "args", [ast.Constant(ast.unparse(node.exc or node))])), lineno=line)
        return node


def write(body, lines, indent=""):
    for s in body:
        lines += [""] * (s.lineno - 1 - len(lines))
        inner, other = getattr(s, "body", None), getattr(s, "orelse", None)
        if inner:
            s.body, s.orelse = [ast.Pass()], []
        lines.append(indent + ast.unparse(s).split("\n")[0])
        for part, head in ((inner, None), (other, "else:")) if inner else ():
            lines += [indent + head] if part and head else []
            write(part or [], lines, indent + "    ")


def translate(text):
    body = [s for s in ast.parse(text).body if not (isinstance(s, ast.If) and "__name__" in ast.unparse(s.test))]
    write(Translator().visit(ast.Module(body, [])).body, lines := [])
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    try:
        sys.stdout.write(translate(open(sys.argv[1]).read()))
    except SyntaxError as e:
        sys.exit(f"{sys.argv[1]}: {e}")
