"""Receipts of writes: enough to tell after a crash whether a write happened.

A receipt is durable before the file is replaced. No receipt, therefore, means no write.
"""

import hashlib
from pathlib import Path
from typing import Final

import attrs
import orjson

from fsm.tools.state_dir import file_name, make, write_durably

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


class Effects:
    """Receipts by idempotency key, below the state directory."""

    def __init__(self, state_dir: Path) -> None:
        self._home = state_dir / "effects"

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

    def _path(self, key: str) -> Path:
        session, _, number = key.rpartition(":")
        return self._home / file_name(session) / f"{file_name(number)}.json"
