"""The rules of the house as functions from a source tree to a list of violations.

They read files and never import them, so that a tree that is broken on purpose
can be judged too. The floors come from the table in ARCHITECTURE.md: there is no
second list to keep.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE_ROOT = "onemodel"
"""The package itself: its ``__init__`` gathers the public names and lies above them all."""

COLUMNS = {
    "eager": {"onemodel.tensors", "onemodel.autograd", "onemodel.operators"},
    "graph": {"onemodel.graph", "onemodel.passes", "onemodel.session", "onemodel.onnx_io"},
}
STRANGERS = {("onemodel.axes", "onemodel.kernels")}
"""Pairs that the table says do not know each other."""

LAZY_THIRD_PARTIES = {
    "PIL": "in the graph column only the ImageDecoder node needs it",
    "IPython": "slow, and absent outside notebooks",
    "onnxruntime": "slow to load; a judge, not a part",
    "rich": "only the terminal needs it",
    "safetensors": "only saving and loading need it",
    "tqdm": "only long work needs it",
}
"""Third parties that a function may import for itself, and why."""

VIEWS = "onemodel_widgets.views"
DOT = "onemodel_widgets.views.dot"
NOT_IN_VIEWS = {"IPython", "anywidget", "ipywidgets", "traitlets"}
GRAPHVIZ = {"graphviz", "graphviz_pure", "pygraphviz", "pydot"}

LONGEST_FILE = 600
LONGEST_FUNCTION = 60


@dataclass(frozen=True)
class Import:
    """One import: by which module, of what, on which line, and where it stands."""

    importer: str
    imported: str
    line: int
    in_function: str = ""
    type_only: bool = False


@dataclass(frozen=True)
class Module:
    """One source file under its dotted name."""

    name: str
    path: Path
    tree: ast.Module
    source: str
    is_package: bool


@dataclass(frozen=True)
class House:
    """The modules of a tree, and the floor of each package by the table."""

    modules: Mapping[str, Module]
    floors: Mapping[str, int]
    may_know: Mapping[int, str]
    imports: tuple[Import, ...]

    def package(self, module: str) -> str:
        """The longest prefix of ``module`` that has a floor; "" for a stranger."""
        parts = module.split(".")
        for length in range(len(parts), 0, -1):
            prefix = ".".join(parts[:length])
            if prefix in self.floors:
                return prefix
        return ""


def read_house(root: Path, architecture: str) -> House:
    """The packages ``root/onemodel`` and ``root/widgets/onemodel_widgets``."""
    modules = {}
    for base in (root, root / "widgets"):
        for package in ("onemodel", "onemodel_widgets"):
            for path in sorted((base / package).rglob("*.py")):
                module = _read(path, path.relative_to(base))
                modules[module.name] = module
    floors, may_know = read_floors(architecture)
    found = tuple(item for module in modules.values() for item in imports(module, modules))
    return House(modules, floors, may_know, found)


def _read(path: Path, relative: Path) -> Module:
    parts = list(relative.with_suffix("").parts)
    is_package = parts[-1] == "__init__"
    if is_package:
        parts.pop()
    source = path.read_text(encoding="utf-8")
    return Module(".".join(parts), path, ast.parse(source, str(path)), source, is_package)


def read_floors(architecture: str) -> tuple[dict[str, int], dict[int, str]]:
    """Floor by package, and the "may know" cell by floor, from the table in ARCHITECTURE.md.

    A package is what stands in backticks outside parentheses.
    """
    floors: dict[str, int] = {}
    may_know: dict[int, str] = {}
    for row in re.findall(r"^\|\s*(\d+)\s*\|(.*)\|(.*)\|\s*$", architecture, re.MULTILINE):
        floor, packages, knows = int(row[0]), re.sub(r"\([^)]*\)", "", row[1]), row[2].strip()
        may_know[floor] = knows
        for name in re.findall(r"`([^`]+)`", packages):
            floors[_dotted(name)] = floor
    # Above all it gathers, below those who use the package from outside.
    floors[PACKAGE_ROOT] = max(f for n, f in floors.items() if _below_the_roof(n))
    return floors, may_know


def _dotted(name: str) -> str:
    if name.startswith("widgets/"):
        return name.removeprefix("widgets/").replace("/", ".")
    return f"{PACKAGE_ROOT}.{name}"


def _below_the_roof(name: str) -> bool:
    from_outside = (f"{PACKAGE_ROOT}.cli", f"{PACKAGE_ROOT}.__main__")
    return name.startswith(f"{PACKAGE_ROOT}.") and name not in from_outside


def imports(module: Module, known: Mapping[str, Module]) -> Iterator[Import]:
    """Every import in ``module``, those inside functions and under TYPE_CHECKING included."""
    yield from _walk(module, module.tree, known, "", False)


def _walk(
    module: Module, node: ast.AST, known: Mapping[str, Module], function: str, type_only: bool
) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        for name in _targets(module, child, known):
            yield Import(module.name, name, child.lineno, function, type_only)  # type: ignore[attr-defined]
        if isinstance(child, ast.If) and _is_type_checking(child.test):
            for statement in child.body:
                yield from _walk_one(module, statement, known, function, True)
            for statement in child.orelse:
                yield from _walk_one(module, statement, known, function, type_only)
            continue
        inner = function
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = f"{function}.{child.name}".lstrip(".")
        yield from _walk(module, child, known, inner, type_only)


def _walk_one(
    module: Module, statement: ast.stmt, known: Mapping[str, Module], function: str, type_only: bool
) -> Iterator[Import]:
    holder = ast.Module(body=[statement], type_ignores=[])
    yield from _walk(module, holder, known, function, type_only)


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def _targets(module: Module, node: ast.AST, known: Mapping[str, Module]) -> Iterator[str]:
    """Modules named by one statement; a literal ``import_module("...")`` counts as one."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = _absolute(module, node)
        for alias in node.names:
            submodule = f"{base}.{alias.name}"
            yield submodule if submodule in known else base
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        first = node.args[0] if node.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    keep = len(parts) - node.level + (1 if module.is_package else 0)
    return ".".join([*parts[:keep], *([node.module] if node.module else [])])


def every_package_has_a_floor(house: House) -> list[str]:
    """A package that the table does not name has no place in the house."""
    strays = {name for name in house.modules if not _has_own_floor(house, name)}
    return [f"{name} is on no floor of ARCHITECTURE.md" for name in sorted(strays)]


def _has_own_floor(house: House, name: str) -> bool:
    return house.package(name) != PACKAGE_ROOT or name == PACKAGE_ROOT


def downward_only(house: House) -> list[str]:
    """No import goes to a floor above; the lowest floors know only what the table grants."""
    found = []
    for item in house.imports:
        mine, theirs = house.package(item.importer), house.package(item.imported)
        if not mine or not theirs or mine == theirs:
            continue
        here, there = house.floors[mine], house.floors[theirs]
        if there > here:
            reason = f"floor {here} may not know floor {there}"
        elif here == there and not _may_meet(house, mine, theirs):
            reason = f"on floor {here} packages do not know each other"
        else:
            continue
        found.append(f"{item.importer}:{item.line} imports {item.imported}: {reason}")
    return found


def _may_meet(house: House, mine: str, theirs: str) -> bool:
    """Neighbours on one floor may, unless the table grants "nothing of ours" or a lower floor."""
    if mine.startswith(f"{theirs}.") or theirs.startswith(f"{mine}."):
        return True
    cell = house.may_know.get(house.floors[mine], "")
    return not re.match(r"nothing of ours|floor \d+", cell)


def columns_stay_apart(house: House) -> list[str]:
    """Neither column imports the other; nor do the pairs that are to be strangers."""
    pairs = {(a, b) for a in COLUMNS["eager"] for b in COLUMNS["graph"]} | STRANGERS
    found = []
    for item in house.imports:
        mine, theirs = house.package(item.importer), house.package(item.imported)
        if (mine, theirs) in pairs or (theirs, mine) in pairs:
            found.append(f"{item.importer}:{item.line} imports {item.imported}")
    return found


def no_circles(house: House) -> list[str]:
    """Modules that import each other when they are loaded, as one chain a circle."""
    edges: dict[str, set[str]] = {name: set() for name in house.modules}
    for item in house.imports:
        at_load = not item.in_function and not item.type_only
        if at_load and item.imported in edges and item.imported != item.importer:
            edges[item.importer].add(item.imported)
    found, done = [], set()
    for start in sorted(edges):
        circle = _circle_through(start, edges, done)
        if circle:
            found.append(" -> ".join(circle))
            done.update(circle)
    return found


def _circle_through(start: str, edges: Mapping[str, set[str]], done: set[str]) -> list[str]:
    """The shortest way from ``start`` back to itself, or []; what is in ``done`` was told."""
    if start in done:
        return []
    ways = [[start]]
    seen: set[str] = set()
    for way in ways:  # grows while it is walked: breadth first
        for target in sorted(edges[way[-1]]):
            if target == start:
                return [*way, start]
            if target not in seen:
                seen.add(target)
                ways.append([*way, target])
    return []


def imports_stand_at_the_top(house: House) -> list[str]:
    """Inside functions only the lazy third parties; the package root may load its own lazily."""
    found = []
    for item in house.imports:
        if not item.in_function:
            continue
        top = item.imported.split(".")[0]
        if top in LAZY_THIRD_PARTIES:
            continue
        if item.importer == PACKAGE_ROOT and item.in_function == "__getattr__":
            continue  # PEP 562: what needs onnx is loaded when it is asked for
        found.append(f"{item.importer}:{item.line} imports {item.imported} in {item.in_function}()")
    return found


def views_are_plain(house: House) -> list[str]:
    """Views import no widget library, and only ``views/dot.py`` knows Graphviz."""
    found = []
    for item in house.imports:
        top = item.imported.split(".")[0]
        in_views = item.importer == VIEWS or item.importer.startswith(f"{VIEWS}.")
        if (in_views and top in NOT_IN_VIEWS) or (top in GRAPHVIZ and item.importer != DOT):
            found.append(f"{item.importer}:{item.line} imports {item.imported}")
    return found


def files_are_short(house: House, allowed: Mapping[str, str]) -> list[str]:
    """Files above :data:`LONGEST_FILE` lines, docstrings not counted; ``allowed``: name -> why."""
    found = []
    for name, module in house.modules.items():
        lines = len(module.source.splitlines()) - _docstring_lines(module.tree)
        if lines > LONGEST_FILE and name not in allowed:
            found.append(f"{name} has {lines} lines, at most {LONGEST_FILE}")
    return found


def functions_are_short(house: House, allowed: Mapping[str, str]) -> list[str]:
    """Functions above :data:`LONGEST_FUNCTION` lines, docstrings not counted."""
    found = []
    for name, module in house.modules.items():
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            lines = (node.end_lineno or node.lineno) - node.lineno + 1 - _docstring_lines(node)
            if lines > LONGEST_FUNCTION and f"{name}.{node.name}" not in allowed:
                found.append(f"{name}:{node.lineno} {node.name}() has {lines} lines")
    return found


def _docstring_lines(tree: ast.AST) -> int:
    """Lines of strings that stand alone as statements, attribute docstrings included."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def allowances_are_needed(
    house: House, files: Mapping[str, str], functions: Mapping[str, str]
) -> list[str]:
    """Entries of the allow-lists that no longer allow anything."""
    long_files = {text.split()[0] for text in files_are_short(house, {})}
    long_functions = {
        f"{text.split(':')[0]}.{text.split()[1].rstrip('()')}"
        for text in functions_are_short(house, {})
    }
    return sorted((set(files) - long_files) | (set(functions) - long_functions))
