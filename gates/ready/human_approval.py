"""human_approval: a person has said yes to the work as it stands, and nothing was done since.

The run rests and asks; whoever resumes it with an approving word lets it end, with any other words the model goes on.
"""

import re
from typing import Final

from gates.gate import Gate
from states.history import History
from states.verdicts import Pass, Ruling, Suspend, WaitsFor

YES: Final = re.compile(
    r"\s*(?:yes|ok(?:ay)?|approved?|i approve|lgtm|accept(?:ed)?|go ahead|同意|批准|可以|好的?|通过)\s*[.!。！]?\s*",
    re.IGNORECASE,
)
"""Words that approve: these alone, with nothing else beside them."""


class HumanApproval(Gate):
    name = "human_approval"
    may = (Suspend,)

    def __init__(self, question: str = "Is the work as it stands accepted?") -> None:
        self.question = question

    def judge(self, history: History) -> Ruling:
        asked = history.suspends.get(self.name, 0)
        if asked and history.last_input > asked and not history.calls_since_input and YES.fullmatch(history.last_words):
            return Pass("a person approved", (history.last_input,))
        return Suspend(
            WaitsFor.ANSWER, f"{self.question} Resume with `approve` to end the run, or say what is missing."
        )
