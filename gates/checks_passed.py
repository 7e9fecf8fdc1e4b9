"""checks_passed: every command that the run owes ran, by itself, with exit status 0, on this very workspace."""

from collections.abc import Callable
from typing import Final

from states.history import History
from states.records import Evidence, Record
from states.verdicts import Fail, Pass, Retry, Ruling

from .commands import EXAMPLES, kinds_of
from .gate import Gate, OpenOutside

RETRIES: Final = 3
"""Candidates sent back for a missing check, per run (blade-code's limit)."""


class ChecksPassed(Gate):
    name = "checks_passed"
    may = (Retry, Fail)

    async def gather(self, history: History, outside: OpenOutside) -> tuple[Record, ...]:
        """Committed results of commands that the contract asks for, as evidence: the newest of each, newest last."""
        owed = history.contract
        found: dict[str, Evidence] = {}
        for run in history.commands if owed.owes_evidence else ():
            kinds = tuple(kind for kind in kinds_of(run.command) if kind in owed.checks)
            if kinds or run.command.strip() in owed.commands:
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


def duties(history: History) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """What is missing, in words, and the evidence for the rest, by sequence number. Only the newest run counts."""
    owed = [
        (f"a passing {kind} command (such as `{EXAMPLES[kind]}`)", _of_kind(kind)) for kind in history.contract.checks
    ]
    owed += [(f"`{command}` with exit status 0", _of_command(command)) for command in history.contract.commands]
    revision = history.verification.revision if history.verification else ""
    missing: list[str] = []
    cites: list[int] = []
    for duty, fits in owed:
        newest = next(((seq, run) for seq, run in reversed(history.evidence.items()) if fits(run)), None)
        if newest is None:
            missing.append(f"{duty}: it never ran")
        elif revision and newest[1].exit_status == 0 and newest[1].revision == revision:
            cites.append(newest[0])
        else:
            missing.append(f"{duty}: {_why_not(newest[1])}")
    return tuple(missing), tuple(sorted(set(cites)))


def _of_kind(kind: str) -> Callable[[Evidence], bool]:
    return lambda run: kind in run.kinds


def _of_command(command: str) -> Callable[[Evidence], bool]:
    return lambda run: run.command.strip() == command


def _why_not(run: Evidence) -> str:
    if run.exit_status != 0:
        return f"its last run ended with exit status {run.exit_status}"
    if not run.revision:
        return "files of the workspace changed while it ran"
    return "the workspace has changed since it passed"


checks_passed: Final = ChecksPassed()
