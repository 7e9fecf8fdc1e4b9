"""A session in a few facts, for lists."""

import attrs

from states.errors import InterlockError
from states.fold import fold
from states.history import History
from states.ports import Journal, SessionInfo
from states.records import Entry, UserInput


@attrs.frozen
class Overview:
    """`history` is None if the session cannot be read, and `error` says why. `task` is its first input."""

    info: SessionInfo
    history: History | None
    task: str = ""
    error: str = ""

    @property
    def title(self) -> str:
        """What people call it."""
        return self.history.title if self.history else ""


async def overviews(journal: Journal) -> list[Overview]:
    """The one written to last comes first. One that cannot be read does not hide the others."""
    infos = sorted(await journal.sessions(), key=lambda info: info.updated, reverse=True)
    return [await _overview(journal, info) for info in infos]


async def _overview(journal: Journal, info: SessionInfo) -> Overview:
    try:
        entries = await journal.read(info.session)
        return Overview(info, fold(info.session, entries), _task(entries))
    except InterlockError as error:
        return Overview(info, None, error=str(error))


def _task(entries: list[Entry]) -> str:
    return next((entry.record.text for entry in entries if isinstance(entry.record, UserInput)), "")
