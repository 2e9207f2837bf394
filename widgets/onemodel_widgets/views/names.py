"""Names of things in a view: keys of nodes, scopes, and text made safe to show.

Names come from files nobody here wrote. They are data: control characters,
bidirectional overrides and lone surrogates are replaced, length is capped
where it is only shown, and nothing is ever interpreted.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Iterator, Sequence

from onemodel.graph.ir import Graph, Node

_SCOPES_KEY = "pkg.torch.onnx.name_scopes"
"""Metadata in which PyTorch's exporter writes the module path of a node, as a list literal."""

_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_SPECIAL = {"\n": "\N{SYMBOL FOR NEWLINE}", "\t": " ", "\r": "\N{SYMBOL FOR CARRIAGE RETURN}"}
_PLAIN = re.compile(r"[ -~]*\Z")
_NUMBER = re.compile(r"\d+\Z")


def clean(text: str) -> str:
    """``text`` with every invisible or control character replaced by a visible one."""
    if _PLAIN.match(text):
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if unicodedata.category(character) in _HIDDEN_CATEGORIES:
        return "\N{REPLACEMENT CHARACTER}"
    return character


def shorten(text: str, limit: int) -> str:
    """``text`` cleaned and cut in its middle to at most ``limit`` characters."""
    text = clean(text[: 4 * limit] + text[-2 * limit :] if len(text) > 6 * limit else text)
    if len(text) <= limit:
        return text
    tail = max(1, (limit - 1) // 2)
    head = limit - 1 - tail
    return f"{text[:head]}\N{HORIZONTAL ELLIPSIS}{text[-tail:]}"


def node_keys(graph: Graph) -> dict[Node, str]:
    """A unique, printable key per node, bodies of If, Loop and Scan included.

    The key is the node's name; where that is empty or taken, its first output's
    name; else the operator and a number. A node in a body carries the key of
    the node that owns the body and a slash in front.
    """
    keys: dict[Node, str] = {}
    _add_keys(graph, "", keys, set())
    return keys


def _add_keys(graph: Graph, prefix: str, keys: dict[Node, str], taken: set[str]) -> None:
    for index, node in enumerate(graph.nodes):
        candidates = [node.name, *(value.name for value in node.outputs[:1])]
        named = (prefix + clean(name) for name in candidates if name)
        numbered = f"{prefix}{clean(node.op_type)}#{index}"
        key = next((name for name in named if name not in taken), numbered)
        while key in taken:
            key += "'"
        taken.add(key)
        keys[node] = key
        for number, body in enumerate(node.subgraphs()):
            _add_keys(body, f"{key}/{number}/", keys, taken)


def scope_of(node: Node) -> tuple[str, ...]:
    """Module path of a node, outermost first: ``("encoder", "layers.0", "attn")``.

    From another exporter's metadata where there is some, else from the trace, else
    from a name with slashes. A number joins the component before it, so that an
    item of a list of modules is one step.
    """
    return _stated_scope(node) or ()


def scopes_of(nodes: Sequence[Node]) -> dict[Node, tuple[str, ...]]:
    """Module paths of a graph's nodes.

    A node that says nothing of its module (rewriters leave such nodes) and stands
    between others belongs to the innermost module that holds all of them.
    """
    stated = {node: _stated_scope(node) for node in nodes}
    if not any(stated.values()):
        return dict.fromkeys(nodes, ())
    readers: dict[Node, list[Node]] = {}
    for node in nodes:
        for value in node.inputs:
            if value is not None and value.producer is not None:
                readers.setdefault(value.producer, []).append(node)
    scopes: dict[Node, tuple[str, ...]] = {}
    for node in nodes:
        scope = stated[node]
        if scope is None:
            above = [scopes[v.producer] for v in node.inputs if v and v.producer in scopes]
            known = (stated[reader] for reader in readers.get(node, ()))
            below = [path for path in known if path is not None]
            scope = _common_prefix([*above, *below]) if above and below else ()
        scopes[node] = scope
    return scopes


def _common_prefix(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    if not paths:
        return ()
    shared = 0
    for steps in zip(*paths, strict=False):
        if len(set(steps)) > 1:
            break
        shared += 1
    return paths[0][:shared]


def _stated_scope(node: Node) -> tuple[str, ...] | None:
    """The module path a node states itself; None where it states nothing."""
    listed = _metadata_scope(node)
    if listed is not None:
        return _join_numbers(listed.split("."))
    origin = node.origin
    if origin is not None and ": " in origin.scope and origin.site is None:
        steps = clean(origin.scope).split("/")[:-1]
        return _join_numbers(steps[-1].split(": ")[0].split(".")) if steps else ()
    if origin is not None and (origin.scope or origin.site is not None):
        return _join_numbers(clean(origin.scope).split("."))
    if "/" in node.name:
        parts = [part for part in clean(node.name).split("/")[:-1] if part]
        return _without_repeated_prefix(parts)
    return None


def _metadata_scope(node: Node) -> str | None:
    text = node.metadata.get(_SCOPES_KEY, "")
    if not text or len(text) > 10_000:
        return None
    try:
        scopes = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if not isinstance(scopes, list) or len(scopes) < 2:
        return None
    return clean(str(scopes[-2]))


def _join_numbers(parts: list[str]) -> tuple[str, ...]:
    joined: list[str] = []
    for part in parts:
        if joined and _NUMBER.match(part):
            joined[-1] = f"{joined[-1]}.{part}"
        elif part:
            joined.append(part)
    return tuple(joined)


def _without_repeated_prefix(parts: list[str]) -> tuple[str, ...]:
    # TorchScript writes /layer1/layer1.0/conv1: the second step repeats the first.
    steps: list[str] = []
    for part in parts:
        if steps and part.startswith(f"{steps[-1]}."):
            number = part[len(steps[-1]) + 1 :]
            if _NUMBER.match(number):
                steps[-1] = part
                continue
        steps.append(part)
    return tuple(steps)


def scope_label(scope: tuple[str, ...]) -> str:
    """A scope as it is written: ``encoder.layers.0``."""
    return ".".join(scope)


def all_nodes(graph: Graph) -> Iterator[Node]:
    """Every node, those in bodies after the node that owns them."""
    for node in graph.nodes:
        yield node
        for body in node.subgraphs():
            yield from all_nodes(body)
