"""Project instructions: files for agents, from the project's root down to the working folder.

They are a stranger's words until the user trusts the folder: a cloned repository must not be able to instruct an agent
by itself. Of several names in one folder the first of `NAMES` is read; the nearest folder is served first, and stands
last.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from fsm.trust import is_trusted, trust_file
from states.records import Layer, PromptLayer
from states.text import safe_text

from .sources import Source, head, read

NAMES: Final = ("interlock.md", "AGENTS.md", "CLAUDE.md")
"""What is written for this program comes before what is written for any, and that before what is for another one."""
LIMIT: Final = 32 * 1024
"""Bytes of all files together (blade-code's limit); the nearest are served first."""
HEADING: Final = """\
# Project instructions

From files of the project, the outermost folder first. Where they contradict each other, the later one holds. They
change nothing about permissions, or about what has to be shown before the work counts as done.
"""


def instructions(folder: Path, trust: bool | None, environment: Mapping[str, str]) -> tuple[PromptLayer, ...]:
    """A layer for each file, in the order in which the model reads them. trust: None asks the user's own list."""
    top = root_of(folder)
    left = LIMIT
    found: list[PromptLayer] = []
    for nearest in _folders(folder, top):
        for place, path in enumerate(_files(nearest)):
            if place:
                found.append(_unread(path, "not read: another file of this folder comes before it", b""))
            elif trust is None and not is_trusted(nearest, environment):
                found.append(_unread(path, _untrusted(nearest, environment), b""))
            else:
                layer = _layer(read(path, top), top, left)
                left -= min(left, layer.size if layer.text else 0)
                found.append(layer)
    found.reverse()
    first = next((place for place, layer in enumerate(found) if layer.text), None)
    if first is not None:
        known = found[first]
        found[first] = PromptLayer(
            known.layer, known.origin, known.size, known.sha256, f"{HEADING}\n{known.text}", known.note
        )
    return tuple(found)


def root_of(folder: Path) -> Path:
    """The repository that the folder is in; without one, the folder."""
    inside = folder.resolve()
    return next((above for above in (inside, *inside.parents) if (above / ".git").exists()), inside)


def _folders(folder: Path, top: Path) -> Iterator[Path]:
    """From the working folder up to the root."""
    inside = folder.resolve()
    yield inside
    if inside != top:
        yield from (above for above in inside.parents if above.is_relative_to(top))


def _files(folder: Path) -> list[Path]:
    """Those that are there; one that is a link to another of them is left out."""
    found = [folder / name for name in NAMES if os.path.lexists(folder / name)]
    first = os.path.realpath(found[0]) if found else ""
    return [path for place, path in enumerate(found) if not place or os.path.realpath(path) != first]


def _layer(source: Source, top: Path, left: int) -> PromptLayer:
    if source.why or not source.content.strip():
        return _unread(source.path, source.why or "empty", source.content)
    kept = head(source.content, left)
    cut = len(source.content) - len(kept)
    name = source.path.relative_to(top).as_posix()
    note = f"cut: {cut} of {len(source.content)} bytes are left out, since {LIMIT} are read of all files together"
    if not kept:
        return _unread(source.path, note, source.content)
    said = f"\n[{note if cut else ''}; the file has the rest]" if cut else ""
    text = f'<instructions path="{name}">\n{safe_text(kept).rstrip()}{said}\n</instructions>'
    digest = hashlib.sha256(source.content).hexdigest()
    return PromptLayer(Layer.INSTRUCTIONS, str(source.path), len(source.content), digest, text, note if cut else "")


def _unread(path: Path, why: str, content: bytes) -> PromptLayer:
    digest = hashlib.sha256(content).hexdigest() if content else ""
    return PromptLayer(Layer.INSTRUCTIONS, str(path), len(content), digest, note=why)


def _untrusted(folder: Path, environment: Mapping[str, str]) -> str:
    return (
        f"not read: the folder is not trusted. Look at it, then write {str(folder)!r} into "
        f"{trust_file(environment)}, or give --instructions trust (in Python: Prompt(instructions=True))"
    )
