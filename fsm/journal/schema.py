"""The tables of a journal file, and the triggers by which the file itself refuses what must not happen."""

from typing import Any, Final

import apsw

Value = None | int | float | str | bytes
"""What a column holds."""

APPLICATION_ID: Final = 0x494C434B
"""'ILCK' in the file's header: `file(1)` and we tell our journals from other databases by it."""

SCHEMA: Final = (
    """\
CREATE TABLE session(
  session_id TEXT NOT NULL PRIMARY KEY,
  fence INTEGER NOT NULL,
  next_seq INTEGER NOT NULL,
  digest BLOB NOT NULL,
  created REAL NOT NULL,
  updated REAL NOT NULL,
  owner TEXT NOT NULL
) STRICT, WITHOUT ROWID""",
    # A rowid table with a unique index: bodies of 1.5 KiB would overflow an index page, and the rowid is commit order.
    """\
CREATE TABLE journal(
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL CHECK (seq > 0),
  fence INTEGER NOT NULL,
  kind TEXT NOT NULL,
  at REAL NOT NULL,
  seals INTEGER,
  body BLOB NOT NULL,
  digest BLOB NOT NULL,
  UNIQUE (session_id, seq)
) STRICT""",
    """\
CREATE TABLE note(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  text TEXT,
  at REAL NOT NULL
) STRICT""",
    "CREATE INDEX note_of_session ON note(session_id, number)",
    "CREATE TRIGGER journal_no_update BEFORE UPDATE ON journal BEGIN SELECT RAISE(ABORT, 'append-only'); END",
    "CREATE TRIGGER journal_no_delete BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'append-only'); END",
    """\
CREATE TRIGGER journal_guard BEFORE INSERT ON journal BEGIN
  SELECT RAISE(ABORT, 'fenced') WHERE NOT EXISTS (
    SELECT 1 FROM session
    WHERE session_id = NEW.session_id AND fence = NEW.fence AND next_seq = NEW.seq);
  SELECT RAISE(ABORT, 'unsealed') WHERE NEW.seals IS NOT NULL AND EXISTS (
    SELECT 1 FROM note
    WHERE session_id = NEW.session_id AND number > NEW.seals AND text IS NOT NULL);
END""",
    """\
CREATE TRIGGER journal_head AFTER INSERT ON journal BEGIN
  UPDATE session SET next_seq = NEW.seq + 1, digest = NEW.digest, updated = NEW.at
  WHERE session_id = NEW.session_id;
END""",
)

LATER: Final = (
    """\
CREATE TABLE IF NOT EXISTS follow_up(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  id TEXT NOT NULL,
  text TEXT NOT NULL,
  at REAL NOT NULL,
  UNIQUE (session_id, id)
) STRICT""",
)
"""Tables that a file of an earlier program gets when it is first written to; nothing in them guards the journal."""

INSERT: Final = """\
INSERT INTO journal(session_id, seq, fence, kind, at, seals, body, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""

ROWS: Final = """\
SELECT seq, fence, kind, at, body, digest FROM journal WHERE session_id = ? AND seq > ? AND seq <= ?
ORDER BY seq LIMIT ?"""

HEAD: Final = """\
SELECT next_seq, digest, (SELECT coalesce(max(seq), 0) FROM journal WHERE session_id = ?1)
FROM session WHERE session_id = ?1"""

ORPHANS: Final = "SELECT seq FROM journal WHERE session_id = ? LIMIT 1"

OWNER: Final = "SELECT owner FROM session WHERE session_id = ?"

TAKE_OVER: Final = """\
UPDATE session SET fence = fence + 1, owner = ? WHERE session_id = ? RETURNING fence, next_seq, digest"""

CREATE: Final = """\
INSERT INTO session(session_id, fence, next_seq, digest, created, updated, owner) VALUES (?1, 1, 1, ?2, ?3, ?3, ?4)"""

DISOWN: Final = "UPDATE session SET owner = '' WHERE session_id = ? AND fence = ?"

STANDING: Final = "SELECT fence, next_seq FROM session WHERE session_id = ?"

POST: Final = """\
INSERT INTO note(session_id, text, at) SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM session WHERE session_id = ?1)
RETURNING number"""

NOTES: Final = """\
SELECT number, session_id, text, at FROM note WHERE session_id = ? AND number > ? ORDER BY number"""

HAS_FOLLOW_UPS: Final = "SELECT 1 FROM sqlite_schema WHERE name = 'follow_up'"

QUEUE: Final = """\
INSERT INTO follow_up(session_id, id, text, at) SELECT ?1, ?2, ?3, ?4
WHERE EXISTS (SELECT 1 FROM session WHERE session_id = ?1) ON CONFLICT DO NOTHING"""

QUEUED_AS: Final = "SELECT number, session_id, id, text, at FROM follow_up WHERE session_id = ? AND id = ?"

QUEUED: Final = """\
SELECT number, session_id, id, text, at FROM follow_up WHERE session_id = ? AND number > ? ORDER BY number"""

ADOPT: Final = """\
INSERT INTO session(session_id, fence, next_seq, digest, created, updated, owner) VALUES (?1, ?2, 1, ?3, ?4, ?4, '')"""

AS_OF_CLAIM: Final = "UPDATE session SET fence = ? WHERE session_id = ?"

NUMBERED: Final = """\
INSERT INTO sqlite_sequence(name, seq)
SELECT ?1, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)"""

RENUMBER: Final = "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1"

FORGET: Final = (
    "DROP TRIGGER journal_no_delete",
    "DELETE FROM journal WHERE session_id = ?1",
    next(statement for statement in SCHEMA if "journal_no_delete" in statement),
    "DELETE FROM note WHERE session_id = ?1",
    "DELETE FROM follow_up WHERE session_id = ?1",
    "DELETE FROM session WHERE session_id = ?1",
)
"""One transaction: no other writer ever sees the file without its trigger."""

SESSIONS: Final = """\
SELECT session_id, fence, next_seq - 1, created, updated, owner FROM session
ORDER BY updated DESC, created DESC, session_id"""


def select(connection: apsw.Connection, query: str, *bindings: Value) -> list[Any]:
    """Run it to its end. The tables are STRICT: SQLite itself keeps the types of the columns."""
    return connection.execute(query, bindings).fetchall()
