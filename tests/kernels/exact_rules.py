"""What code for exact mode may use, judged by reading it.

The functions of exact mode are held to a list of what is allowed, since almost nothing is;
kernels that serve exact mode as they are, to a list of what is known to differ.
"""

from __future__ import annotations

import ast
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[2] / "onemodel" / "kernels"
EXACT = KERNELS / "exact"
PACKAGE = "onemodel.kernels.exact"


def words(text: str) -> frozenset[str]:
    """A list of names, without a quote around each."""
    return frozenset(text.split())


ALLOWED_NUMPY = words(
    """
    abs add arange array asarray ascontiguousarray bitwise_and broadcast_arrays copysign copyto
    divide dtype empty equal errstate flatnonzero float32 float64 floor fmin greater inf int32
    int64 isnan left_shift less maximum minimum multiply nan ndarray negative ones_like
    right_shift rint roll signbit sqrt subtract take where zeros_like
    """
)
"""Single operations that IEEE 754 rounds correctly, or that move and inspect bits."""

ALLOWED_MATH = {"frexp", "inf", "isfinite", "isqrt", "nan"}
DIFFERENT = words(
    """
    arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt convolve cos cosh dot einsum erf
    exp exp2 expm1 fft hypot inner linalg log log10 log1p log2 logaddexp matmul power sin sinh
    tan tanh tensordot vdot
    """
)
"""What NumPy computes differently on some processor, with some BLAS or some C library."""

METHODS = DIFFERENT | {"cumsum", "mean", "prod", "round", "sum"}
SORTS = {"argsort", "sort"}
DECIDING = {"positive_part", "negative_part"}


def functions_of_exact_mode() -> list[Path]:
    """``exact/functions.py`` and the files that it is made of, by their imports."""
    found: dict[str, Path] = {}
    waiting = ["functions"]
    while waiting:
        stem = waiting.pop()
        if stem in found:
            continue
        found[stem] = EXACT / f"{stem}.py"
        tree = ast.parse(found[stem].read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
                names = [node.module.rpartition(".")[2], *(alias.name for alias in node.names)]
                waiting += [name for name in names if (EXACT / f"{name}.py").exists()]
    return [found[stem] for stem in sorted(found)]


def not_allowed(source: str) -> list[str]:
    """Each use in ``source`` of something that exact functions may not use, with its line."""
    tree = ast.parse(source)
    constants = _constants(tree)
    return [
        f"line {getattr(node, 'lineno', 0)}: {text}"
        for node in ast.walk(tree)
        if (text := _complaint(node, constants)) and not _decides_zero(tree, node)
    ]


def _complaint(node: ast.AST, constants: set[str]) -> str | None:
    if isinstance(node, ast.BinOp | ast.AugAssign):
        base = node.left if isinstance(node, ast.BinOp) else node.target
        if isinstance(node.op, ast.MatMult):
            return "a matrix product"
        if isinstance(node.op, ast.Pow) and not _number(base):
            return "a power of something that is no literal number"
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        if name in {"sum", "pow"}:
            return f"{name}()"
        if name in {"np.maximum", "np.minimum"} and not _other_than_zero(node.args[1], constants):
            return f"{name} with what may be a zero"
    return _attribute(node) if isinstance(node, ast.Attribute) else None


def _attribute(node: ast.Attribute) -> str | None:
    owner = node.value.id if isinstance(node.value, ast.Name) else ""
    if owner == "np":
        return None if node.attr in ALLOWED_NUMPY else f"np.{node.attr}"
    if owner == "math":
        return None if node.attr in ALLOWED_MATH else f"math.{node.attr}"
    ours = owner == "constants" or owner.startswith("exact_")
    return f"the method {node.attr}" if node.attr in METHODS and not ours else None


def _decides_zero(tree: ast.Module, node: ast.AST) -> bool:
    """Whether a maximum or minimum stands in one of the two functions made to decide it."""
    return any(
        inner is node
        for function in tree.body
        if isinstance(function, ast.FunctionDef) and function.name in DECIDING
        for inner in ast.walk(function)
    )


def _constants(tree: ast.Module) -> set[str]:
    """Module constants that are other numbers than zero."""
    names: set[str] = set()
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs: list[tuple[ast.expr, ast.expr]] = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            names |= {ast.unparse(one) for one, value in pairs if _arithmetic(value)}
    return names


def _arithmetic(node: ast.AST) -> bool:
    allowed = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
    return all(isinstance(part, allowed) for part in ast.walk(node)) and not _zero(node)


def _zero(node: ast.AST) -> bool:
    return ast.unparse(node).lstrip("-") in ("0", "0.0")


def _other_than_zero(node: ast.AST, constants: set[str]) -> bool:
    plain = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(plain, ast.BinOp):
        return all(_other_than_zero(part, constants) for part in (plain.left, plain.right))
    if isinstance(plain, ast.Name):
        return plain.id in constants
    return _number(plain) and not _zero(plain)


def _number(node: ast.AST) -> bool:
    plain = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(plain, ast.Constant) and isinstance(plain.value, int | float)


def differing(source: str) -> list[str]:
    """Each use in a kernel of what NumPy computes differently somewhere, with its line."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found.append(f"line {node.lineno}: a matrix product")
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("np."):
            name = ast.unparse(node.func).removeprefix("np.").partition(".")[0]
            stable = any(
                word.arg == "kind" and ast.unparse(word.value) == "'stable'"
                for word in node.keywords
            )
            if name in DIFFERENT or (name in SORTS and not stable):
                found.append(f"line {node.lineno}: np.{name}")
    return found
