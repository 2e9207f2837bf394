"""A graph as boxes, edges and clusters: what is drawn, before anything knows where.

The preparation runs in this order: constants into labels, shape arithmetic into
chips, modules into a tree, identical modules into repeats, the open groups of
that tree into clusters, and at last long fan-out edges into reference chips.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from onemodel.graph.ir import Graph, Node, Value
from onemodel_widgets.views import hierarchy
from onemodel_widgets.views.describe import (
    MAX_LABEL,
    attribute_summary,
    constant_text,
    operator_title,
    shape_text,
    type_text,
)
from onemodel_widgets.views.edges import drawn_edges
from onemodel_widgets.views.fold import Folded, fold
from onemodel_widgets.views.hierarchy import Group
from onemodel_widgets.views.names import all_nodes, clean, node_keys, shorten
from onemodel_widgets.views.palette import role_of
from onemodel_widgets.views.parts import Box, Cluster, Edge

DEFAULT_BUDGET = 150
"""Boxes shown at first; whole levels of modules stay folded beyond it."""

LABELLED_EDGES = 60
"""Up to so many edges carry their shape; beyond, boxes carry it and edges on hovering."""

MAX_PORTS = 30
"""More graph inputs or outputs than this are drawn as one box."""

_CHIP_PREFIX = "shape:"


@dataclass(frozen=True)
class Scene:
    """Everything a picture shows. ``where`` maps each node's key to the box that holds it."""

    name: str
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    clusters: tuple[Cluster, ...]
    opened: tuple[str, ...]
    total: int
    labelled: bool
    where: dict[str, str] = field(repr=False)

    def box(self, name: str) -> Box | None:
        """The box of that name, or the one that holds the node of that key."""
        for box in self.boxes:
            if box.name == name and box.kind != "reference":
                return box
        held = self.where.get(name)
        return next((box for box in self.boxes if box.id == held), None)


@dataclass(frozen=True)
class Refusal:
    """An offence to draw: which value met it, and what the call was."""

    value: str
    title: str
    detail: str = ""


@dataclass
class Outline:
    """A graph folded and sorted into modules: what stays the same while groups open and close."""

    graph: Graph
    keys: dict[Node, str]
    folded: dict[Graph, Folded]
    root: Group
    groups: dict[str, Group]
    chips: tuple[str, ...] = ()

    def node(self, key: str) -> Node | None:
        return next((node for node, name in self.keys.items() if name == key), None)

    def with_chips(self, opened: Collection[str]) -> Outline:
        """The outline in which the shape chips named in ``opened`` are drawn node by node."""
        chips = tuple(sorted(key for key in opened if key.startswith(_CHIP_PREFIX)))
        return self if chips == self.chips else outline(self.graph, chips)


def outline(graph: Graph, chips: Collection[str] = ()) -> Outline:
    """Folds ``graph`` and builds its tree of modules."""
    keys = node_keys(graph)
    wanted = {key.removeprefix(_CHIP_PREFIX) for key in chips}
    unfolded = {node for node, key in keys.items() if key in wanted}
    folded: dict[Graph, Folded] = {}
    bodies: dict[Node, list[tuple[str, Graph, list[Node]]]] = {}
    _fold_all(graph, None, unfolded, folded, bodies)
    root = hierarchy.build(folded[graph].nodes, bodies, keys)
    groups = {group.key: group for group in root.groups()}
    return Outline(graph, keys, folded, root, groups, tuple(sorted(chips)))


def _fold_all(
    graph: Graph,
    outer: Folded | None,
    unfolded: Collection[Node],
    folded: dict[Graph, Folded],
    bodies: dict[Node, list[tuple[str, Graph, list[Node]]]],
) -> None:
    folded[graph] = result = fold(graph, outer, unfolded)
    for node in result.nodes:
        for attribute, body in _named_bodies(node):
            _fold_all(body, result, unfolded, folded, bodies)
            bodies.setdefault(node, []).append((attribute, body, folded[body].nodes))


def _named_bodies(node: Node) -> Iterator[tuple[str, Graph]]:
    for name, attribute in node.attributes.items():
        if isinstance(attribute, Graph):
            yield clean(name), attribute
        elif isinstance(attribute, list):
            for index, item in enumerate(attribute):
                if isinstance(item, Graph):
                    yield f"{clean(name)}[{index}]", item


def first_opened(outlined: Outline, budget: int = DEFAULT_BUDGET, focus: str = "") -> set[str]:
    """Groups open at first: as many whole levels as the budget allows, and the focus' own."""
    opened = hierarchy.open_by_budget(outlined.root, budget)
    return opened | path_to(outlined, focus)


def path_to(outlined: Outline, key: str) -> set[str]:
    """Keys of the groups that must be open for the node or group ``key`` to be seen."""
    group = outlined.groups.get(key)
    if group is not None and key:
        return {above.key for above in group.path()[:-1]}
    node = outlined.node(key)
    if node is None:
        return set()
    holders = _holders(outlined)
    holder = holders.get(node)
    return {above.key for above in holder.path()} if holder is not None else set()


def _holders(outlined: Outline) -> dict[Node, Group]:
    """The innermost group of every node, folded nodes with the node that shows them."""
    holders: dict[Node, Group] = {}
    for group in outlined.root.groups():
        for child in group.children:
            if not isinstance(child, Group):
                holders[child] = group
    for folded in outlined.folded.values():
        for node, shown in folded.constant_nodes.items():
            if shown in holders:
                holders[node] = holders[shown]
    return holders


def make_scene(outlined: Outline, opened: Collection[str], refusal: Refusal | None = None) -> Scene:
    """Boxes, edges and clusters with the groups in ``opened`` open."""
    outlined = outlined.with_chips(opened)
    return _Maker(outlined, set(opened), refusal).make()


class _Maker:
    """Collects the parts of one scene. Ids are synthetic and follow the graph's own order."""

    def __init__(self, outlined: Outline, opened: set[str], refusal: Refusal | None) -> None:
        self.outlined = outlined
        self.opened = opened
        self.refusal = refusal
        self.numbers = {node: index for index, node in enumerate(all_nodes(outlined.graph))}
        self.group_ids = {g: f"m{index}" for index, g in enumerate(outlined.root.groups())}
        self.boxes: list[Box] = []
        self.positions: dict[str, int] = {}
        self.clusters: list[Cluster] = []
        self.box_of: dict[Node, str] = {}
        self.source_of: dict[Value, str] = {}
        self.value_ids: dict[Value, str] = {}
        self.edges: dict[tuple[str, str, str], Edge] = {}

    def make(self) -> Scene:
        graph = self.outlined.graph
        self._add_inputs(graph)
        self._add_group(self.outlined.root, "")
        for inner in self.outlined.folded:
            self._add_edges(inner)
        self._add_outputs(graph)
        self._add_refusal()
        edges, chips = drawn_edges(self.boxes, list(self.edges.values()), self.positions)
        self.boxes.extend(chips)
        labelled = len(edges) <= LABELLED_EDGES
        if labelled:
            edges = _first_labels(edges)
        boxes = self.boxes if labelled else self._with_shapes()
        return Scene(
            name=shorten(graph.name, 60),
            boxes=tuple(boxes),
            edges=tuple(edges),
            clusters=tuple(self.clusters),
            opened=tuple(sorted(self.opened & set(self.outlined.groups))) + self.outlined.chips,
            total=len(self.numbers),
            labelled=labelled,
            where=self._where(),
        )

    # Boxes

    def _add_inputs(self, graph: Graph) -> None:
        inputs = [value for value in graph.inputs if value not in graph.initializers]
        if len(inputs) > MAX_PORTS:
            box = Box("i", "inputs", "input", "input", f"{len(inputs)} inputs", count=len(inputs))
            self._add_box(box, -1)
            self.source_of.update(dict.fromkeys(inputs, box.id))
            return
        for index, value in enumerate(inputs):
            box = _port(value, f"i{index}", "input", "input")
            self._add_box(box, -1)
            self.source_of[value] = box.id

    def _add_box(self, box: Box, position: int) -> None:
        self.boxes.append(box)
        self.positions[box.id] = position

    def _add_group(self, group: Group, cluster: str) -> None:
        for child in group.children:
            if not isinstance(child, Group):
                self._add_node(child, cluster)
            elif child.key in self.opened:
                ident = self.group_ids[child]
                self.clusters.append(
                    Cluster(ident, child.key, _group_title(child), child.kind, cluster, child.size)
                )
                self._add_group(child, ident)
            else:
                self._add_closed(child, cluster)

    def _add_node(self, node: Node, cluster: str) -> None:
        ident = f"n{self.numbers[node]}"
        folded = self._folded_of(node)
        key = self.outlined.keys[node]
        chip = folded.chips.get(node)
        if chip:
            shape = node.outputs[0].shape if node.outputs else None
            detail = "" if shape is None else f" {shape_text(shape, MAX_LABEL)}"
            text = f"{len(chip)} nodes of shape arithmetic for {shorten(key, 60)}"
            opens = _CHIP_PREFIX + key
            box = Box(
                f"s{self.numbers[node]}",
                opens,
                "shape",
                "layout",
                f"shape{detail}",
                (),
                cluster,
                opens,
                len(chip),
                text,
            )
            self._add_box(box, self.numbers[node])
            self.edges[(box.id, ident, "")] = Edge(box.id, ident, "", "", dashed=True)
        self._add_box(
            Box(
                id=ident,
                name=key,
                kind="node",
                role=role_of(node),
                title=operator_title(node),
                lines=_node_lines(node, folded),
                cluster=cluster,
                tooltip=_tooltip(node, key),
            ),
            self.numbers[node],
        )
        self.box_of[node] = ident

    def _add_closed(self, group: Group, cluster: str) -> None:
        ident = self.group_ids[group]
        nodes = list(group.nodes())
        repeated = group.kind == "repeat"
        body = group.kind == "body"
        times = sum(g.kind == "module" and g.parent is not None for g in _members(group))
        mark = f"  \N{MULTIPLICATION SIGN}{times}" if repeated else ""
        lines = [f"{group.size} nodes"]
        if repeated and times:
            lines = [f"{group.size // times} nodes each, {group.size} in all"]
        if group.owner is not None:
            lines = [f"{g.title}: {g.size} nodes" for g in group.children if isinstance(g, Group)]
        role = role_of(group.owner) if group.owner is not None else "module"
        name = self.outlined.keys[group.owner] if group.owner is not None else group.key
        self._add_box(
            Box(
                id=ident,
                name=name,
                kind="repeat" if repeated else "group",
                role=role,
                title=shorten(group.title, 32) + mark,
                lines=tuple(lines[:3]),
                cluster=cluster,
                opens=group.key,
                count=group.size,
                tooltip=f"{shorten(name, 200)}: {group.size} nodes"
                + (" in a body" if body else ""),
            ),
            min((self.numbers[node] for node in nodes), default=0),
        )
        self.box_of.update(dict.fromkeys(nodes, ident))

    def _folded_of(self, node: Node) -> Folded:
        for folded in self.outlined.folded.values():
            if node in folded.constants:
                return folded
        return Folded()

    def _add_outputs(self, graph: Graph) -> None:
        position = len(self.numbers) + 1
        if len(graph.outputs) > MAX_PORTS:
            count = len(graph.outputs)
            box = Box("o", "outputs", "output", "output", f"{count} outputs", count=count)
            self._add_box(box, position)
        for index, value in enumerate(graph.outputs):
            ident = "o" if len(graph.outputs) > MAX_PORTS else f"o{index}"
            if ident != "o":
                self._add_box(_port(value, ident, "output", "output"), position)
            self._add_edge(value, ident)

    def _add_refusal(self) -> None:
        """The refused call below the value that met it, and beyond it what was not reached."""
        if self.refusal is None:
            return
        position = len(self.numbers) + 1
        lines = (self.refusal.detail,) if self.refusal.detail else ()
        self._add_box(
            Box("x0", "offence", "offence", "offence", self.refusal.title, lines), position
        )
        self._add_box(Box("x1", "not reached", "ghost", "ghost", "not reached"), position + 1)
        met = next((v for v in self.outlined.graph.values() if v.name == self.refusal.value), None)
        if met is not None:
            self._add_edge(met, "x0")
        self.edges[("x0", "x1", "")] = Edge("x0", "x1", "", "", dashed=True)

    # Edges

    def _add_edges(self, graph: Graph) -> None:
        folded = self.outlined.folded[graph]
        for node in folded.nodes:
            target = self.box_of[node]
            skipped = folded.constants[node]
            for value in dict.fromkeys(node.inputs):
                if value is not None and value not in skipped:
                    self._add_edge(value, target, folded)
            for _name, body in _named_bodies(node):
                for value in body.outputs:
                    self._add_edge(value, target, folded, dashed=True)

    def _add_edge(
        self, value: Value, target: str, folded: Folded | None = None, dashed: bool = False
    ) -> None:
        if folded is not None and value in folded.chip_values:
            return
        source = self.source_of.get(value)
        if source is None and value.producer is not None:
            source = self.box_of.get(value.producer)
        if source is None or source == target:
            return
        ident = self.value_ids.setdefault(value, f"v{len(self.value_ids)}")
        label = "" if value.shape is None else shape_text(value.shape, MAX_LABEL)
        self.edges.setdefault(
            (source, target, ident),
            Edge(source, target, ident, clean(value.name), label, dashed),
        )

    def _with_shapes(self) -> list[Box]:
        """The boxes, each with the shape of what it gives first; edges carry none then."""
        labels: dict[str, str] = {}
        for edge in self.edges.values():
            if edge.label:
                labels.setdefault(edge.source, edge.label)
        return [
            replace(box, lines=(*box.lines[:2], f"\N{RIGHTWARDS ARROW} {labels[box.id]}"))
            if box.id in labels and box.kind in ("node", "group", "repeat")
            else box
            for box in self.boxes
        ]

    def _where(self) -> dict[str, str]:
        keys = self.outlined.keys
        where = {keys[node]: ident for node, ident in self.box_of.items()}
        for folded in self.outlined.folded.values():
            for node, shown in folded.constant_nodes.items():
                if shown in self.box_of:
                    where[keys[node]] = self.box_of[shown]
        return where


def _members(group: Group) -> Iterator[Group]:
    """The repeated modules of a repeat, through stretches."""
    for child in group.children:
        if isinstance(child, Group):
            if child.kind == "stretch":
                yield from _members(child)
            else:
                yield child


def _group_title(group: Group) -> str:
    if group.kind == "repeat":
        times = sum(1 for _ in _members(group))
        return f"{shorten(group.title, 40)}  \N{MULTIPLICATION SIGN}{times}"
    return shorten(group.title, 48)


def _port(value: Value, ident: str, kind: str, role: str) -> Box:
    name = clean(value.name)
    return Box(
        id=ident,
        name=f"{kind}:{name}",
        kind=kind,
        role=role,
        title=shorten(name, 28),
        lines=(shorten(type_text(value), MAX_LABEL),),
        tooltip=f"{kind} {shorten(name, 200)}: {type_text(value)}",
    )


def _node_lines(node: Node, folded: Folded) -> tuple[str, ...]:
    lines = [attribute_summary(node)]
    constants = folded.constants.get(node, [])
    lines.extend(constant_text(value, folded.arrays) for value in constants[:2])
    if len(constants) > 2:
        lines[-1] += f"  +{len(constants) - 2}"
    return tuple(shorten(line, MAX_LABEL) for line in lines if line)


def _tooltip(node: Node, key: str) -> str:
    parts = [f"{operator_title(node)}  {shorten(key, 200)}"]
    parts.extend(f"{shorten(v.name, 80)}: {type_text(v)}" for v in node.outputs[:4])
    return "\n".join(parts)


def _first_labels(edges: list[Edge]) -> list[Edge]:
    """Keeps the shape of a value on its first edge only."""
    seen: set[str] = set()
    result = []
    for edge in edges:
        result.append(replace(edge, label="") if edge.value in seen else edge)
        seen.add(edge.value)
    return result
