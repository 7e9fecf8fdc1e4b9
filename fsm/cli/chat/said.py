"""What a typed line means as an answer."""

from enum import Enum

import attrs

from fsm.approvals import ApprovalAnswer
from states.contract import Permission


class Answer(Enum):
    """Answers to an approval that are none."""

    UNCLEAR = "unclear"
    LATER = "later"


def answer_in(said: str) -> ApprovalAnswer | Answer:
    """y, a, `n REASON` or l, in full or by their letters. Anything else is no answer: a guess could start something."""
    word, _, rest = said.strip().partition(" ")
    match word.lower().rstrip(",.:"):
        case "y" | "yes" if not rest:
            return ApprovalAnswer(granted=True)
        case "a" | "always" if not rest:
            return ApprovalAnswer(granted=True, remember=True)
        case "n" | "no":
            return ApprovalAnswer(granted=False, reason=rest.strip())
        case "l" | "later" if not rest:
            return Answer.LATER
    return Answer.UNCLEAR


@attrs.frozen
class Review:
    """What a person says to a plan."""

    approved: bool
    comments: str = ""
    permission: Permission | None = None


def review_in(said: str) -> Review:
    """`a` approves, `f` approves with full permission; any other words are what should be different."""
    match said.strip().lower():
        case "a" | "approve":
            return Review(approved=True, permission=Permission.ASK)
        case "f" | "full":
            return Review(approved=True, permission=Permission.FULL)
    return Review(approved=False, comments=said.strip())
