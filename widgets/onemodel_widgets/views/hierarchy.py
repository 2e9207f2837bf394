"""The tree of modules over the nodes of a graph, and which of them are open.

A group is a module scope, a run of identical modules ("x12"), a stretch of a
graph too long to show, or a body of If, Loop or Scan. Which groups are open is
the whole state of a view's folding.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from onemodel.graph.ir import Graph, Node, format_shape
from onemodel_widgets.views.names import scope_label, scopes_of

MAX_CHILDREN = 120
"""A group with more direct children is cut into stretches of about the square root."""

MIN_REPEATS = 3


@dataclass(eq=False)
class Group:
    """Part of a graph that is one box when closed and a cluster when open.

    ``kind`` is ``root``, ``module``, ``repeat``, ``stretch`` or ``body``.
    ``owner`` is the node whose body this is.
    """

    key: str
    title: str
    kind: str = "module"
    children: list[Group | Node] = field(default_factory=list)
    parent: Group | None = None
    owner: Node | None = None
    size: int = 0

    def nodes(self) -> Iterator[Node]:
        """Nodes below, in order."""
        for child in self.children:
            if isinstance(child, Group):
                yield from child.nodes()
            else:
                yield child

    def groups(self) -> Iterator[Group]:
        """This group and those below."""
        yield self
        for child in self.children:
            if isinstance(child, Group):
                yield from child.groups()

    def path(self) -> tuple[Group, ...]:
        """From below the root down to this group."""
        above = self.parent.path() if self.parent is not None else ()
        return above if self.kind == "root" else (*above, self)


def build(
    nodes: Sequence[Node],
    bodies: Mapping[Node, Sequence[tuple[str, Graph, Sequence[Node]]]],
    keys: Mapping[Node, str],
) -> Group:
    """The tree over ``nodes`` (folded, in order).

    ``bodies`` gives, per node, its subgraphs as (attribute, graph, folded nodes).
    """
    root = Group(key="", title="", kind="root")
    index: dict[tuple[str, ...], Group] = {(): root}
    _fill(root, nodes, bodies, keys, index)
    _finish(root)
    return root


def _fill(
    root: Group,
    nodes: Sequence[Node],
    bodies: Mapping[Node, Sequence[tuple[str, Graph, Sequence[Node]]]],
    keys: Mapping[Node, str],
    index: dict[tuple[str, ...], Group],
) -> None:
    prefix = root.key
    scopes = scopes_of(nodes)
    for node in nodes:
        scope = scopes[node]
        group = root
        for depth in range(1, len(scope) + 1):
            path = scope[:depth]
            below = index.get(path)
            if below is None:
                key = f"{prefix}/{scope_label(path)}" if prefix else scope_label(path)
                below = Group(key=key, title=path[-1], parent=group)
                index[path] = below
                group.children.append(below)
            group = below
        if node in bodies:
            group.children.append(_body_group(node, bodies, keys, group))
        else:
            group.children.append(node)


def _body_group(
    node: Node,
    bodies: Mapping[Node, Sequence[tuple[str, Graph, Sequence[Node]]]],
    keys: Mapping[Node, str],
    parent: Group,
) -> Group:
    """A node with bodies: a group of its bodies and, last, of the node itself."""
    owner = Group(key=f"{keys[node]}{{}}", title=node.op_type, kind="body", parent=parent)
    owner.owner = node
    for attribute, _graph, inner in bodies[node]:
        body = Group(key=f"{keys[node]}{{{attribute}}}", title=attribute, kind="body", parent=owner)
        _fill(body, inner, bodies, keys, {(): body})
        owner.children.append(body)
    owner.children.append(node)
    return owner


def _finish(group: Group) -> None:
    """Children first: sizes, single-node modules inlined, repeats and stretches folded."""
    children: list[Group | Node] = []
    for child in group.children:
        if isinstance(child, Group):
            _finish(child)
            if child.kind == "module" and len(child.children) <= 1:
                _adopt(group, child, children)
                continue
        children.append(child)
    group.children = children
    group.size = sum(c.size if isinstance(c, Group) else 1 for c in children)
    if len(children) >= MIN_REPEATS:
        group.children = _fold_repeats(group)
    if len(group.children) > MAX_CHILDREN:
        group.children = _cut_into_stretches(group)


def _adopt(group: Group, child: Group, children: list[Group | Node]) -> None:
    for grandchild in child.children:
        if isinstance(grandchild, Group):
            grandchild.parent = group
            if grandchild.kind == "module":
                grandchild.title = f"{child.title}.{grandchild.title}"
        children.append(grandchild)


def _signature(child: Group | Node) -> tuple[object, ...] | None:
    """Equal for modules with the same operators and result shapes in order; None for a node."""
    if not isinstance(child, Group) or child.kind != "module":
        return None
    return tuple(
        (
            node.domain,
            node.op_type,
            len(node.inputs),
            *(format_shape(v.shape) for v in node.outputs),
        )
        for node in child.nodes()
    )


def _fold_repeats(group: Group) -> list[Group | Node]:
    result: list[Group | Node] = []
    run: list[Group] = []
    run_signature: tuple[object, ...] | None = None
    for child in [*group.children, None]:
        signature = None if child is None else _signature(child)
        if run and signature is not None and signature == run_signature:
            run.append(child)  # type: ignore[arg-type]
            continue
        result.extend(_repeat(run, group))
        run = []
        if isinstance(child, Group) and signature is not None:
            run, run_signature = [child], signature
        elif child is not None:
            result.append(child)
    return result


def _repeat(run: list[Group], parent: Group) -> list[Group]:
    if len(run) < MIN_REPEATS:
        return run
    first, last = run[0], run[-1]
    repeat = Group(
        key=f"{first.key}\N{MULTIPLICATION SIGN}{len(run)}",
        title=f"{first.title} \N{HORIZONTAL ELLIPSIS} {last.title}",
        kind="repeat",
        children=list(run),
        parent=parent,
        size=sum(member.size for member in run),
    )
    for member in run:
        member.parent = repeat
    if len(run) > MAX_CHILDREN:
        repeat.children = _cut_into_stretches(repeat)
    return [repeat]


def _cut_into_stretches(group: Group) -> list[Group | Node]:
    children = group.children
    length = max(8, min(MAX_CHILDREN, math.ceil(math.sqrt(len(children)))))
    result: list[Group | Node] = []
    for start in range(0, len(children), length):
        part = children[start : start + length]
        end = start + len(part)
        stretch = Group(
            key=f"{group.key}[{start}:{end}]",
            title=f"{start + 1} \N{EN DASH} {end}",
            kind="stretch",
            children=part,
            parent=group,
            size=sum(c.size if isinstance(c, Group) else 1 for c in part),
        )
        for child in part:
            if isinstance(child, Group):
                child.parent = stretch
        result.append(stretch)
    if len(result) > MAX_CHILDREN:
        group.children = result
        return _cut_into_stretches(group)
    return result


def visible(root: Group, opened: Collection[str]) -> list[Group | Node]:
    """Boxes to draw, in order: nodes and closed groups below open ones."""
    boxes: list[Group | Node] = []
    for child in root.children:
        if isinstance(child, Group) and child.key in opened:
            boxes.extend(visible(child, opened))
        else:
            boxes.append(child)
    return boxes


def open_by_budget(root: Group, budget: int) -> set[str]:
    """Keys of groups to open at first: whole levels while no more than ``budget`` boxes show.

    Repeats and bodies open only where everything below them fits as well.
    """
    opened: set[str] = set()
    level = [child for child in root.children if isinstance(child, Group)]
    while level:
        candidates = [group for group in level if group.kind != "repeat"]
        repeats = [group for group in level if group.kind == "repeat"]
        trial = opened | {group.key for group in candidates}
        everything = trial | {g.key for group in level for g in group.groups()}
        if repeats and _count(root, everything, budget) <= budget:
            trial |= {group.key for group in repeats}
            candidates = level
        if _count(root, trial, budget) > budget:
            break
        opened = trial
        level = [
            child for group in candidates for child in group.children if isinstance(child, Group)
        ]
    return opened


def _count(group: Group, opened: set[str], limit: int) -> int:
    total = 0
    for child in group.children:
        if isinstance(child, Group) and child.key in opened:
            total += _count(child, opened, limit - total)
        else:
            total += 1
        if total > limit:
            break
    return total
