"""What a scene is made of: boxes, edges and clusters, before anything knows where."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    """One box. ``name`` is what a selection calls it; ``opens`` the group it stands for.

    ``kind`` is node, group, repeat, input, output, shape, reference, offence or ghost.
    """

    id: str
    name: str
    kind: str
    role: str
    title: str
    lines: tuple[str, ...] = ()
    cluster: str = ""
    opens: str = ""
    count: int = 1
    tooltip: str = ""


@dataclass(frozen=True)
class Edge:
    """One value on its way from a box to a box. ``value`` is an id, ``name`` its name."""

    source: str
    target: str
    value: str
    name: str
    label: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Cluster:
    """An open group. ``parent`` is the id of the cluster around it."""

    id: str
    key: str
    title: str
    kind: str
    parent: str
    count: int
