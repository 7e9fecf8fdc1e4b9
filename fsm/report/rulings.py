"""The moves with the verdicts that they rest on, and what each gate ruled over the whole session."""

from collections import Counter
from collections.abc import Iterable

import attrs

from fsm.visible import one_line
from states.records import Entry, Evidence, Finding, HookResult, ToolResult, Transition, Verdict
from states.verdicts import Fail, Pass, Retry, Ruling, Suspend

WORDS = {Pass: "passes", Retry: "retries", Fail: "fails", Suspend: "suspends"}


@attrs.frozen
class Cited:
    """A record that a verdict names, in a few words."""

    seq: int
    words: str


@attrs.frozen
class Ruled:
    seq: int
    gate: str
    word: str
    said: str
    cites: tuple[Cited, ...]


@attrs.frozen
class Moved:
    """A move and the verdicts committed with it."""

    seq: int
    source: str
    event: str
    target: str
    rulings: tuple[Ruled, ...]
    rests_on: tuple[int, ...]

    @property
    def objects(self) -> bool:
        return any(ruled.word != "passes" for ruled in self.rulings)


@attrs.frozen
class Tally:
    """What a gate ruled, how often, and the last of it."""

    gate: str
    counts: tuple[tuple[str, int], ...]
    last: Ruled


def moves(entries: Iterable[Entry]) -> list[Moved]:
    known: dict[int, str] = {}
    waiting: list[Ruled] = []
    found: list[Moved] = []
    for entry in entries:
        match entry.record:
            case Evidence(command=command, exit_status=status):
                known[entry.seq] = f"`{one_line(command, 60)}` ended with exit status {status}"
            case Finding(gate=gate, holds=holds, said=said):
                known[entry.seq] = f"{gate} {'holds' if holds else 'does not hold'}: {one_line(said, 60)}"
            case HookResult(event=event, hook=hook, outcome=outcome):
                known[entry.seq] = f"{event} hook {one_line(hook, 60)}: {outcome}"
            case ToolResult(call=call, status=status):
                known[entry.seq] = f"result of {call}: {status}"
            case Verdict(gate=gate, ruling=ruling):
                cites = tuple(Cited(seq, known.get(seq, "record")) for seq in _cites(ruling))
                waiting.append(Ruled(entry.seq, gate, WORDS[type(ruling)], _said(ruling), cites))
            case Transition(source=source, event=event, target=target, rests_on=rests_on):
                found.append(Moved(entry.seq, str(source), str(event), str(target), tuple(waiting), rests_on))
                waiting = []
    return found


def tallies(found: Iterable[Moved]) -> list[Tally]:
    """Gates in the order in which they were first asked."""
    counts: dict[str, Counter[str]] = {}
    last: dict[str, Ruled] = {}
    for moved in found:
        for ruled in moved.rulings:
            counts.setdefault(ruled.gate, Counter())[ruled.word] += 1
            last[ruled.gate] = ruled
    order = tuple(WORDS.values())
    return [
        Tally(gate, tuple((word, counted[word]) for word in order if counted[word]), last[gate])
        for gate, counted in counts.items()
    ]


def _cites(ruling: Ruling) -> tuple[int, ...]:
    return ruling.cites if isinstance(ruling, Pass) else ()


def _said(ruling: Ruling) -> str:
    match ruling:
        case Pass(reason=reason) | Retry(reason=reason):
            return reason
        case Fail(code=code, message=message):
            return f"{code}: {message}"
        case Suspend(waits_for=waits_for, message=message):
            return f"waits for {waits_for}: {message}"
