"""The words that reading an English request needs. Data, and the cutting of a text into words."""

import re
from typing import Final

import attrs


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


RUN: Final = _set("run rerun re-run execute re-execute perform invoke launch")
RUNNING: Final = _set("running rerunning re-running executing")
SKIP: Final = _set("skip omit bypass")
SKIPPING: Final = _set("skipping omitting bypassing")
FORGET: Final = _set("forget fail neglect omit hesitate")
NOT: Final = _set("not never no without avoid unnecessary forbidden")
AFTER_NOT: Final = _set("""
    to ever bother need have you try attempt actually even please want just simply also reason required
    necessary yet us
""")
"""Words that may stand between a negation and its verb."""
HARD: Final = _set(". ; ! ? \n :")
BOUNDARIES: Final = HARD | _set(", - ( ) * |")
GENTLE: Final = _set("please now first next just always simply kindly only lastly once afterward")
"""Words that change nothing about a request."""
TO_OF: Final = _set("""
    sure remember need needs have you is are proceed required expected asked want careful continue try
""")
"""`to` after these tells somebody to do something."""
MARKERS: Final = _set("that which who how when whenever if why what while whether where once")
CONDITIONS: Final = _set("if unless")
DETERMINERS: Final = _set("the a an all our my your its this whole entire full existing both every each of any")
MODALS: Final = _set("must should shall need needs have has")
AUXILIARIES: Final = MODALS | _set("""
    to still all also be is are remain remains stay stays keep both again will not do does never fully cleanly
    now suite
""")
PASSING: Final = _set("pass passes passing succeed succeeds green clean run executed")

_PROJECT: Final = _set("project package crate solution workspace codebase repo repository")
_CODE: Final = _PROJECT | _set("code it everything changes files source sources result")
WHOLE: Final = {
    "lint": (("lint",), _CODE),
    "typecheck": (("type-check",), _CODE),
    "type-check": (("type-check",), _CODE),
    "compile": (("build",), _CODE | _set("binary")),
    "rebuild": (("build",), _CODE | _set("app application binary")),
    "build": (("build",), _PROJECT),
}
"""Verbs that name a check themselves, and what has to follow."""

_WORD: Final = re.compile(
    r"`[^`\n]*`|[A-Za-z0-9_]+(?:[-'./:][A-Za-z0-9_]+)*|\n[ \t]*\n|\n(?=[ \t]*(?:[-*•]|\d+[.)]))|[.,;!?:()&*|-]"
)
_JOINED: Final = {"cannot": ("can", "not"), "dont": ("do", "not"), "n't": ("not",)}


@attrs.frozen
class Word:
    """A word as it is compared, where it stands, and as it was said."""

    text: str
    place: int
    said: str


def words_of(text: str) -> list[Word]:
    """Lower case; `don't` is two words, code in backticks is one, paragraphs and items end with a full stop."""
    words: list[Word] = []
    for match in _WORD.finditer(text.replace("’", "'")):
        said = match[0]
        if said.startswith("`"):
            words.append(Word(said, match.start(), said))
        elif said.startswith("\n"):
            words.append(Word(".", match.start(), ""))
        elif said.lower().endswith("n't"):
            words += [Word(said[:-3].lower(), match.start(), said), Word("not", match.start(), said)]
        else:
            words += [Word(part, match.start(), said) for part in _JOINED.get(said.lower(), (said.lower(),))]
    return words
