"""Where runs are kept. `open_journal` turns what a user wrote into a Journal; nothing is opened before it is used."""

import os

from states.errors import ConfigError
from states.ports import Journal


def open_journal(spec: str | os.PathLike[str] | Journal) -> Journal:
    """A journal for a file's path, for `":memory:"` (gone with the process), or the journal itself.

    The file is opened, and created, by the first call that needs it. Raises ConfigError for anything that is no path.
    """
    if not isinstance(spec, str | os.PathLike):
        return spec
    path = os.fspath(spec)
    if path == ":memory:":
        from .memory import MemoryJournal

        return MemoryJournal()
    if path.startswith(("postgres://", "postgresql://")):
        raise ConfigError("journal: PostgreSQL is not in this version; give the path of a file, or ':memory:'")
    if "://" in path or not path.strip():
        raise ConfigError(f"journal: {path!r} is no path; give the path of a file, or ':memory:'")
    from .sqlite import SqliteJournal

    return SqliteJournal(path)
