"""What a shell text proves: the kinds of checks that exit status 0 of it vouches for, or why it vouches for none."""

import posixpath
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from gates.shell import Unclear, proven

from .options import EVERYWHERE, LIMITS, RESPONSE_FILES, Limits
from .runners import tool_of
from .scripts import ENVIRONMENTS, RUNNERS, Runner, kinds_of_environment, kinds_of_target
from .tools import KNOWN, STARTS

Words = tuple[str, ...]
Own = Iterable[tuple[str, str]]
"""A project's own commands: a kind, and the words that a command starts with."""

KINDS: Final = KNOWN
EXAMPLES: Final = {"test": "pytest -q", "lint": "ruff check .", "type-check": "mypy .", "build": "make"}
"""What to show a model that owes a kind."""
_LONGEST: Final = max(map(len, STARTS))
_TOOLS: Final = frozenset(start[0] for start in STARTS) | RUNNERS.keys()
_WORD: Final = re.compile(r"[\w./-]+")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*:?=")
_HARMLESS_SETTINGS: Final = frozenset({"V", "VERBOSE", "CI", "DEBUG", "NO_COLOR"})
_SCRIPTS: Final = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_NO_RUNS: Final = re.compile(r"(?:^| )--?count[= ]0+(?: |$)")
_NO_LIMITS: Final = Limits()


def kinds_of(command: str, own: Own = (), root: str = "") -> tuple[str, ...]:
    """The kinds that exit status 0 of this shell text proves, in a fixed order; none if in doubt.

    own: the project's own commands. root: absolute path of the workspace, so that `cd` into it is understood.
    """
    return tuple(sorted(_judged(command, tuple(own), root)[0], key=_place))


def refusal(command: str, own: Own = (), root: str = "") -> str:
    """Why a text proves nothing although it looks like a check, in words; empty if there is nothing to say."""
    names = {start.split()[0] for _, start in own if start} | _TOOLS
    looks_like_one = any(posixpath.basename(word) in names for word in _WORD.findall(command))
    return _judged(command, tuple(own), root)[1] if looks_like_one else ""


@lru_cache(maxsize=256)
def _judged(command: str, own: tuple[tuple[str, str], ...], root: str) -> tuple[frozenset[str], str]:
    """The kinds, and the last reason against a part of the text or against all of it."""
    kinds: set[str] = set()
    reason = ""
    try:
        for simple in proven(command, lambda words: _is_check(words, own), root):
            try:
                kinds.update(_shown(simple.words, own))
            except Unclear as unclear:
                reason = str(unclear)
    except Unclear as unclear:
        return frozenset(), str(unclear)
    return frozenset(kinds), reason


def _place(kind: str) -> tuple[int, str]:
    return (KINDS.index(kind) if kind in KINDS else len(KINDS), kind)


def _is_check(words: Words, own: Own) -> bool:
    """Whether a command is one of interest, with whatever options."""
    tool = tool_of(words)
    return bool(_own_kinds(words, own)) or (bool(tool) and (tool[0] in RUNNERS or bool(_start(tool)[1])))


def _shown(words: Words, own: Own) -> tuple[str, ...]:
    """The kinds that one simple command proves. Raises Unclear where an option voids it."""
    kinds = _own_kinds(words, own)
    if kinds:
        _check_options(words[0], words[1:], _NO_LIMITS)
        return kinds
    tool = tool_of(words)
    if not tool or not tool[0]:
        return ()
    if tool[0] in ENVIRONMENTS:
        return _of_environments(tool)
    kinds = _of_start(tool)
    return kinds or (_of_targets(tool, RUNNERS[tool[0]]) if tool[0] in RUNNERS else ())


def _own_kinds(words: Words, own: Own) -> tuple[str, ...]:
    return tuple(kind for kind, start in own if words[: len(start.split())] == tuple(start.split()))


def _start(words: Words) -> tuple[int, tuple[str, ...]]:
    """How many words the longest known beginning has, and its kinds."""
    if words[0] == "node":
        return (1, ("test",)) if _runs_tests(words) else (0, ())
    for length in range(min(_LONGEST, len(words)), 0, -1):
        kinds = STARTS.get(words[:length], ())
        if kinds:
            return length, kinds
    return 0, ()


def _runs_tests(words: Words) -> bool:
    """Node was given --test itself, not the script that it runs."""
    scripts = (place for place, word in enumerate(words) if word.endswith(_SCRIPTS))
    return "--test" in words[: next(scripts, len(words))]


def _of_start(words: Words) -> tuple[str, ...]:
    length, kinds = _start(words)
    if kinds:
        name = words[1] if words[0] == "-m" else words[0]
        _check_options(name, words[length:], LIMITS.get(name, _NO_LIMITS))
    return kinds


def _of_environments(words: Words) -> tuple[str, ...]:
    """Tox and nox: the environments that are named, or else the tests."""
    options = ENVIRONMENTS[words[0]]
    kinds: list[str] = []
    rest: list[str] = []
    arguments = list(words[1:])
    while arguments:
        argument = arguments.pop(0)
        name, equals, value = argument.partition("=")
        if name in options:
            kinds += kinds_of_environment(value if equals else arguments.pop(0) if arguments else "")
            if not kinds:
                return ()
        else:
            rest.append(argument)
    _check_options(words[0], tuple(rest), LIMITS[words[0]])
    return tuple(dict.fromkeys(kinds)) or ("test",)


def _of_targets(words: Words, runner: Runner) -> tuple[str, ...]:
    """make, npm and their like: what the targets' names say. Several targets all have to succeed."""
    limits = LIMITS.get(words[0], _NO_LIMITS)
    targets = _targets(words[1:], runner)
    if runner.run or runner.short:
        targets = _after_run(targets, runner)
    if not targets:
        kinds = runner.bare
    elif runner.many:
        kinds = tuple(kind for target in targets for kind in kinds_of_target(target, runner.names))
    else:
        kinds = kinds_of_target(targets[0], runner.names)
    if kinds:
        _check_options(words[0], words[1:], limits, runner.valued)
    return tuple(dict.fromkeys(kinds))


def _targets(arguments: Words, runner: Runner) -> Words:
    targets: list[str] = []
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word in runner.valued:
            del left[:1]
        elif word == "--":
            break
        elif _ASSIGNMENT.match(word):
            if word.partition("=")[0].rstrip(":") not in _HARMLESS_SETTINGS:
                raise Unclear(f"`{word}` may change what is run")
        elif not word.startswith("-"):
            targets.append(word)
    return tuple(targets)


def _after_run(targets: Words, runner: Runner) -> Words:
    """The target alone, whether or not `run` has to stand before it; a word that names nothing else."""
    if targets[:1] == ("workspace",):
        targets = targets[2:]
    if targets and targets[0] in runner.run:
        return targets[1:2] or ("",)
    first = targets[0] if targets else ""
    short = first in runner.short or (":" in first and first.partition(":")[0] in runner.short and first[:3] != "npm")
    return ({"t": "test", "tst": "test"}.get(first, first),) if short else ("",)


def _check_options(tool: str, arguments: Words, limits: Limits, valued: frozenset[str] = frozenset()) -> None:
    """Raise Unclear for an argument with which the tool does not check what it is known for."""
    _check_input(tool, arguments)
    refused = EVERYWHERE | limits.options
    skip = False
    free: list[str] = []
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if tool == "go" and name.startswith("--"):
            name = name[1:]
        if skip:
            skip = False
            continue
        if argument.startswith("-") and argument not in ("-", "--"):
            ours = (name in valued and "--" not in arguments[:place]) or (
                name in limits.needs and argument not in refused
            )
            if value != "false" and not ours and _refused(name, argument, refused, limits.letters):
                raise Unclear(f"with `{argument}`, {tool} checks nothing, not everything, or not as it is")
            skip = not equals and name in (limits.valued | valued)
        else:
            free.append(argument)
            if not limits.node_ids and "::" in argument:
                raise Unclear(f"`{argument}` is only a part")
    if not limits.free and any(word != "--" for word in free):
        raise Unclear(f"`{next(word for word in free if word != '--')}` selects a part")
    if free and free[0] in limits.words:
        raise Unclear(f"`{tool} {free[0]}` checks nothing")
    if limits.needs and not any(argument.partition("=")[0] in limits.needs for argument in arguments):
        raise Unclear(f"{tool} shows nothing without {' or '.join(sorted(limits.needs))}")


def _check_input(tool: str, arguments: Words) -> None:
    """Raise Unclear for what takes the place of the files, or of the options that can be seen."""
    if "-" in arguments:
        raise Unclear(f"{tool} gets no input, so that with `-` it checks nothing")
    if tool in RESPONSE_FILES and any(argument.startswith("@") for argument in arguments):
        raise Unclear("nobody sees which options stand in a file behind `@`")
    if tool == "go" and _NO_RUNS.search(" ".join(arguments)):
        raise Unclear("go runs each test 0 times")


def _refused(name: str, argument: str, refused: frozenset[str], letters: str) -> bool:
    if name in refused or argument in refused:
        return True
    if name.startswith("--"):
        return len(name) > 3 and any(option.startswith(name) for option in refused)
    return bool(letters) and any(letter in letters for letter in argument[1:].partition("=")[0])
