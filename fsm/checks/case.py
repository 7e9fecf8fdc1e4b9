"""A failing history as a file: what happened in which order, so that it can be told and played again."""

import hashlib
import json
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import attrs

from states.errors import ConfigError

VERSION: Final = 1


@attrs.frozen
class Step:
    """A deed by its label; `order` seeds the order of what is ready; `during`: another deed after so many rounds."""

    do: str
    order: int = 0
    during: str = ""
    after: int = 0

    def __str__(self) -> str:
        return f"{self.do}; meanwhile ({self.after} rounds later) {self.during}" if self.during else self.do


@attrs.frozen
class Case:
    """`loop` and `claims` name functions as "module:name"; `start` is the past that the history goes on from."""

    loop: str
    steps: tuple[Step, ...]
    claim: str = ""
    why: str = ""
    start: str = ""
    claims: tuple[str, ...] = ()
    story: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        told = json.dumps([self.start, *(attrs.astuple(step) for step in self.steps)])
        words = re.sub(r"\W+", "_", self.claim or "case").strip("_")[:40]
        return f"{words}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        path.write_text(
            json.dumps({"interlock_case": VERSION} | attrs.asdict(self), indent=1, ensure_ascii=False) + "\n"
        )
        return path


def read(path: Path) -> Case:
    """Raises ConfigError for a file that is not there, or is no case of this version."""
    try:
        data = json.loads(path.read_text())
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error}") from error
    except ValueError as error:
        raise ConfigError(f"{str(path)!r} is no case: {error}") from error
    if not isinstance(data, dict) or data.pop("interlock_case", None) != VERSION:
        raise ConfigError(f"{str(path)!r} is no case of this version (interlock_case: {VERSION})")
    try:
        steps = tuple(Step(**step) for step in data.pop("steps"))
        return Case(steps=steps, claims=tuple(data.pop("claims", ())), story=tuple(data.pop("story", ())), **data)
    except (TypeError, KeyError) as error:
        raise ConfigError(f"{str(path)!r} is no case: {error}") from error


def named(thing: object) -> str:
    """A function as "module:name", so that a case can find it again."""
    return f"{getattr(thing, '__module__', '')}:{getattr(thing, '__qualname__', '')}"


def found(name: str) -> Any:
    """The function that `named` named. Raises ConfigError where it is not to be found."""
    module, _, path = name.partition(":")
    try:
        thing = import_module(module)
        for part in path.split("."):
            thing = getattr(thing, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"{name!r} cannot be found ({error}); put it at the top of a module that can be imported"
        ) from error
    return thing


def kind_of_break(why: str) -> str:
    """The same for breaks that differ in numbers alone."""
    return re.sub(r"\d+", "#", why)


def shorter(steps: Sequence[Step], size: int) -> "list[tuple[Step, ...]]":
    """The steps without each run of `size`, the last ones first; size 1 also without what happened meanwhile."""
    found_ = [(*steps[: max(0, end - size)], *steps[end:]) for end in range(len(steps), 0, -size)]
    if size == 1:
        for place, step in enumerate(steps):
            if step.during:
                found_.append((*steps[:place], attrs.evolve(step, during="", after=0), *steps[place + 1 :]))
            if step.order:
                found_.append((*steps[:place], attrs.evolve(step, order=0), *steps[place + 1 :]))
    return found_
