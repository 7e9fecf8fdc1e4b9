"""What a session changed in files, and how to take it back.

Known are the changes of file tools: their results name the file and its digests, and what was replaced is kept. What
a command of `bash` changed is not known, and not taken back.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import attrs

from fsm.tools.context import ToolError
from fsm.tools.files.confined import Confined, Place
from fsm.tools.files.content import read
from fsm.tools.files.effects import CHANGED, Effects, digest
from fsm.tools.files.replace import replace
from states.errors import ConfigError
from states.messages import calls_of
from states.records import AssistantTurn, Entry, FileChange, ToolResult, Undone

UNDO: Final = "undo"


@attrs.frozen
class Changed:
    """A change on record: where, by which tool (or "undo"), and of which file."""

    seq: int
    by: str
    file: FileChange


def changes(entries: Iterable[Entry]) -> list[Changed]:
    """Every change that the session's records name, in their order."""
    found: list[Changed] = []
    names: dict[str, str] = {}
    for entry in entries:
        match entry.record:
            case AssistantTurn(blocks=blocks):
                names |= {call.id: call.name for call in calls_of(blocks)}
            case ToolResult(call=call, metadata=metadata):
                listed = metadata.get(CHANGED)
                files = [_file(item) for item in listed] if isinstance(listed, list) else []
                found += [Changed(entry.seq, names.get(call, ""), file) for file in files if file]
            case Undone(files=undone):
                found += [Changed(entry.seq, UNDO, file) for file in undone]
    return found


def _file(item: object) -> FileChange | None:
    """None for what another tool may have called by the same name."""
    if not isinstance(item, dict) or not isinstance(item.get("path"), str):
        return None
    digests = [item.get("before"), item.get("after")]
    known = all(value is None or isinstance(value, str) for value in digests)
    return FileChange(item["path"], *digests) if known else None


@attrs.frozen
class Undo:
    """Takes back the changes of `session` in the folder `root`, from the copies below `state_dir`."""

    session: str
    root: Path
    state_dir: Path

    def plan(self, made: Sequence[Changed], to: int, *, force: bool = False) -> tuple[FileChange, ...]:
        """What has to change for every file to be as it was before record `to`. Looks only.

        Raises ConfigError for a file that somebody else has changed since (unless `force`), and for one whose
        copy is gone.
        """
        first: dict[str, FileChange] = {}
        last: dict[str, Changed] = {}
        for change in made:
            if change.seq >= to:
                first.setdefault(change.file.path, change.file)
                last[change.file.path] = change
        due: list[FileChange] = []
        for path, file in first.items():
            now = self._now(path)
            if now == file.before:
                continue
            ours = {last[path].file.after, *((last[path].file.before,) if last[path].by == UNDO else ())}
            if now not in ours and not force:
                raise ConfigError(
                    f"{path} was changed since by somebody else; look at it, or take it back with --force"
                )
            if file.before is not None and self._effects().kept(self.session, file.before) is None:
                raise ConfigError(f"the copy of {path} as it was before is gone: it cannot be taken back")
            due.append(FileChange(path, now, file.before))
        return tuple(due)

    def carry_out(self, files: Iterable[FileChange], key: str) -> None:
        """Make each file what it was; what it is now is kept, so that this can be undone too. Raises ConfigError."""
        for file in files:
            try:
                with self._place(file) as place:
                    self._restore(place, file, key)
            except (ToolError, OSError) as error:
                raise ConfigError(f"{file.path} could not be taken back: {error}") from error

    def _restore(self, place: Place, file: FileChange, key: str) -> None:
        now = None if place.status is None else read(place)
        if file.after is None:
            if now is not None:
                self._effects().keep(key, now)
                place.remove()
            return
        content = self._effects().kept(self.session, file.after)
        if content is None:
            raise ConfigError(f"the copy of {file.path} as it was before is gone: it cannot be taken back")
        replace(place, content, now, (self._effects(), key, f"Restored {file.path}."))

    def _now(self, path: str) -> str | None:
        """The file's digest as it is; None if there is none."""
        try:
            with Confined(self.root).place(path) as place:
                return None if place.status is None else digest(read(place))
        except ToolError as error:
            if not (self.root / path).exists():
                return None
            raise ConfigError(f"{path} cannot be read: {error}") from error

    def _place(self, file: FileChange) -> AbstractContextManager[Place]:
        confined = Confined(self.root, [self.state_dir])
        confined.check_writable(file.path)
        return confined.place(file.path, make_parents=file.after is not None)

    def _effects(self) -> Effects:
        return Effects(self.state_dir)
