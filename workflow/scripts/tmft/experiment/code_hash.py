"""Code as an input of a rule: a hash that changes with what a script does, not with how it is commented or typed."""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path


def code_hash(script: Path, *modules: Path) -> str:
    """Hash a script, other modules, and every library module they reach, without comments, docstrings and layout.

    What stands under ``if TYPE_CHECKING`` never runs and does not count. Two equal hashes mean equal code; the hash
    depends neither on file times nor on where the files lie.
    """
    digest = hashlib.sha256()
    for path in sorted(reachable(script, *modules), key=lambda path: path.relative_to(script.parent).as_posix()):
        digest.update(path.relative_to(script.parent).as_posix().encode() + b"\0" + _normalised(path).encode() + b"\0")
    return digest.hexdigest()[:16]


def reachable(script: Path, *modules: Path) -> set[Path]:
    """A script, other modules, and those of the library beside it that they import, directly or through others."""
    found, waiting = set(), [script, *modules]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(_imported(path, script.parent))
    return found


@cache
def _imported(path: Path, root: Path) -> list[Path]:
    return [file for name in _imported_names(_parsed(path)) for file in _files(name, root)]


def _imported_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _files(name: str, root: Path) -> Iterator[Path]:
    """The source files that importing ``name`` runs, where they belong to the library under ``root``."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        stem = root.joinpath(*parts[:end])
        yield from (file for file in (stem / "__init__.py", stem.with_suffix(".py")) if file.is_file())


@cache
def _normalised(path: Path) -> str:
    return ast.unparse(_parsed(path))


@cache
def _parsed(path: Path) -> ast.Module:
    """What of a module runs: the syntax tree without docstrings and without what is there for type checkers only."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            body = [statement for statement in node.body if not _for_type_checkers(statement)]
            documented = body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
            if documented and isinstance(body[0].value.value, str):
                body = body[1:]
            node.body = body or ([] if isinstance(node, ast.Module) else [ast.Pass()])
    return tree


def _for_type_checkers(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING" and not statement.orelse
