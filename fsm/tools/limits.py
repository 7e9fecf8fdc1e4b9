"""Keeps a long text's beginning and end, and says where the whole of it is."""

from pathlib import Path
from typing import Final

import attrs

from states.ports import ToolOutput
from states.text import safe_text

from .state_dir import file_name, make

LIMIT: Final = 100_000
"""Characters of one result that the model is shown (the limit of blade-code)."""
_MARK: Final = 1_000
"""Room in that limit for the mark and for the last lines that a tool adds."""
HALF: Final = (LIMIT - _MARK) // 2
KEPT: Final = 200
"""Whole texts kept in the directory; the oldest go first."""


def mark(left_out: int, total: int, kept: Path | None) -> str:
    """The visible place where something is missing. Counts are characters."""
    where = f"the whole text is in {kept}" if kept else "the whole text was not kept"
    return f"\n\n[... {left_out:,} of {total:,} characters left out here; {where} ...]\n\n"


def limited(output: ToolOutput, key: str, directory: Path | None) -> ToolOutput:
    """The output with a text of at most 100,000 characters. A longer one is saved whole, if there is a directory."""
    if len(output.text) <= LIMIT:
        return output
    text = safe_text(output.text)
    name = f"{key}:shown" if "full_output" in output.metadata else key  # what the tool itself has kept stays
    kept = _save(text, name, directory) if directory else None
    cut = text[:HALF] + mark(len(text) - 2 * HALF, len(text), kept) + text[-HALF:]
    metadata = {**output.metadata, "truncated": True, **({"full_output": str(kept)} if kept else {})}
    return attrs.evolve(output, text=cut, metadata=metadata)


def _save(text: str, key: str, directory: Path) -> Path | None:
    """None if the disk will not take it: the tool has run, and its result must not be lost over this."""
    try:
        kept = output_path(directory, key)
        kept.write_text(text, encoding="utf-8")
    except OSError:
        return None
    return kept


def output_path(directory: Path, key: str) -> Path:
    """A file for this call's whole output; makes room for it first."""
    make(directory)
    files = sorted(directory.glob("*.txt"), key=lambda path: path.stat().st_mtime_ns)
    for old in files[: max(0, len(files) - KEPT + 1)]:
        old.unlink(missing_ok=True)
    return directory / f"{file_name(key)}.txt"
