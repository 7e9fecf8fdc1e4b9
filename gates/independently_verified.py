"""independently_verified: somebody who had no part in the work has looked at it as it is now, and agrees.

Due where the run's contract says so, and for the main run alone. What the verifier is told is the host's; nothing that
the model says about itself reaches it.
"""

from collections.abc import Callable
from typing import Final

import attrs

from states.contract import Verify
from states.history import History
from states.records import Judgement, Record, VerifierResult, VerifierStarted
from states.verdicts import Fail, Pass, Retry, Ruling, Suspend, WaitsFor

from .changes import reasons
from .gate import Gate, OpenOutside

RETRIES: Final = 3
"""Candidates sent back per run (blade-code's limit)."""
REPORT: Final = 4_000
"""Characters of a verifier's report that the model is shown (our choice)."""
FILES: Final = 50
"""Changed files, and commands, that a verifier is told of (blade-code's limit for files)."""

Brief = Callable[[History], str]
"""What a verifier is asked, from committed facts alone."""


class IndependentlyVerified(Gate):
    name = "independently_verified"
    may = (Retry, Fail, Suspend)

    async def gather(self, history: History, outside: OpenOutside) -> tuple[Record, ...]:
        return await look(self.name, history, outside, brief) if due(history) else ()

    def judge(self, history: History) -> Ruling:
        return ruling(self.name, history, _failed) if due(history) else Pass()


def _failed(why: str) -> Ruling:
    return Fail("verification_failed", why)


def due(history: History) -> bool:
    """Whether this run owes it: declared, or, where that was left open, by what it did. Never for an agent."""
    started = history.started
    if started is None or started.depth > 0:
        return False
    wanted = history.contract.verify
    return wanted is Verify.ALWAYS or (wanted is Verify.AUTO and bool(reasons(history)))


async def look(
    gate: str, history: History, outside: OpenOutside, brief: Brief, *, anew: bool = False
) -> tuple[Record, ...]:
    """A verifier's word on the candidate: a new one, or what was said about this very workspace before.

    anew: that it agreed about another candidate does not count.
    """
    world = await outside()
    now = await world.workspace.revision() if world.workspace else ""
    known = history.verified.get(gate)
    stale = (Judgement.NONE, Judgement.PASS) if anew else (Judgement.NONE,)
    if known is not None and known.judgement not in stale and known.revision == now != "":
        return (attrs.evolve(known, usage=type(known.usage)(), cost=0.0),)
    begun = next((each for each in history.verifiers.values() if each.gate == gate and each.revision == now), None)
    if begun is None:
        begun = VerifierStarted(gate, _session(history, gate), history.candidate, now)
        world = await outside(begun)
    if world.verifier is None:
        why = "there is no verifier here; give the loop one, or let the one that began the run go on with it"
        return (VerifierResult(gate, begun.session, Judgement.NONE, unavailable=why),)
    said = await world.verifier.opinion(history, begun.session, brief(history))
    unmoved = world.workspace is not None and await world.workspace.revision() == begun.revision
    return (
        VerifierResult(
            gate,
            begun.session,
            said.judgement,
            said.said,
            begun.revision if unmoved else "",
            said.usage,
            said.unavailable,
            said.cost,
        ),
    )


def _session(history: History, gate: str) -> str:
    """One name for each look at each candidate: after a crash it is the same."""
    return f"{history.session}.{gate}-{history.candidate}-{len(history.verifiers) + 1}"


def ruling(
    gate: str, history: History, at_last: Callable[[str], Ruling], who: str = "the independent verifier"
) -> Ruling:
    """What the verifier's word means: only a PASS for the workspace as it is now is one.

    at_last: what is ruled once the retries are used up, given why.
    """
    seq, said = history.opinions.get(gate, (0, None))
    now = history.verification.revision if history.verification else ""
    if said is not None and said.judgement is Judgement.PASS and said.revision == now != "":
        return Pass(cites=(seq,))
    if said is not None and said.unavailable:
        return Suspend(WaitsFor.VERIFIER, f"the verifier could not look: {said.unavailable}")
    why = _why(said, now, who)
    if history.retries[gate] >= RETRIES:
        return at_last(why)
    report = f"\n\nIts report:\n{said.said[:REPORT]}" if said is not None and said.said else ""
    message = f"You are not done: {why}. Repair what is wrong, then give your final answer again.{report}"
    return Retry(why, message)


def _why(said: VerifierResult | None, now: str, who: str) -> str:
    if said is None:
        return "nobody who had no part in the work has looked at it"
    if said.judgement is Judgement.NONE:
        return f"{who} came to no clear verdict"
    if said.judgement is not Judgement.PASS:
        return f"{who} says {said.judgement.value.upper()}"
    return f"the workspace changed after {who} had looked at it"


def brief(history: History) -> str:
    """What the verifier of a run's work is asked: what was wanted, and what was done, as the journal has it."""
    return "\n\n".join((
        "Work has been done in this workspace. Find out whether it does what was asked for.",
        "What was asked for:\n" + "\n".join(f"<request>\n{text}\n</request>" for text in history.inputs),
        *done_here(history),
    ))  # fmt: skip


def done_here(history: History) -> tuple[str, str]:
    """What was changed and run, as the journal has it."""
    ran = {run.command: run.exit_status for run in history.commands}
    commands = [f"{command} (exit status {ran[command]})" if command in ran else command for command in history.shell]
    return (
        "Files that were changed:\n" + _listed(list(history.changed)),
        "Commands that were run:\n" + _listed(commands),
    )


def _listed(items: list[str]) -> str:
    left = [f"- and {len(items) - FILES} more"] if len(items) > FILES else []
    return "\n".join([*(f"- {item}" for item in items[:FILES]), *left]) or "- none that are known"


independently_verified: Final = IndependentlyVerified()
