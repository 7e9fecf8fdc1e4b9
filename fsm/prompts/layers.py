"""Reads the layers of a system prompt, each with its digest. One that cannot be read is left out, and says why."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from states.records import Layer, PromptLayer
from states.text import safe_text

from . import BASE
from .instructions import instructions
from .prompt import Prompt, words_of
from .sources import head, read
from .surroundings import environment

MEMORY_LINES: Final = 200
"""Lines of the memory's index that are read (blade-code's limit)."""
MEMORY_BYTES: Final = 32 * 1024
"""And bytes: that of the project's instructions (our choice)."""
STYLE: Final = "# Communication style\n\n{}\n\nIt changes how you write: not what is done, allowed, or owed."


def layers(
    base: str, origin: str, prompt: Prompt, folder: str, variables: Mapping[str, str]
) -> tuple[PromptLayer, ...]:
    """What a run that begins now is told. folder: where it works; empty: nowhere. variables: the process's environment.

    Raises ConfigError for an `append` that cannot be read.
    """
    found = [_said(Layer.BASE, "built-in" if base == BASE else origin, base, "")]
    if prompt.style:
        found.append(_said(Layer.STYLE, "given", prompt.style, STYLE.format(prompt.style)))
    if folder and prompt.instructions is not False:
        found += instructions(Path(folder), prompt.instructions, variables)
    if prompt.memory is not None:
        found.append(_memory(prompt.memory))
    if folder and prompt.environment:
        text = environment(folder)
        found.append(_said(Layer.ENVIRONMENT, "built-in", text, text))
    where, words = words_of(prompt.append, "append")
    if words.strip():
        found.append(_said(Layer.APPEND, where, words, words))
    return tuple(found)


def _said(layer: Layer, origin: str, source: str, text: str) -> PromptLayer:
    content = safe_text(source).encode()
    return PromptLayer(layer, origin, len(content), hashlib.sha256(content).hexdigest(), text)


def _memory(path: Path) -> PromptLayer:
    path = path.absolute()
    source = read(path)
    digest = hashlib.sha256(source.content).hexdigest() if source.content else ""
    if source.why or not source.content.strip():
        return PromptLayer(Layer.MEMORY, str(path), len(source.content), digest, note=source.why or "empty")
    kept = head(b"".join(source.content.splitlines(keepends=True)[:MEMORY_LINES]), MEMORY_BYTES)
    cut = len(source.content) - len(kept)
    note = f"cut: {cut} of {len(source.content)} bytes are left out; {MEMORY_LINES} lines are read" if cut else ""
    said = f"\n[{note}]" if cut else ""
    text = f'# Memory\n\n<memory path="{path}">\n{safe_text(kept).rstrip()}{said}\n</memory>'
    return PromptLayer(Layer.MEMORY, str(path), len(source.content), digest, text, note)
