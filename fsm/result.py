"""What a caller gets: how a run ended or rests, and why."""

from enum import StrEnum
from typing import Final

import attrs

from states.history import History
from states.messages import Usage
from states.names import State
from states.records import Failed, Finalized

from .output import output_of


class RunStatus(StrEnum):
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SUSPENDED = "suspended"


FINISHED: Final = "finished"
"""The reason of a run that went through all gates."""


@attrs.frozen
class Result:
    """`reason` is one word that does not lie; `message` is a sentence for a person; `text` is the final answer.

    `text` and `output` are empty unless the run succeeded: what did not pass the gates is in the journal, not here.
    `output` is the structured output, where one was asked for: an instance of the class that the loop was given, or
    plain JSON; `text` is then its JSON.
    """

    status: RunStatus
    reason: str
    session_id: str
    text: str = ""
    message: str = ""
    output: object = None
    cost: float = 0.0
    """US dollars at list prices, as far as they are known; see `Budget.cost`."""
    summary: str = ""
    """Where things stand, if the run rests for want of budget."""
    usage: Usage = Usage()
    turns: int = 0
    tool_calls: int = 0
    receipt: Finalized | None = None

    @property
    def succeeded(self) -> bool:
        return self.status is RunStatus.SUCCEEDED


def result_of(history: History) -> Result:
    """The result that a committed history stands for. Raises ValueError while the run is going on."""
    spent = Result(
        RunStatus.FAILED,
        "",
        history.session,
        usage=history.usage,
        cost=history.cost,
        turns=history.turns,
        tool_calls=history.tool_calls,
    )
    if history.state is State.SUCCEEDED and history.receipt is not None:
        receipt = history.receipt
        return attrs.evolve(
            spent,
            status=RunStatus.SUCCEEDED,
            reason=FINISHED,
            text=receipt.text,
            output=output_of(history),
            receipt=receipt,
        )
    if history.state is State.FAILED and history.failure is not None:
        return failed(history, history.failure)
    if history.state is State.SUSPENDED and history.rest is not None:
        rest = history.rest
        return attrs.evolve(
            spent,
            status=RunStatus.SUSPENDED,
            reason=rest.waits_for.value,
            message=rest.message,
            summary=history.summary,
        )
    raise ValueError(f"session {history.session} is in {history.state}: the run has not ended")


def failed(history: History, failure: Failed) -> Result:
    """The result of a failure, durable or not (a store that fails cannot say so in the store)."""
    return Result(
        RunStatus.FAILED,
        failure.code,
        history.session,
        message=failure.message,
        usage=history.usage,
        cost=history.cost,
        turns=history.turns,
        tool_calls=history.tool_calls,
    )
