"""checks_passed: every command that the run owes ran, by itself, with exit status 0, on this very workspace."""

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
        """Committed results of commands that the contract asks for, as evidence: the newest of each command."""
        owed = history.contract
        found: dict[str, Evidence] = {}
        for run in history.commands if owed.owes_evidence else ():
            kinds = tuple(kind for kind in kinds_of(run.command) if kind in owed.checks)
            if kinds or run.command.strip() in owed.commands:
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
    """What is missing, in words, and the evidence for the rest, by sequence number."""
    revision = history.verification.revision if history.verification else ""
    good = {
        seq: evidence
        for seq, evidence in history.evidence.items()
        if evidence.exit_status == 0 and evidence.revision and evidence.revision == revision
    }
    missing: list[str] = []
    cites: list[int] = []
    for kind in history.contract.checks:
        shown = [seq for seq, evidence in good.items() if kind in evidence.kinds]
        cites += shown[-1:]
        if not shown:
            missing.append(f"a passing {kind} command (such as `{EXAMPLES[kind]}`)")
    for command in history.contract.commands:
        shown = [seq for seq, evidence in good.items() if evidence.command.strip() == command]
        cites += shown[-1:]
        if not shown:
            missing.append(f"`{command}` with exit status 0")
    return tuple(missing), tuple(sorted(set(cites)))


checks_passed: Final = ChecksPassed()
