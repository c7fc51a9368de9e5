"""The changes that tools/mutate.py tries: of one operator, constant, branch or answer at a time."""

import ast
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Final

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}


Put = Callable[[ast.AST], None]
"""Puts another node in the place of one."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """`function`: qualified name and first line of the outermost function around the change, None outside of one.
    `code` compiles the changed module."""

    path: Path
    line: int
    function: tuple[str, int] | None
    was: str
    becomes: str
    code: Callable[[], CodeType]

    def __str__(self) -> str:
        return f"{self.path.name}:{self.line}: {_shortened(self.was)}  =>  {_shortened(self.becomes)}"


def mutants_of(path: Path) -> Iterator[Mutant]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    line = 1
    for node, put, function in _places(tree, None):
        line = node.lineno if isinstance(node, ast.expr | ast.stmt) else line
        for replacement in _replacements(node):
            was, becomes = ast.unparse(node), ast.unparse(replacement)
            if was != becomes:
                code = functools.partial(_compiled, tree, path, put, node, replacement)
                yield Mutant(path, line, function, was, becomes, code)


def _compiled(tree: ast.Module, path: Path, put: Put, node: ast.AST, replacement: ast.AST) -> CodeType:
    put(ast.fix_missing_locations(ast.copy_location(replacement, node)))
    code = compile(tree, str(path), "exec", dont_inherit=True)
    put(node)
    return code


def _places(
    node: ast.AST, function: tuple[str, int] | None, outer: str = ""
) -> Iterator[tuple[ast.AST, Put, tuple[str, int] | None]]:
    """Every node that runs, with what puts another one in its place."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert | ast.JoinedStr) or _is_alias(node):
        if isinstance(node, ast.JoinedStr):
            for value in node.values:
                if isinstance(value, ast.FormattedValue):
                    yield from _children(value, function, outer)
        return
    yield from _children(node, function, outer)


def _children(
    node: ast.AST, function: tuple[str, int] | None, outer: str
) -> Iterator[tuple[ast.AST, Put, tuple[str, int] | None]]:
    for field, value in ast.iter_fields(node):
        inside, name = function, outer
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and field == "body":
            name = f"{outer}{node.name}."
            if isinstance(node, ast.FunctionDef) and function is None:
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                inside = (f"{outer}{node.name}", first)
        if field in ("annotation", "returns"):
            for call in ast.walk(value) if isinstance(value, ast.AST) else ():
                if isinstance(call, ast.Call):
                    yield from _places(call, inside, name)
        elif isinstance(value, ast.AST):
            yield value, functools.partial(setattr, node, field), inside
            yield from _places(value, inside, name)
        elif isinstance(value, list):
            for index, each in enumerate(value):
                if isinstance(each, ast.AST) and not _is_docstring(each):
                    yield each, functools.partial(value.__setitem__, index), inside
                    yield from _places(each, inside, name)


def _is_alias(node: ast.AST) -> bool:
    """Of a type: nothing that runs."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    is_type = isinstance(target, ast.Name) and target.id[:1].isupper() and not target.id.isupper()
    return is_type and isinstance(getattr(node, "value", None), ast.BinOp | ast.Subscript)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left, operators, right):
            for index, operator in enumerate(operators):
                changed = _COMPARISONS[type(operator)]()
                yield ast.Compare(left, [*operators[:index], changed, *operators[index + 1 :]], right)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
            for index in range(len(values)):
                rest = [*values[:index], *values[index + 1 :]]
                yield ast.BoolOp(operator, rest) if len(rest) > 1 else rest[0]
        case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
            yield ast.BinOp(left, _OPERATORS[type(operator)](), right)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(str() as value) if value and " " not in value:
            yield ast.Constant(value + "X")
        case ast.If(_, body, orelse) | ast.IfExp(_, body, orelse):
            for answer in (True, False):
                yield type(node)(ast.Constant(answer), body, orelse)  # type: ignore[arg-type]
        case ast.Raise():
            yield ast.Pass()
        case ast.Return(ast.AST()):
            yield ast.Return(ast.Constant(None))
        case ast.Continue():
            yield ast.Break()


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"
