"""receipt_holds: the receipt names this candidate, every verdict it rests on, and a workspace that did not move.

This is the last gate, and it trusts none of the others to have run: it looks at what is committed.
"""

from collections.abc import Sequence
from typing import Final

from states.goals import evidence_digest
from states.history import History
from states.output import STRUCTURED_OUTPUT
from states.records import Finalized
from states.verdicts import Fail, Pass, Retry, Ruling

from .gate import Gate
from .output_accepted import STALE

RETRIES: Final = 3
"""Receipts that a late change of the workspace, or a late input, made void, per run."""

MOVED: Final = "The workspace changed after the checks had passed. Run the required checks again on it as it is now."
UNSEEN: Final = (
    "The workspace changed after the hooks of the host had allowed you to stop. Look at what it is now, then give your "
    "final answer again."
)


class ReceiptHolds(Gate):
    name = "receipt_holds"
    may = (Retry, Fail)

    def __init__(self, required: Sequence[Gate]) -> None:
        """`required`: the completion gates whose pass on this very candidate the receipt has to name."""
        self.required = tuple(gate.name for gate in required)

    def judge(self, history: History) -> Ruling:
        receipt = history.receipt
        if receipt is None or history.turn is None or receipt.candidate != history.candidate:
            return Fail("unjustified", "there is no receipt for the last candidate")
        if history.stop_answer is None or history.verification is None:
            return Fail("unjustified", "the receipt comes before verification or before the seal")
        unproven = [name for name in self.required if not _passed(name, receipt, history)]
        if unproven:
            return Fail("unjustified", f"the receipt names no pass of {', '.join(unproven)}")
        if receipt.goal != evidence_digest(history) or (history.pursues_goal and not receipt.goal):
            return Fail("unjustified", "the receipt does not name what shows that the goal is reached")
        if not history.inputs_answered:  # the run was lost after the seal and resumed with new words
            return self._again(history, "a newer input waits for an answer", "", None)
        if history.verification.revision not in ("", receipt.revision):
            return self._again(history, "the workspace changed after the checks", MOVED, "bash")
        if history.stopped_on not in ("", receipt.revision):
            return self._again(history, "the workspace changed after the stop hooks were asked", UNSEEN, None)
        if history.output is not None and history.output.accepted.revision not in ("", receipt.revision):
            return self._again(history, "the workspace changed after the output was accepted", STALE, STRUCTURED_OUTPUT)
        return Pass(cites=(*receipt.verdicts, *receipt.evidence))

    def _again(self, history: History, reason: str, message: str, tool: str | None) -> Ruling:
        if history.retries[self.name] < RETRIES:
            return Retry(reason, message, tool)
        return Fail("stuck", f"{reason}, for the {RETRIES + 1}th time")


def _passed(gate: str, receipt: Finalized, history: History) -> bool:
    seq, ruling = history.verdicts.get(gate, (0, None))
    return isinstance(ruling, Pass) and seq in receipt.verdicts and set(ruling.cites) <= set(receipt.evidence)
