"""Planted faults: tables that differ from a given one by one mistake. What proves a table must tell them apart."""

from collections.abc import Iterator
from itertools import pairwise

import attrs

from fsm.graph import Graph, Row
from states.names import RUNNING, State

from .branches import decisions

Mutant = tuple[str, Graph]
"""What was done, and the table that it left."""


def mutants(graph: Graph) -> Iterator[Mutant]:
    """Every guard dropped, every row redirected, deleted, or swapped with its rival, and rogue rows toward success."""
    yield from dropped_guards(graph)
    yield from redirected_rows(graph)
    yield from rogue_rows(graph)
    yield from deleted_rows(graph)
    yield from swapped_rows(graph)


def dropped_guards(graph: Graph) -> Iterator[Mutant]:
    for index, row in enumerate(graph):
        for place, guard in enumerate(row.guards):
            without = attrs.evolve(row, guards=(*row.guards[:place], *row.guards[place + 1 :]))
            yield f"row {index + 1} without {guard.name!r}", (*graph[:index], without, *graph[index + 1 :])


def redirected_rows(graph: Graph) -> Iterator[Mutant]:
    for index, row in enumerate(graph):
        for target in State:
            if target is not row.target:
                astray = attrs.evolve(row, target=target)
                yield f"row {index + 1} leads to {target}", (*graph[:index], astray, *graph[index + 1 :])


def rogue_rows(graph: Graph) -> Iterator[Mutant]:
    """An unguarded row before all others, from each running state to each later one on the way to success."""
    way = (*RUNNING, State.SUCCEEDED)
    for source, event in decisions(graph):
        if source in RUNNING:
            for target in way[way.index(source) + 1 :]:
                yield f"{source} leads on {event} to {target}, unguarded", (Row(source, event, (), target), *graph)


def deleted_rows(graph: Graph) -> Iterator[Mutant]:
    for index in range(len(graph)):
        yield f"without row {index + 1}", (*graph[:index], *graph[index + 1 :])


def swapped_rows(graph: Graph) -> Iterator[Mutant]:
    """Neighbours of one decision change places."""
    for indices in decisions(graph).values():
        for first, second in pairwise(indices):
            rows = list(graph)
            rows[first], rows[second] = rows[second], rows[first]
            yield f"rows {first + 1} and {second + 1} swapped", tuple(rows)
