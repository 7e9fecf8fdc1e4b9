"""What a hook is, what it is told, and what it may answer."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Generic, TypeVar

import attrs

from states.errors import ConfigError
from states.records import JSON

TIMEOUT: Final = 30.0
"""Seconds that a hook gets (the limit of blade-code for its hooks)."""


@attrs.frozen
class ToolUse:
    """A call, as a hook hears of it. `output` and `failed` are set after it has run."""

    session: str
    call: str
    name: str
    arguments: Mapping[str, JSON]
    output: str = ""
    failed: bool = False


@attrs.frozen
class ToolAnswer:
    """All of it may be left out: then nothing is objected to and nothing changed.

    Before a call: `deny` or `ask` (a person), each with the reason; `arguments` replace the call's own, which are then
    validated and permitted anew. After it: `output` replaces what the model reads, `add` is added to it, and `error`
    marks it as a failure and says why.
    """

    deny: str = ""
    ask: str = ""
    arguments: Mapping[str, JSON] | None = None
    output: str | None = None
    add: str = ""
    error: str = ""


@attrs.frozen
class Ending:
    """A run that is about to end, as a hook hears of it."""

    session: str
    text: str
    """The model's last words, or the output that it handed in, as JSON."""
    active: bool = False
    """It goes on since a stop hook refused the last time, and nobody has said anything since."""
    permission: str = "full"
    agent: str = ""
    """Its name, if it works for another run."""
    caller: str = ""
    """The session of the run that it works for."""


@attrs.frozen
class Refusal:
    """The run may not end yet: it goes back to the model, which reads the reason."""

    reason: str = attrs.field()

    @reason.validator
    def _says_why(self, _: object, reason: str) -> None:
        if not reason.strip():
            raise ValueError("a refusal needs a reason: the model has to know what is left to do")


@attrs.frozen
class Leave:
    """The run may end, and no hook after this one is asked."""

    reason: str = ""


@attrs.frozen
class SessionMoment:
    """Something about a session. `about`: the words of a prompt; `startup` or `resume`; or why it ended or rests."""

    session: str
    about: str


@attrs.frozen
class Words:
    """What a hook says to that. `deny` refuses a prompt, with the reason; `add` is told to the model besides."""

    deny: str = ""
    add: str = ""


Heard = TypeVar("Heard", ToolUse, Ending, SessionMoment)
Said = TypeVar("Said", ToolAnswer, Refusal | Leave, Words)


def _matcher(pattern: str) -> "re.Pattern[str]":
    try:
        return re.compile(".*" if pattern in ("", "*") else pattern)
    except re.error as error:
        raise ConfigError(f"hooks: the matcher {pattern!r} is no regular expression: {error}") from error


def _seconds(_: object, __: object, value: float) -> None:
    if not 0 < value <= 3600:
        raise ConfigError(f"hooks: a timeout of {value!r} seconds; it takes more than 0 and at most 3600")


@attrs.frozen
class Asked(Generic[Heard, Said]):
    """`run` is a shell command or a function; `matcher` a regular expression that the whole of a name has to fit."""

    run: str | Callable[[Heard], Said | Awaitable[Said | None] | None]
    matcher: str = ""
    timeout: float = attrs.field(default=TIMEOUT, validator=_seconds)
    _pattern: "re.Pattern[str]" = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        if isinstance(self.run, str) and not self.run.strip():
            raise ConfigError("hooks: an empty command does nothing")
        object.__setattr__(self, "_pattern", _matcher(self.matcher))

    @property
    def name(self) -> str:
        return self.run if isinstance(self.run, str) else getattr(self.run, "__name__", type(self.run).__name__)

    def fits(self, *names: str) -> bool:
        return any(self._pattern.fullmatch(name) for name in names)


@attrs.frozen
class PreToolUse(Asked[ToolUse, ToolAnswer]):
    """Is asked before a call starts, after its permission: it may deny it, change it, or have a person asked."""


@attrs.frozen
class PostToolUse(Asked[ToolUse, ToolAnswer]):
    """Is told after a call has run: it may add to what the model reads, replace it, or mark it as a failure."""


@attrs.frozen
class Stop(Asked[Ending, Refusal | Leave]):
    """Is asked before a run may end as a success: it may refuse. It has no matcher."""


@attrs.frozen
class SubagentStop(Asked[Ending, Refusal | Leave]):
    """Is asked before the run of an agent may end as a success. The matcher is for the agent's name."""


@attrs.frozen
class UserPromptSubmit(Asked[SessionMoment, Words]):
    """Is asked before words of a person are taken: it may refuse them, or tell the model more. It has no matcher."""


@attrs.frozen
class SessionStart(Asked[SessionMoment, Words]):
    """Is asked when a session is taken up, before anything is done. The matcher is for `startup` and `resume`."""


@attrs.frozen
class SessionEnd(Asked[SessionMoment, Words]):
    """Is told when a session's run has ended or rests. The matcher is for the reason."""


Hook = PreToolUse | PostToolUse | Stop | SubagentStop | UserPromptSubmit | SessionStart | SessionEnd
