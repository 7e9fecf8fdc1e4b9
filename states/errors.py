"""Errors of broken data and broken stores. What a run can go through is never one of these.

InterlockError
├── CodecError            a body is no record that this program knows
│   └── NewerJournal      a newer program wrote it
├── HistoryError          records that contradict each other
├── JournalError          the store
│   ├── JournalUnusable   cannot be opened: not writable, full, not ours, library too old
│   ├── JournalCorrupt    an entry is damaged or was edited; names it
│   ├── UnknownSession    no such session
│   ├── SessionBusy       somebody else is running it
│   ├── Fenced            somebody else took it over; nothing was written
│   ├── Unsealed          an input arrived before the seal; nothing was written
│   └── CommitFailed      outcome unknown: stop, reopen, re-read
├── BadCassette           (fsm.providers) a recording that cannot be read
├── ToolError             (fsm.tools) a tool's own fault, in words for the model
├── ConfigError           the caller's side: names the setting and the way out
├── CompactionFailed      no ledger could be had for a conversation that somebody wanted compacted
└── GateError             a gate raised instead of ruling
"""


class InterlockError(Exception):
    """Base of every error that Interlock raises on purpose."""


class CodecError(InterlockError):
    """A body is not a record that this program knows."""


class NewerJournal(CodecError):
    def __init__(self, found: int, known: int, what: str = "the journal") -> None:
        super().__init__(f"{what} has format version {found}; this program knows {known}. Use a newer interlock.")


class HistoryError(InterlockError):
    """Records contradict each other; the message names the record."""


class JournalError(InterlockError):
    """The store cannot do what was asked."""


class JournalUnusable(JournalError):
    """The store cannot be opened or written; the message says why and what to do."""


class JournalCorrupt(JournalError):
    """An entry is damaged or was edited; the message names the session and the sequence number."""


class UnknownSession(JournalError):
    """No session of that name in this journal."""


class SessionBusy(JournalError):
    """Another process, or another task of this one, is running the session."""


class Fenced(JournalError):
    """A newer claim owns the session. Nothing of the refused batch was written."""


class Unsealed(JournalError):
    """An input arrived before the seal. Nothing of the refused batch was written."""


class CommitFailed(JournalError):
    """The commit raised: it may or may not be durable. Only re-reading tells."""


class ConfigError(InterlockError):
    """A setting is missing, unknown or impossible; the message names it and the way out."""


class CompactionFailed(InterlockError):
    """No ledger could be had; the conversation is as it was."""


class GateError(InterlockError):
    """A gate raised instead of ruling; the message names the gate."""
