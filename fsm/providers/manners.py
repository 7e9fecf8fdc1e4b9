"""What single servers of OpenAI's chat protocol want otherwise than the others, as data."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import attrs

from .call_ids import MISTRAL, OPENAI, IdForm


class ReasoningBack(StrEnum):
    """Whether a server wants its reasoning back (`reasoning_content`)."""

    REQUIRE = "require"
    """Every turn with calls must carry it; where there is none, an empty one."""
    ALLOW = "allow"
    """What it said goes back."""
    FORBID = "forbid"
    """A request that carries it is refused, or it means nothing."""


@attrs.frozen
class Manners:
    """How one server wants to be spoken to."""

    reasoning: ReasoningBack = ReasoningBack.FORBID
    ids: IdForm = OPENAI
    foreign_call: str | None = None
    """`extra_content`, as JSON, of a turn's first call where another provider made it."""


GOOGLE: Final = '{"google":{"thought_signature":"skip_thought_signature_validator"}}'
"""Gemini 3 refuses calls without its signature; this value, which Google documents, stands in for a foreign one."""

HOSTS: Final[Mapping[str, Manners]] = {
    "deepseek.com": Manners(ReasoningBack.REQUIRE),
    "moonshot.ai": Manners(ReasoningBack.REQUIRE),
    "moonshot.cn": Manners(ReasoningBack.REQUIRE),
    "z.ai": Manners(ReasoningBack.ALLOW),
    "bigmodel.cn": Manners(ReasoningBack.ALLOW),
    "mistral.ai": Manners(ids=MISTRAL),
    "googleapis.com": Manners(foreign_call=GOOGLE),
}
"""By the end of the host's name. Everything else, such as OpenAI, Groq, Cerebras and Fireworks, takes no reasoning."""


def manners_of(host: str) -> Manners:
    for name, manners in HOSTS.items():
        if host == name or host.endswith("." + name):
            return manners
    return Manners()
