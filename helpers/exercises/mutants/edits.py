"""The mistakes themselves: every small edit of a syntax tree that a hurried learner might make."""

import ast
import copy
import functools
from dataclasses import dataclass

__all__ = ["Mutant", "edits", "mutants"]

OPERATORS = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.MatMult: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Div, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
FUNCTIONS = {
    "max": ("min", "mean", "sum", "maximum"),
    "min": ("max",),
    "amax": ("min", "mean"),
    "mean": ("sum", "max"),
    "sum": ("mean", "max", "prod"),
    "prod": ("sum",),
    "cumsum": ("cumprod",),
    "maximum": ("minimum", "max"),
    "minimum": ("maximum",),
    "argmax": ("argmin",),
    "argmin": ("argmax",),
    "sin": ("cos",),
    "cos": ("sin",),
    "exp": ("exp2", "expm1"),
    "log": ("log2", "log1p"),
    "sqrt": ("square",),
    "var": ("std",),
    "std": ("var",),
    "zeros": ("ones",),
    "ones": ("zeros",),
    "zeros_like": ("ones_like",),
    "ones_like": ("zeros_like",),
    "floor": ("ceil",),
    "ceil": ("floor",),
    "vstack": ("hstack",),
    "hstack": ("vstack",),
    "concatenate": ("stack",),
    "stack": ("concatenate",),
    "triu": ("tril",),
    "tril": ("triu",),
    "repeat": ("tile",),
    "tile": ("repeat",),
    "random": ("normal",),
    "append": ("extend",),
    "any": ("all",),
    "all": ("any",),
}
IN_PLACE = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv"}
PROBE = "_probe"  # the name under which a mutant finds its Probe


@dataclass(frozen=True)
class Mutant:
    """One mistake: the statement before and after it, and the whole source with it."""

    line: int
    before: str
    after: str
    source: str

    @property
    def change(self):
        return f"{self.before} → {self.after}"


def mutants(source):
    """The mutants of a function or class, a list without repetitions."""
    distinct = {}
    for edit in edits(source):
        if mutant := edit():
            distinct.setdefault(mutant.source, mutant)
    return [*distinct.values()]


def edits(source):
    """What makes the mutants of a function or class: functions without inputs, in a list.

    Each returns a Mutant, or None where its mistake changes nothing or leaves no Python. To make
    them takes a hundred times as long as to list them.
    """
    tree = ast.parse(source)
    names, unchanged = _Names(tree), ast.unparse(tree)
    listed = [
        functools.partial(_mutant, tree, place, new, unchanged)
        for place in _places(tree)
        for new in _edits(place, names)
    ]
    if isinstance(tree.body[0], ast.FunctionDef):
        listed += _forgetful(tree.body[0], unchanged)
    return listed


@dataclass(frozen=True)
class _Place:
    """A node and where it hangs: parent.field, or parent.field[index]; and its statement."""

    node: ast.AST
    parent: ast.AST
    field: str
    index: int | None
    statement: ast.stmt

    def put(self, new):
        if self.index is None:
            setattr(self.parent, self.field, new)
        else:
            getattr(self.parent, self.field)[self.index] = new


def _places(parent, statement=None):
    for field, value in ast.iter_fields(parent):
        nodes = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, node in nodes:
            if isinstance(node, ast.AST):
                inside = node if isinstance(node, ast.stmt) else statement
                yield _Place(node, parent, field, index, inside)
                yield from _places(node, inside)


def _mutant(tree, place, new, unchanged):
    before = _header(place.statement)
    place.put(new)
    ast.fix_missing_locations(tree)
    try:
        source = ast.unparse(tree)
        after = _header(new if place.node is place.statement else place.statement)
    finally:
        place.put(place.node)
    if source == unchanged or not _compiles(source):
        return None
    return Mutant(getattr(place.node, "lineno", 0), before, after, source)


def _header(statement):
    """The first line of a statement, without what an if, a loop or a function holds."""
    text = ast.unparse(statement)
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        text = "\n".join(text.splitlines()[len(statement.decorator_list) :])
    return text.partition("\n")[0].replace(f"{PROBE}.", "")


def _compiles(source):
    try:
        compile(source, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


class _Names:
    """The names that the source itself binds: the function's inputs, and all of them."""

    def __init__(self, tree):
        nodes = list(ast.walk(tree))
        self.inputs = {node.arg for node in nodes if isinstance(node, ast.arg)} - {"self"}
        bound = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.all = sorted(bound | self.inputs)


# ------------------------------------------------------------------------------------------ edits


def _edits(place, names):
    """The nodes that may stand in the place of a node, one mistake each."""
    node = place.node
    if isinstance(node, ast.stmt):
        yield from _statement_edits(place)
    elif isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store):
        yield from _expression_edits(place, names)


def _changed(node, **fields):
    """A copy of the node with other fields."""
    new = copy.copy(node)
    for field, value in fields.items():
        setattr(new, field, value)
    return new


def _call(name, *arguments):
    """A call of the mutant's probe."""
    function = ast.Attribute(ast.Name(PROBE, ast.Load()), name, ast.Load())
    return ast.Call(function, list(arguments), [])


def _expression_edits(place, names):
    node = place.node
    match node:
        case ast.BinOp():
            for operator in OPERATORS.get(type(node.op), ()):
                yield _changed(node, op=operator())
            yield node.left  # a term or a factor is dropped
            yield node.right
            if isinstance(node.op, ast.MatMult | ast.Sub | ast.Div | ast.FloorDiv | ast.Mod):
                yield _changed(node, left=node.right, right=node.left)
            if isinstance(node.op, ast.MatMult):
                yield _call("turned", node)
            if type(node.op) in IN_PLACE and getattr(node.left, "id", None) in names.inputs:
                operation = ast.Constant(IN_PLACE[type(node.op)])
                yield _call("in_place", operation, node.left, node.right)
        case ast.UnaryOp():
            yield node.operand
        case ast.BoolOp():
            yield _changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
            yield from node.values
        case ast.Compare():
            for operator in COMPARISONS[type(node.ops[0])]:
                yield _changed(node, ops=[operator(), *node.ops[1:]])
        case ast.IfExp():
            yield node.body
            yield node.orelse
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            x = node.value
            others = {x + 1, x - 1, -x, 2 * x, 0, 1} - {x}
            if _is_axis(place):
                others -= {-x}  # of a matrix, the axes 1 and −1 are the same
            yield from map(ast.Constant, sorted(others))
        case ast.Attribute(attr="T" | "mT"):
            yield node.value
        case ast.Attribute():
            for other in FUNCTIONS.get(node.attr, ()):
                yield _changed(node, attr=other)
        case ast.Name():
            yield from _name_edits(place, names)
        case ast.Call():
            yield from _call_edits(node)
        case ast.Subscript():
            yield node.value
            if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
                yield _call("first_seen", node)
        case ast.Tuple() | ast.List() if len(node.elts) > 1:
            first, second, *others = node.elts
            yield _changed(node, elts=[second, first, *others])
        case ast.Slice():
            yield ast.Slice()
            for bound in ("lower", "upper"):
                if getattr(node, bound) is not None:
                    for sign in (ast.Add, ast.Sub):
                        shifted = ast.BinOp(getattr(node, bound), sign(), ast.Constant(1))
                        yield _changed(node, **{bound: shifted})
    if isinstance(place.parent, ast.Subscript) and place.field == "slice":
        if not isinstance(node, ast.Slice | ast.Tuple | ast.Constant):
            yield ast.BinOp(node, ast.Sub(), ast.Constant(1))


def _is_axis(place):
    """Whether a number says which axis: axis=1, or X.shape[1]."""
    shape = isinstance(place.parent, ast.Subscript) and getattr(place.parent.value, "attr", None)
    return shape == "shape" or getattr(place.parent, "arg", None) in {"axis", "dim"}


def _name_edits(place, names):
    node = place.node
    if node.id not in names.all or place.field == "func":
        return
    for other in names.all:
        if other != node.id:
            yield ast.Name(other, ast.Load())
    yield _call("turned", node)
    if node.id in names.inputs and getattr(place.parent, "attr", None) != "shape":
        yield _call("whole", node)
    if node.id in names.inputs:
        yield _call("first_seen", node)


def _call_edits(node):
    if isinstance(node.func, ast.Name):
        for other in FUNCTIONS.get(node.func.id, ())[:1]:
            yield _changed(node, func=ast.Name(other, ast.Load()))
        if node.func.id == "len":
            yield _call("first_seen", node)
    if isinstance(node.func, ast.Name) and node.func.id == "range":
        last = node.args[-1] if len(node.args) < 3 else node.args[1]
        k = node.args.index(last)
        for sign in (ast.Add, ast.Sub):
            shifted = ast.BinOp(last, sign(), ast.Constant(1))
            yield _changed(node, args=[*node.args[:k], shifted, *node.args[k + 1 :]])
        if len(node.args) == 1:
            yield _changed(node, args=[ast.Constant(1), *node.args])
    if len(node.args) == 1 and not node.keywords:
        yield node.args[0]  # the function is forgotten
    if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name):
        yield node.func.value  # the method is forgotten
    if len(node.args) >= 2:
        first, second, *others = node.args
        yield _changed(node, args=[second, first, *others])
    for k, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            yield _changed(node, keywords=[*node.keywords[:k], *node.keywords[k + 1 :]])


def _statement_edits(place):
    node = place.node
    match node:
        case ast.AugAssign():
            yield ast.Assign([node.target], node.value)
            for operator in OPERATORS.get(type(node.op), ()):
                yield _changed(node, op=operator())
        case ast.Assign(targets=[ast.Subscript()]):
            yield ast.AugAssign(node.targets[0], ast.Add(), node.value)
        case ast.Assign(targets=[ast.Tuple() as target]) if len(target.elts) > 1:
            first, second, *others = target.elts
            yield _changed(node, targets=[_changed(target, elts=[second, first, *others])])
        case ast.If():
            yield _changed(node, test=ast.Constant(True))
            yield _changed(node, test=ast.Constant(False))
            if node.orelse:
                yield _changed(node, body=node.orelse, orelse=node.body)
        case ast.For() | ast.While():
            after = getattr(place.parent, place.field)[place.index + 1 :]
            if after and isinstance(after[0], ast.Return):
                yield _changed(node, body=[*node.body, after[0]])  # return inside the loop
            yield _changed(node, body=[*node.body, ast.Break()])
    if isinstance(node, ast.Assign | ast.AugAssign | ast.If | ast.For) or (
        isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
    ):
        yield ast.Pass()  # the statement is forgotten


def _forgetful(function, source):
    """The function with its results kept between calls: see Probe.kept."""
    inputs = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    for forgotten in (None, *range(len(inputs))):
        of = "the numbers in arrays" if forgotten is None else inputs[forgotten]
        kept = f"{function.name} = {PROBE}.kept({function.name}, {forgotten})"
        after = f"the same, with results kept between calls, whatever {of}"
        yield functools.partial(
            Mutant, function.lineno, _header(function), after, f"{source}\n\n{kept}"
        )
