# SPDX-License-Identifier: Apache-2.0
"""Digests of what decides a result, and of nothing else: neither where a file stands nor how a name is spelt there.

A recipe of the library outlives moves of files, renamed variables, comments and sorted imports; a change of what the
code does is a change of its digest.
"""

import ast
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from ace_flow.rtl import plain


def of(value: Any) -> str:
    """The digest of what JSON can say."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def sources(files: Iterable[Path]) -> list[str]:
    """The digests of SystemVerilog, without comments and white space, in an order that no path decides."""
    return sorted(hashlib.sha256(plain(file.read_text()).encode()).hexdigest() for file in files)


def code(module: ModuleType) -> str:
    """The digest of what a module of the flow does: its syntax tree without imports and docstrings, in which its own
    names are numbered as they come."""
    tree = ast.parse(Path(module.__file__).read_text())
    own = {name for node in ast.walk(tree) for name in _bound(node)}
    return of(_shape(tree, own, {}))


def _bound(node: ast.AST) -> list[str]:
    """The names that a node of the tree makes."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.MatchAs(name=str(name)) | ast.ExceptHandler(name=str(name)):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
    return []


def _shape(value: Any, own: set[str], numbers: dict[str, int]) -> Any:
    """A part of a tree as JSON. What is empty is left out, so that a field that a later Python adds changes nothing."""
    if isinstance(value, list):
        parts = [
            part for part in value if not isinstance(part, ast.Import | ast.ImportFrom) and not _says(part)
        ]
        return [_shape(part, own, numbers) for part in parts]
    if not isinstance(value, ast.AST):
        return repr(value)
    fields: dict[str, Any] = {}
    for name, part in ast.iter_fields(value):
        if part is None or part == []:
            continue
        if name in ("id", "arg", "name") and isinstance(part, str) and _is_own(value, part, own):
            fields[name] = numbers.setdefault(part, len(numbers))
        else:
            fields[name] = _shape(part, own, numbers)
    return [type(value).__name__, fields]


def _is_own(node: ast.AST, name: str, own: set[str]) -> bool:
    """Whether a word of a node is a name of the module's own; a keyword of a call is a name of another's."""
    return name in own and not isinstance(node, ast.keyword)


def _says(node: Any) -> bool:
    """Whether a statement is a string, which does nothing."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
