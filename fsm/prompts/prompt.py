"""What a caller says about the system prompt beside its base. Replacing the base leaves all of it in place."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import attrs

from states.errors import ConfigError

STYLES: Final[Mapping[str, str]] = {
    "concise": "Answer in as few words as the matter allows. No preamble, no summary of what is plain from the work.",
    "explanatory": "Say, beside what you did, why it was done so and what else was possible, in a few sentences.",
}
"""Styles by name; any other text is a style in the caller's own words."""


def _style(style: str) -> str:
    return STYLES.get(style, style).strip()


@attrs.frozen
class Prompt:
    """The layers above the base: style, project instructions, memory, environment, append, in this order.

    style: how the model is to write: a name of `STYLES`, or words.
    instructions: whether AGENTS.md, CLAUDE.md and interlock.md of the project are read. None: if the user's own list of
        trusted folders (`~/.config/interlock/trusted`) has the folder that they stand in. True vouches for them.
    memory: a file with an index of what was learnt before; its first 200 lines are read.
    environment: whether the folder, the platform and the shell are named.
    append: the last words, or a file with them.
    runtime: whether date, folder and git state are told before each input, and so outside of the system prompt.
    """

    style: str = attrs.field(default="", converter=_style)
    instructions: bool | None = None
    memory: Path | None = attrs.field(default=None, converter=attrs.converters.optional(Path))
    environment: bool = True
    append: str | Path = ""
    runtime: bool = False


BARE: Final = Prompt(instructions=False, environment=False)
"""The base alone: for whoever judges a run, which may have written the project's files itself."""


def words_of(given: str | Path, what: str) -> tuple[str, str]:
    """Where words came from, and the words. Raises ConfigError for a file that cannot be read."""
    if isinstance(given, str):
        return "given", given
    try:
        return str(given), given.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{what}: {str(given)!r} cannot be read: {error}") from error
