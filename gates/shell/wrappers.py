"""Programs that run another one and end with its exit status: `time`, `timeout`, `env`, a shell with `-c`."""

import re
from typing import Final

from .harmless import VARIABLES
from .unclear import Unclear

Words = tuple[str, ...]

_SHELLS: Final = frozenset({"bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash"})
_DURATION: Final = re.compile(r"\d+(\.\d+)?[smhd]?")
_OPTIONS: Final[dict[str, dict[str, int]]] = {
    "time": {"-p": 0},
    "timeout": {"-k": 1, "--kill-after": 1, "-s": 1, "--signal": 1, "--foreground": 0, "-v": 0, "--verbose": 0},
    "nice": {"-n": 1},
    "nohup": {},
    "env": {},
    "stdbuf": {"-oL": 0, "-o0": 0, "-eL": 0, "-e0": 0},
}
"""Options of each, with how many words they take besides `--option=value`. Not among them: `--preserve-status`, after
which a command that was stopped can still end with 0."""


def unwrapped(words: Words) -> Words:
    """What is really run. Raises Unclear if a wrapper is given something that it is not known to take."""
    while words and words[0] in _OPTIONS:
        wrapper, words = words[0], words[1:]
        words = _after_options(wrapper, words)
        if wrapper == "timeout":
            if not words or not _DURATION.fullmatch(words[0]):
                raise Unclear("timeout without a duration")
            words = words[1:]
        while wrapper == "env" and words and "=" in words[0]:
            if words[0].partition("=")[0] not in VARIABLES:
                raise Unclear(f"the variable in `{words[0]}` may change what is checked")
            words = words[1:]
    if not words:
        raise Unclear("nothing is run")
    return words


def _after_options(wrapper: str, words: Words) -> Words:
    known = _OPTIONS[wrapper]
    while words and words[0].startswith("-"):
        name, equals, _ = words[0].partition("=")
        if name not in known:
            raise Unclear(f"`{wrapper} {words[0]}` is not read")
        words = words[1 if equals else 1 + known[name] :]
    return words


def inner_text(words: Words) -> tuple[str, Words] | None:
    """For `bash [options] -c TEXT`: the text and the options, as `set` would take them. None for another command.

    Raises Unclear for a shell that runs anything else.
    """
    if words[0] not in _SHELLS:
        return None
    options: list[str] = []
    rest = list(words[1:])
    while rest:
        option = rest.pop(0)
        if not re.fullmatch(r"-[ceuxlo]+", option):
            break
        letters = option[1:].replace("c", "").replace("l", "")
        if letters:
            options.append(f"-{letters}")
        if "o" in letters and rest:
            options.append(rest.pop(0))
        if "c" in option:
            if len(rest) != 1:
                break
            return rest[0], tuple(options)
    raise Unclear(f"`{' '.join(words)[:60]}` runs something that is not read")
