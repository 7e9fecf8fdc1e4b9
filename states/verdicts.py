"""The four things a gate can say. Each is a value that can be committed."""

from enum import StrEnum

import attrs


class WaitsFor(StrEnum):
    """What a resting run needs before it can go on."""

    APPROVAL = "approval"
    ANSWER = "answer"
    PLAN_REVIEW = "plan_review"
    BUDGET = "budget"
    PROVIDER = "provider"
    VERIFIER = "verifier"
    """Whoever has to look at the work could not be asked; a plain resume asks again."""
    RESUME = "resume"
    """Somebody cancelled it; a plain resume goes on."""


@attrs.frozen
class Pass:
    """The move may be made. `cites` names committed records (sequence numbers) that show it.

    `hint` is said to the model with its next turn; it costs none.
    """

    reason: str = ""
    cites: tuple[int, ...] = ()
    hint: str = ""


@attrs.frozen
class Retry:
    """Back to the model, with a message that it reads; `require_tool` is forced on the next turn."""

    reason: str
    message: str = ""
    require_tool: str | None = None


@attrs.frozen
class Fail:
    """The run ends here. `code` is the run's reason, `message` is for a person."""

    code: str
    message: str


@attrs.frozen
class Suspend:
    """The run rests until a person or the world changes something."""

    waits_for: WaitsFor
    message: str


Ruling = Pass | Retry | Fail | Suspend
