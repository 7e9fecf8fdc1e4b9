"""Histories that the search takes for equal have equal futures, as far as the search tells futures apart."""

from collections import Counter

import attrs
import pytest

from fsm.checks import explore
from fsm.checks.abstraction import View, key_of
from fsm.checks.moves import after, made_by
from fsm.checks.world import A_READ, STARTED, World
from fsm.graph import GRAPH
from fsm.machine import decide
from states.errors import HistoryError

EVERY = 9
"""Of so many merged histories one is looked at."""


@attrs.define(eq=False)
class Audited(explore._Search):
    merged: int = 0
    wrong: list = attrs.field(factory=list)

    def _reach(self, node, move, now, before):
        super()._reach(node, move, now, before)
        known = self.seen[key_of(now, self.view)]
        if known.history is now:
            return
        self.merged += 1
        if self.merged % EVERY == 0 and (ours := self.futures(now)) != (theirs := self.futures(known.history)):
            odd = {label for label in ours.keys() | theirs.keys() if ours.get(label) != theirs.get(label)}
            self.wrong.append((known.story(), (*node.story(), move.label), odd))

    def futures(self, history):
        found = {}
        moves = list(self.world.moves(history))
        if history.closing_event is not None:
            decision = decide(self.graph, history.state, history.closing_event, history)
            moves.append(made_by(decision, history))
        for move in moves:
            try:
                now = after(history, move)
            except HistoryError:
                continue
            if not move.honest and self._leads_nowhere(now):
                continue
            kept = now.retries[self.view.counted] if self.view.counted else 0
            now.retries = Counter({self.view.counted: kept} if kept else ())
            found[move.label] = key_of(now, self.view)
        return found


@pytest.mark.parametrize(
    ("world", "view"),
    [
        (World(), View()),
        (World(hostile=False, calls=A_READ), View("checks_passed", epochs=False)),
        (World(hostile=False, calls={}), View("text_is_new", repeats=True, epochs=False)),
    ],
    ids=["everything", "checks", "texts"],
)
def test_equal_keys_have_equal_futures(world, view):
    search = Audited(GRAPH, (), world, view)

    search.run(STARTED)

    assert search.merged > 1000
    assert search.wrong == []
