"""Ids of calls in the form that a provider accepts; different calls keep different ids."""

import re
from hashlib import sha256
from typing import Final

import attrs


@attrs.frozen
class IdForm:
    """What a protocol accepts as the id of a call, and how a substitute is made: `prefix` and `digits` of a digest."""

    accepted: re.Pattern[str]
    prefix: str = "call_"
    digits: int = 24


OPENAI: Final = IdForm(re.compile(r"[A-Za-z0-9_-]{1,40}"))
"""OpenAI's chat completions refuse ids beyond 40 characters; the alphabet is that of Anthropic, to be safe."""
RESPONSES: Final = IdForm(re.compile(r"[A-Za-z0-9_-]{1,64}"))
"""OpenAI's Responses: at most 64 characters."""
ANTHROPIC: Final = IdForm(re.compile(r"[A-Za-z0-9_-]{1,64}"), "toolu_")
"""Anthropic's Messages: the pattern stands in its error messages; 64 characters is what others accept as well."""
MISTRAL: Final = IdForm(re.compile(r"[A-Za-z0-9]{9}"), "", 9)
"""Mistral: exactly nine letters and digits."""


class CallIds:
    """The ids of one conversation. The same sequence of ids gives the same substitutes."""

    def __init__(self, form: IdForm) -> None:
        self._form = form
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def __call__(self, call_id: str) -> str:
        """The id to send for ours."""
        known = self._given.get(call_id)
        if known is not None:
            return known
        sent, tries = call_id, 0
        while sent in self._taken or not self._form.accepted.fullmatch(sent):
            sent = self._substitute(call_id, tries)
            tries += 1
        self._given[call_id] = sent
        self._taken.add(sent)
        return sent

    def _substitute(self, call_id: str, tries: int) -> str:
        digest = sha256(f"{tries}:{call_id}".encode("utf-8", "backslashreplace")).hexdigest()
        return self._form.prefix + digest[: self._form.digits]


_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]")
LONGEST_NAME: Final = 64
"""Characters of a tool's name that OpenAI accepts; Anthropic accepts more."""


def tool_name(said: str) -> str:
    """A name that every provider accepts, for a call whose name the model made up."""
    return _UNFIT.sub("_", said)[:LONGEST_NAME] or "unnamed"
