"""output_accepted: a run that owes a structured output has one, handed in through the reserved tool.

It fits the schema that the run was started with, nothing that the model was told came after it, and the workspace is
still the one that it was accepted on. JSON in prose is no output.
"""

from typing import Final

from states.history import History
from states.output import OUTPUT_ACCEPTED, STRUCTURED_OUTPUT
from states.records import Finding, Record
from states.verdicts import Fail, Pass, Retry, Ruling

from .gate import Gate, OpenOutside
from .output_schema import fits

CORRECTIONS: Final = 2
"""Corrections since the last input, shared by refused calls and finals without output (blade-code's limit)."""

MISSING: Final = (
    f"You are not done: the result of this run is what you hand in with {STRUCTURED_OUTPUT}; JSON in a message does "
    f"not count. Finish what is left, then call {STRUCTURED_OUTPUT} once."
)
STALE: Final = (
    f"The workspace has changed since your output was accepted, so it does not count any more. Look at what it is now, "
    f"then call {STRUCTURED_OUTPUT} again."
)


class OutputAccepted(Gate):
    name = OUTPUT_ACCEPTED
    may = (Retry, Fail)

    async def gather(self, history: History, outside: OpenOutside) -> tuple[Record, ...]:
        """The workspace as it is now, if there is an output to be compared with it."""
        if history.output is None:
            return ()
        world = await outside()
        if world.workspace is None:
            return ()
        return (Finding(self.name, holds=True, revision=await world.workspace.revision()),)

    def judge(self, history: History) -> Ruling:
        schema, output = history.contract.output_schema, history.output
        if not schema:
            return Pass()
        if output is None or not fits(schema, output.accepted.value):  # that it is of this schema, the fold says
            return self._again(history, "no structured output was handed in", MISSING)
        seen, found = history.findings.get(self.name, (0, None))
        if (found.revision if found else "") != output.accepted.revision:
            return self._again(history, "the workspace changed after the output was accepted", STALE)
        return Pass(cites=(output.seq, seen) if seen else (output.seq,))

    def _again(self, history: History, reason: str, message: str) -> Ruling:
        if history.retries[self.name] < CORRECTIONS:
            return Retry(reason, message, STRUCTURED_OUTPUT)
        return Fail("structured_output_failed", f"{reason}, after {CORRECTIONS} corrections")


class OutputCorrectable(Gate):
    """output_correctable: calls of the reserved tool that were refused have not used up the corrections."""

    name = "output_correctable"
    may = (Fail,)

    def judge(self, history: History) -> Ruling:
        used = history.retries[OUTPUT_ACCEPTED] if history.contract.output_schema else 0
        if used <= CORRECTIONS or history.output_of_turn:
            return Pass()
        return Fail("structured_output_failed", f"no output that fits the schema, after {CORRECTIONS} corrections")


output_accepted: Final = OutputAccepted()
output_correctable: Final = OutputCorrectable()
