"""What a gate is, and how a row of the table asks one.

A gate rules on the committed history and on nothing else. A guard is a gate asked for one kind of ruling,
so one gate can have up to four rows; a fact is a guard that only looks.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import ClassVar, Protocol

import attrs

from states.history import History
from states.ports import Outside
from states.records import Record
from states.verdicts import Fail, Pass, Retry, Ruling, Suspend


class OpenOutside(Protocol):
    """Makes `records` and everything so far durable, then gives access to the world."""

    def __call__(self, *records: Record) -> Awaitable[Outside]: ...


class Gate(ABC):
    """Something that must hold before a move. Subclass it, give it a `name`, and rule in `judge`.

    `judge` must be pure: equal histories get equal rulings. A gate that needs evidence from outside overrides
    `gather`, which runs in the gate's state and returns records; `judge` then reads them from the history.
    """

    name: ClassVar[str]
    """A fact in the affirmative, as it stands in the diagram: letters, digits and underscores."""

    may: ClassVar[tuple[type[Retry] | type[Fail] | type[Suspend], ...]]
    """The objections it can raise; it gets a row in the table for each, and raising another is an error."""

    @abstractmethod
    def judge(self, history: History) -> Ruling:
        """Pass, Retry, Fail or Suspend, from committed records alone."""

    async def begin(self, outside: Outside) -> tuple[Record, ...]:
        """What has to be remembered of the world as it is before the run: a `Baseline`; nothing by default.

        Called once, when a run starts; committed together with its start. It may look, and change nothing.
        """
        return ()

    async def gather(self, history: History, outside: OpenOutside) -> tuple[Record, ...]:
        """Evidence to commit before `judge` is asked; nothing by default.

        `await outside()` makes everything so far durable and gives access to the world.
        """
        return ()

    @property
    def passes(self) -> "Asked":
        return Asked(self, Pass)

    @property
    def retries(self) -> "Asked":
        return Asked(self, Retry)

    @property
    def fails(self) -> "Asked":
        return Asked(self, Fail)

    @property
    def suspends(self) -> "Asked":
        return Asked(self, Suspend)


class Judged(Protocol):
    """One decision's history and rulings: each gate is asked at most once."""

    @property
    def history(self) -> History: ...

    def ruling(self, gate: Gate) -> Ruling: ...


@attrs.frozen(cache_hash=True)
class Asked:
    """A gate, asked for one kind of ruling."""

    gate: Gate
    kind: type[Pass] | type[Retry] | type[Fail] | type[Suspend]

    @property
    def name(self) -> str:
        return f"{self.gate.name} {_VERB[self.kind]}"

    def holds(self, judged: Judged) -> bool:
        return isinstance(judged.ruling(self.gate), self.kind)


_VERB = {Pass: "passes", Retry: "retries", Fail: "fails", Suspend: "suspends"}


@attrs.frozen(cache_hash=True)
class Fact:
    """A guard that only looks: no verdict comes of it."""

    name: str
    look: Callable[[History], bool] = attrs.field(eq=False)

    def holds(self, judged: Judged) -> bool:
        return self.look(judged.history)


Guard = Asked | Fact
