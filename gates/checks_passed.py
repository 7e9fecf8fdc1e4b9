"""checks_passed: every check that the run owes has passed, by itself, on this very workspace."""

import re
from collections.abc import Callable
from typing import Final

from states.history import History
from states.records import Evidence, Record
from states.verdicts import Fail, Pass, Retry, Ruling

from .commands import EXAMPLES, kinds_of, refusal
from .gate import Gate, OpenOutside

RETRIES: Final = 3
"""Candidates sent back for a missing check, per run (blade-code's limit)."""


_SAID: Final = (
    r"\bRan 0 tests\b",  # unittest before 3.12
    r"\bno tests ran\b",
    r"\bcollected 0 items\b",
    r"\bno tests? (?:were )?found\b",
    r"\[no test files\]",  # go
    r"\b0 passing\b",  # mocha
    r"\brunning 0 tests\b(?!.*\brunning [1-9])",  # cargo, for every crate
    r"\bNo tests were executed\b",  # maven
)
_NOTHING_RAN: Final = re.compile("|".join(_SAID), re.IGNORECASE | re.DOTALL)
"""How test runners say, with exit status 0, that they tested nothing."""


class ChecksPassed(Gate):
    name = "checks_passed"
    may = (Retry, Fail)

    async def gather(self, history: History, outside: OpenOutside) -> tuple[Record, ...]:
        """Committed results of commands that the run owes, as evidence: the newest of each, newest last."""
        owed, exact = history.owed, {normal(command) for command in history.contract.commands}
        found: dict[str, Evidence] = {}
        for run in history.commands if owed or exact else ():
            kinds = tuple(kind for kind in shown(history, run.command) if kind in owed and not _idle(kind, run.said))
            if kinds or normal(run.command) in exact:
                found.pop(run.command, None)
                found[run.command] = Evidence(kinds, run.command, run.exit_status, run.revision, run.result)
        return tuple(found.values())

    def judge(self, history: History) -> Ruling:
        missing, cites = duties(history)
        if not missing:
            return Pass(cites=cites)
        wanted = "; ".join(missing)
        if history.retries[self.name] >= RETRIES:
            return Fail("verification_failed", f"not shown on the final workspace: {wanted}")
        message = (
            f"You are not done: this run owes proof that was not given on the workspace as it is now: {wanted}. "
            "Run it now with the bash tool, as a single command of its own (no pipes, no `|| true`), "
            "repair what fails, and change nothing after it has passed."
        )
        return Retry(f"not shown: {wanted}", message, "bash")


def _idle(kind: str, said: str) -> bool:
    """A test command that tested nothing proves nothing, whatever its exit status."""
    return kind == "test" and _NOTHING_RAN.search(said) is not None


def duties(history: History) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """What is missing, in words, and the evidence for the rest, by sequence number. Only the newest run counts."""
    owed = [
        (f"a passing {kind} command (such as `{_example(history, kind)}`)", _of_kind(kind)) for kind in history.owed
    ]
    owed += [(f"`{command}` with exit status 0", _of_command(command)) for command in history.contract.commands]
    revision = history.verification.revision if history.verification else ""
    missing: list[str] = []
    cites: list[int] = []
    for duty, fits in owed:
        newest = next(((seq, run) for seq, run in reversed(history.evidence.items()) if fits(run)), None)
        if newest is None:
            missing.append(f"{duty}: it never ran{_nearly(history)}")
        elif revision and newest[1].exit_status == 0 and newest[1].revision == revision:
            cites.append(newest[0])
        else:
            missing.append(f"{duty}: {_why_not(newest[1])}")
    return tuple(missing), tuple(sorted(set(cites)))


def _of_kind(kind: str) -> Callable[[Evidence], bool]:
    return lambda run: kind in run.kinds


def _of_command(command: str) -> Callable[[Evidence], bool]:
    return lambda run: normal(run.command) == normal(command)


def normal(command: str) -> str:
    """The text with its spaces made equal, unless quotes or lines make them mean something."""
    return command.strip() if re.search(r"[\"'\\\n]", command) else " ".join(command.split())


def shown(history: History, command: str) -> tuple[str, ...]:
    """The kinds that exit status 0 of this command proves in this run."""
    return kinds_of(command, history.contract.proofs, _root(history))


def _root(history: History) -> str:
    return history.started.workspace if history.started else ""


def _example(history: History, kind: str) -> str:
    own = (command for own_kind, command in history.contract.proofs if own_kind == kind)
    return next(own, EXAMPLES.get(kind, kind))


def _nearly(history: History) -> str:
    """Why the last command does not count, if it is one that might have been meant as a check."""
    if not history.commands:
        return ""
    command = history.commands[-1].command
    if shown(history, command):
        return ""
    why = refusal(command, history.contract.proofs, _root(history))
    return f" (`{command[:80]}` does not count: {why})" if why else ""


def _why_not(run: Evidence) -> str:
    if run.exit_status != 0:
        return f"its last run ended with exit status {run.exit_status}"
    if not run.revision:
        return "files of the workspace changed while it ran"
    return "the workspace has changed since it passed"


checks_passed: Final = ChecksPassed()
