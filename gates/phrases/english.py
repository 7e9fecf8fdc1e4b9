"""Requests in English: who is told to run what, with negation bound to the verb that it stands before.

A sentence is read as words, not parsed: a verb of running in a place where only a request can stand, and the nouns
right behind it. "Fix the tests" asks for no run, "make the tests pass" does.
"""

from collections.abc import Iterator
from typing import Final

import attrs

from .heard import Heard
from .nouns import Noun, noun_at, nouns_from
from .quoted import without_quotes
from .words import (
    AFTER_NOT,
    AUXILIARIES,
    BOUNDARIES,
    CONDITIONS,
    DETERMINERS,
    FORGET,
    GENTLE,
    HARD,
    MARKERS,
    MODALS,
    NOT,
    PASSING,
    RUN,
    RUNNING,
    SKIP,
    SKIPPING,
    TO_OF,
    WHOLE,
    Word,
    words_of,
)

_FAILING: Final = frozenset({"fail", "fails", "failing", "break", "breaks", "broken"})
_TROUBLES: Final = frozenset(
    {"errors", "error", "warnings", "warning", "failures", "failure", "issues", "violations", "problems"}
)
_ENSURE: Final = frozenset(
    {"ensure", "sure", "verify", "confirm", "guarantee", "until", "check", "see", "want", "require", "that"}
)
_MAKE: Final = frozenset({"make", "get", "keep", "leave", "have", "need", "help"})
_REACH: Final = 8
"""Words that may stand between a demand and what is demanded."""


def hear(text: str) -> Iterator[Heard]:
    """Everything that an English text says about checks."""
    words = words_of(without_quotes(text))
    taken = 0
    for place in range(len(words)):
        if place >= taken:
            for found in _at(_Reader(words), place):
                taken = max(taken, found.end)
                said = text[words[found.start].place : words[found.end - 1].place + len(words[found.end - 1].said)]
                yield Heard(words[found.start].place, found.kinds, " ".join(said.split()), wanted=found.wanted)


@attrs.frozen
class _Found:
    start: int
    end: int
    kinds: tuple[str, ...]
    wanted: bool


def _at(reader: "_Reader", place: int) -> Iterator[_Found]:
    word = reader.words[place].text
    if word in RUN or (
        word in ("do", "perform") and reader.text(place + 1) in ("a", "an", "another", "one", "the", "all")
    ):
        yield from reader.command(place)
    elif word in RUNNING:
        yield from reader.gerund(place)
    elif word in SKIP or word in SKIPPING:
        yield from reader.skipped(place)
    elif word in WHOLE:
        yield from reader.whole(place)
    elif word in ("with", "using", "via", "use"):
        yield from reader.by_means(place)
    noun = noun_at(reader.words, place)
    if noun is not None:
        yield from reader.demand(noun, place)


@attrs.frozen
class _Reader:
    words: list[Word]

    def text(self, place: int) -> str:
        """The word at a place; a full stop beyond the ends."""
        return self.words[place].text if 0 <= place < len(self.words) else "."

    # --- verbs ----------------------------------------------------------------------------------------------------

    def command(self, place: int) -> Iterator[_Found]:
        """Run the tests"""
        kinds, end = nouns_from(self.words, place + 1)
        if not kinds or self._conditional(place, end):
            return
        wanted = self._wanted(place)
        if wanted is not None:
            yield _Found(place if wanted else self._negation(place), end, kinds, wanted)

    def gerund(self, place: int) -> Iterator[_Found]:
        """Without running the tests; finish by running the tests"""
        kinds, end = nouns_from(self.words, place + 1)
        before = self.text(place - 1)
        if not kinds:
            return
        if before in ("without", "avoid", "skip", "not", "never", "stop", "no") or (
            before in ("of", "than", "from") and self.text(place - 2) in ("instead", "rather", "refrain")
        ):
            yield _Found(place - 1, end, kinds, wanted=False)
        elif before == "by" and self.text(place - 2) not in ("fails", "failed", "caused", "reproduced", "reproduce"):
            yield _Found(place - 1, end, kinds, wanted=True)

    def skipped(self, place: int) -> Iterator[_Found]:
        """Skip the tests; do not skip the tests"""
        kinds, end = nouns_from(self.words, place + 1)
        if kinds:
            if self.words[place].text in SKIPPING:
                if self.text(place - 1) == "without":
                    yield _Found(place - 1, end, kinds, wanted=True)
                return
            wanted = self._wanted(place)
            if wanted is not None:
                yield _Found(place, end, kinds, not wanted)

    def whole(self, place: int) -> Iterator[_Found]:
        """Lint the code; compile the project"""
        kinds, objects = WHOLE[self.words[place].text]
        end = place + 1
        joined = [kinds]
        while self.text(end) in ("and", "or", ",") and self.text(end + 1) in WHOLE:
            joined.append(WHOLE[self.text(end + 1)][0])
            end += 2
        while self.text(end) in DETERMINERS:
            end += 1
        if self.text(end) not in objects or self._conditional(place, end + 1):
            return
        wanted = self._wanted(place)
        if wanted is not None:
            found = tuple(dict.fromkeys(kind for each in joined for kind in each))
            yield _Found(place, end + 1, found, wanted)

    def by_means(self, place: int) -> Iterator[_Found]:
        """Verify it with pytest; use `make test` to verify"""
        noun = noun_at(self.words, place + 1)
        if noun is None or not noun.tool:
            return
        checking = ("verify", "check", "validate", "confirm", "prove")
        if self.text(place) == "use":
            follows = self.text(noun.end) == "to" and self.text(noun.end + 1) in checking
            wanted = self._wanted(place) if follows else None
        else:
            verb = next((at for at in self._back(place, _REACH) if self.text(at) in checking), None)
            wanted = None if verb is None else self._wanted(verb)
        if wanted is not None:
            yield _Found(place, noun.end, noun.kinds, wanted)

    # --- demands --------------------------------------------------------------------------------------------------

    def demand(self, noun: Noun, place: int) -> Iterator[_Found]:
        """Make the tests pass; the tests must be run; make sure there are no lint errors"""
        end = noun.end
        kinds = list(noun.kinds)
        while self.text(end) in ("and", ",", "or", "&") or self.text(end) in DETERMINERS:
            more = noun_at(self.words, end)
            if more is None and (more := noun_at(self.words, end + 1)) is None:
                if self.text(end) in DETERMINERS and noun_at(self.words, end + 2) is None:
                    break
                end += 1
                continue
            kinds += more.kinds
            end = more.end
        begun, demanded = self._demanded(place)
        if self.text(end) in _TROUBLES:
            if self._none_of(place) and demanded:
                yield _Found(begun, end + 1, tuple(dict.fromkeys(kinds)), wanted=True)
            return
        modal, denied, at = self._auxiliaries(end)
        said = self.text(at)
        if said in _FAILING and (self._none_of(place) or (denied and modal)) and (modal or demanded):
            yield _Found(begun, at + 1, tuple(dict.fromkeys(kinds)), wanted=True)
        if said not in PASSING or (said in ("run", "executed") and self.text(at - 1) != "be"):
            return
        if (modal or demanded is not None) and not self._conditional(place, at + 1, leading=not modal):
            yield _Found(begun, at + 1, tuple(dict.fromkeys(kinds)), wanted=not denied and demanded is not False)

    def _auxiliaries(self, place: int) -> tuple[bool, bool, int]:
        """Whether a modal verb and a negation come next, and where they end."""
        modal = denied = False
        while self.text(place) in AUXILIARIES:
            modal |= self.text(place) in MODALS
            denied |= self.text(place) in NOT
            place += 1
        return modal, denied, place

    def _none_of(self, place: int) -> bool:
        return any(self.text(at) in ("no", "zero", "none", "without") for at in self._back(place, 4))

    def _demanded(self, place: int) -> tuple[int, bool | None]:
        """Where a demand for the noun at `place` begins, and whether it is one; False if it is forbidden."""
        plain = True
        for at in self._back(place, _REACH):
            word = self.text(at)
            if word in _ENSURE and word != "that":
                verb = at - 1 if word == "sure" else at
                return verb, self._wanted(verb, loose=True)
            if word == "so" and self.text(at + 1) == "that":
                return at, True
            if word in _MAKE and plain:
                return at, self._wanted(at, loose=True)
            if word in RUN or word in BOUNDARIES:
                break
            plain &= word not in MARKERS
        return place, None

    # --- who is told ----------------------------------------------------------------------------------------------

    def _back(self, place: int, reach: int) -> Iterator[int]:
        """Places before `place` in the same clause, nearest first."""
        for at in range(place - 1, max(-1, place - 1 - reach), -1):
            if self.text(at) in HARD or self.text(at) == "but":
                return
            yield at

    def _wanted(self, place: int, *, loose: bool = False) -> bool | None:
        """Whether the verb at `place` is asked for (True), forbidden (False), or only mentioned (None)."""
        at = place - 1
        forgot = False
        while self.text(at) in AFTER_NOT or self.text(at) in FORGET:
            forgot |= self.text(at) in FORGET
            at -= 1
        if self.text(at) in NOT:
            return forgot
        if self.text(at) in ("or", "nor") and self._denied_before(at):
            return False
        if forgot:
            return None
        if loose and self.text(place) in ("until", "want"):
            return True
        return True if self._imperative(place) else None

    def _negation(self, place: int) -> int:
        return next((at for at in self._back(place, _REACH) if self.text(at) in NOT), place)

    def _denied_before(self, place: int) -> bool:
        """A negation whose list of verbs reaches here: do not build or run."""
        return any(self.text(at) in NOT for at in self._back(place, 6) if not self._parted(at, place))

    def _parted(self, start: int, end: int) -> bool:
        return any(self.text(at) == "but" for at in range(start, end))

    def _imperative(self, place: int) -> bool:
        """Whether a request can stand here: at a clause's start, after `please`, `you must`, `make sure to`."""
        before, earlier = self.text(place - 1), self.text(place - 2)
        if before in BOUNDARIES:
            return before in HARD or not self._subordinate(place - 1)
        if before in ("and", "then", "or", "also", "finally", "afterwards", "again", "&", "but", "instead"):
            return not self._subordinate(place - 1)
        if before in GENTLE:
            return self._imperative(place - 1)
        if before in ("done", "finished", "ready", "that", "it", "end", "everything", "complete", "fixed"):
            return any(self.text(at) in ("after", "once", "when", "the") for at in self._back(place, 6))
        if before == "to":
            subject = self.text(place - 3)
            return earlier in TO_OF and not (earlier in ("need", "have", "want") and subject in ("i", "they", "users"))
        if before == "you":
            return earlier in ("can", "could", "would", "will", "should", "must", "then", "please") or earlier in HARD
        if before in ("must", "should", "shall"):
            return earlier in ("you", "we", "and", "also", "then", ",") or earlier in HARD
        return before in ("let's", "us")

    def _subordinate(self, place: int) -> bool:
        """Whether the clause before `place` speaks of something else: a script that installs and runs."""
        for at in self._back(place + 1, 14):
            word = self.text(at)
            if word == "," and at != place:
                return False
            if word in MARKERS and not (word == "that" and self.text(at - 1) in ("sure", "ensure", "after")):
                return word not in ("when", "once", "while") or self.text(at + 1) in ("i", "we", "users", "they", "it")
            if word in ("i", "we", "they", "users") and self.text(at + 1) not in (
                "must",
                "should",
                "want",
                "need",
                "would",
            ):
                return True
            if word in ("to", "for") and self.text(at - 1) in _TOOLS_FOR:
                return True
        return False

    def _conditional(self, start: int, end: int, *, leading: bool = True) -> bool:
        """If the parser changed, run the tests; run the tests if needed"""
        after, later = self.text(end), self.text(end + 1)
        if (
            after in CONDITIONS
            or (after == "only" and later in CONDITIONS)
            or (after in ("as", "when", "where") and later in ("needed", "necessary", "applicable", "possible"))
        ):
            return True
        if not leading:
            return False
        return any(
            self.text(at) in ("if", "unless") and self.text(at - 1) not in ("see", "check", "verify")
            for at in self._back(start, 40)
        )


_TOOLS_FOR: Final = frozenset(
    [
        "job",
        "script",
        "workflow",
        "action",
        "hook",
        "target",
        "command",
        "pipeline",
        "makefile",
        "function",
        "step",
        "tool",
        "option",
        "flag",
        "button",
        "recipe",
        "alias",
        "task",
        "stage",
        "ability",
        "feature",
        "way",
        "instructions",
        "docs",
        "documentation",
        "readme",
        "section",
        "helper",
        "endpoint",
        "page",
    ]
)
