"""Nouns that name a check: "tests", "the linter", "type check", and the tools themselves."""

from functools import lru_cache
from typing import Final

import attrs

from gates.commands import kinds_of
from gates.commands.scripts import RUNNERS
from gates.commands.tools import STARTS

from .words import BOUNDARIES, DETERMINERS, HARD, RUN, WHOLE, Word


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KINDS: Final = {
    **dict.fromkeys(("test", "tests", "testsuite", "unittest", "unittests", "unit-tests"), "test"),
    **dict.fromkeys(("lint", "linter", "linters", "linting", "lints"), "lint"),
    **dict.fromkeys(("typecheck", "typechecks", "typechecker", "typechecking"), "type-check"),
    **dict.fromkeys(("type-check", "type-checks", "type-checker", "type-checking"), "type-check"),
    **dict.fromkeys(("ruff", "biome", "golangci-lint", "clippy"), "lint"),
    **dict.fromkeys(("build", "builds", "compilation"), "build"),
}  # fmt: skip
_TYPE_SECOND: Final = _set("check checks checker checking")
_SINGULAR: Final = _set("test lint build type-check typecheck")
_MAY_FOLLOW: Final = _set("""
    suite suites case cases command commands script target targets step task job again now too first locally
    once twice before after and or to with in on for until when so if then please as using via against
    afterwards pass passes passing check checks tool runner at by from also but that which because since while
    must should is are be needs need has have still succeeds succeed stay stays remain remains green clean one
    finally unless plus nor only instead file files errors error warnings warning failures failure issues
    violations problems will not does do
""")
"""Words after which `test` is a noun of its own, and not a part of another (`test server`)."""
_OF_SOMETHING_ELSE: Final = _set(
    "directory folder data server servers fixture fixtures helper helpers framework button page"
)
_STOP: Final = _set("""
    to in on with that which for from by at as if when because so but before after until while fix add write
    update create implement make change remove delete check verify ensure commit push open report tell explain
    show it them this these is are was were be not never without using via then see use install edit refactor
    rename move find read look document again once only instead locally coverage
""")
_FINITE: Final = _set("is are was were fail fails failed should must need do does will have has pass passes")
_JOINS: Final = _set("and or , & plus nor / also")
_COMMANDS: Final = (frozenset(start[0] for start in STARTS) | RUNNERS.keys()) - {
    "standard",
    "task",
    "just",
    "make",
    "tap",
    "credo",
}
_MODIFIERS: Final = 5
"""Words that may stand before a noun."""


@attrs.frozen
class Noun:
    """`end` is the place after it. `tool`: it is a command rather than a word for a check."""

    kinds: tuple[str, ...]
    end: int
    tool: bool = False


def noun_at(words: list[Word], place: int) -> Noun | None:
    """The noun that begins at a place."""
    word = _text(words, place)
    if word.startswith("`"):
        kinds = _kinds(word.strip("`").strip())
        return Noun(kinds, place + 1, tool=True) if kinds else None
    if word == "type" and _text(words, place + 1) in _TYPE_SECOND:
        return Noun(("type-check",), place + 2)
    if word == "type" and _text(words, place + 1) in ("errors", "error"):
        return Noun(("type-check",), place + 1)
    if word in _KINDS:
        return _plain(words, place)
    if word in _COMMANDS or (word == "make" and _text(words, place - 1) in RUN):
        for length in (1, 2, 3):
            said = [each.said for each in words[place : place + length]]
            kinds = _kinds(" ".join(said)) if not BOUNDARIES & set(said) else ()
            if kinds and not (word == "make" and length == 1):
                return Noun(kinds, place + len(said), tool=True)
    return None


def _plain(words: list[Word], place: int) -> Noun | None:
    word, following = _text(words, place), _text(words, place + 1)
    if following in _OF_SOMETHING_ELSE:
        return None
    if word in _SINGULAR and following not in _MAY_FOLLOW and following not in BOUNDARIES | _JOINS:
        return None
    if following in ("suite", "suites", "case", "cases"):
        return Noun((_KINDS[word],), place + 2)
    return Noun((_KINDS[word],), place + 1)


def nouns_from(words: list[Word], place: int) -> tuple[tuple[str, ...], int]:
    """All nouns that are the object of the verb before `place`, and where the last one ends."""
    kinds: list[str] = []
    end, modifiers, joined = place, 0, False
    at = place
    while at < len(words):
        noun = noun_at(words, at)
        word = _text(words, at)
        if noun is not None:
            if joined and _text(words, noun.end) in _FINITE:
                break
            kinds += noun.kinds
            at = end = noun.end
            modifiers = 0
        elif word in _JOINS:
            if _text(words, at + 1) in RUN or _verb(words, at + 1):
                break
            joined, modifiers, at = True, 0, at + 1
        elif (word in _STOP or word in HARD or word in BOUNDARIES or word in RUN) and word != "also":
            break
        else:
            modifiers += word not in DETERMINERS
            if modifiers > _MODIFIERS:
                break
            at += 1
    return tuple(dict.fromkeys(kinds)), end


def _verb(words: list[Word], place: int) -> bool:
    """Whether a word that could be a noun is a verb here: `build the image`."""
    return _text(words, place) in WHOLE and _text(words, place + 1) in DETERMINERS | {"it", "everything"}


def _text(words: list[Word], place: int) -> str:
    return words[place].text if 0 <= place < len(words) else "."


@lru_cache(maxsize=512)
def _kinds(command: str) -> tuple[str, ...]:
    return kinds_of(command)
