"""Receipts of writes: enough to tell after a crash whether a write happened.

A receipt is durable before the file is replaced. No receipt, therefore, means no write.
"""

import hashlib
import os
from pathlib import Path
from typing import Final

import attrs
import orjson

from fsm.tools.state_dir import file_name, make, write_durably
from states.records import JSON

CHANGED: Final = "changed"
"""Of a result's metadata: the files that the call changed, with their digests before and after."""

KEPT: Final = 128
"""Receipts kept per session. A turn has at most 64 calls, and all of one turn are answered before the next starts, so
nobody can ask about an older one."""


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@attrs.frozen
class Receipt:
    """What a write was about to do. `before` is None if there was no file; `said` is the output on success."""

    path: str
    before: str | None
    after: str
    said: str

    @property
    def metadata(self) -> dict[str, JSON]:
        """What a result says about the change: what `interlock changes` lists and `undo` takes back."""
        return {CHANGED: [{"path": self.path, "before": self.before, "after": self.after}]}


class Effects:
    """Receipts by idempotency key, below the state directory."""

    def __init__(self, state_dir: Path) -> None:
        self._home = state_dir / "effects"
        self._copies = state_dir / "backups"

    def record(self, key: str, receipt: Receipt) -> None:
        """Durable on return."""
        path = self._path(key)
        make(path.parent)
        write_durably(path, orjson.dumps(attrs.asdict(receipt)))
        receipts = [(int(p.stem), p) for p in path.parent.glob("*.json") if p.stem.isdigit()]
        for _, old in sorted(receipts)[:-KEPT]:
            old.unlink(missing_ok=True)

    def find(self, key: str) -> Receipt | None:
        """None if there is none. Raises ValueError if it cannot be read."""
        try:
            body = self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        try:
            return Receipt(**orjson.loads(body))
        except TypeError as error:
            raise ValueError(f"a damaged receipt: {error}") from error

    def keep(self, key: str, content: bytes) -> None:
        """A copy of what is about to be replaced, by its digest; there before the change is.

        It survives the process. After a loss of power it may be torn, which its digest shows (no sync of its own).
        """
        kept = self._copy(key.rpartition(":")[0], digest(content))
        if not kept.exists():
            make(kept.parent)
            draft = kept.with_name(f"{kept.name}.{os.getpid()}.draft")
            draft.write_bytes(content)
            draft.replace(kept)

    def kept(self, session: str, sha256: str) -> bytes | None:
        """The copy with this digest; None if it is not there, or is not what it was."""
        try:
            content = self._copy(session, sha256).read_bytes()
        except FileNotFoundError:
            return None
        return content if digest(content) == sha256 else None

    def _copy(self, session: str, sha256: str) -> Path:
        return self._copies / file_name(session) / sha256

    def _path(self, key: str) -> Path:
        session, _, number = key.rpartition(":")
        return self._home / file_name(session) / f"{file_name(number)}.json"
