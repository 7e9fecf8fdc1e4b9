"""What is said about a session as a whole."""

import attrs


@attrs.frozen
class Forked:
    """Everything before this record was copied from another session; from here on the two go their own ways.

    `digest` (hex) is what the origin's chain had after its record `at`: it covers every copied entry. Calls that the
    origin had started are not this session's to finish, and approvals were not given to it.
    """

    origin: str
    at: int
    digest: str


@attrs.frozen
class Titled:
    """What people call the session. Empty: its task again."""

    title: str


@attrs.frozen
class FileChange:
    """A file of the workspace was another one afterwards. SHA-256, hex; None: there was no file."""

    path: str
    before: str | None
    after: str | None


@attrs.frozen
class Undone:
    """A person takes back what the session's file tools changed from record `to` on. Written before it is done."""

    to: int
    files: tuple[FileChange, ...]
