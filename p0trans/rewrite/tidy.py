"""What is removed from a definition before any rule looks at it."""

from __future__ import annotations

from p0trans.ir.program import Alias, Pack, Project
from p0trans.rewrite.graph import Graph


def tidy(graph: Graph) -> None:
    """Drop second names of a value, and items taken out of a tuple that was just put together."""
    for value in tuple(graph.in_order()):
        node = graph.node(value)
        if isinstance(node, Alias):
            graph.redirect(value, node.operand)
        elif isinstance(node, Project):
            packed = graph.node(node.operand)
            if isinstance(packed, Pack):
                graph.redirect(value, packed.operands[node.index])
