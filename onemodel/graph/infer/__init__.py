"""Shapes of the values of a graph, in the algebra of extents."""
