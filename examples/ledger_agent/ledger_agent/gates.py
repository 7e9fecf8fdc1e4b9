"""books_balance: nothing is done while debit and credit differ."""

from collections.abc import Callable

from fsm import Fail, Gate, History, Pass, Retry
from gates.gate import OpenOutside
from states.records import Finding, Record
from states.verdicts import Ruling

OffBy = Callable[[], int]


class BooksBalance(Gate):
    """Looks for every candidate, and binds what it saw to the revision of the workspace that it saw it on."""

    name = "books_balance"
    may = (Retry, Fail)
    patience = 3

    def __init__(self, off_by: OffBy) -> None:
        self.off_by = off_by

    async def gather(self, history: History, outside: OpenOutside) -> tuple[Record, ...]:
        workspace = (await outside()).workspace
        before = await workspace.revision() if workspace else ""
        cents = self.off_by()
        unmoved = bool(workspace) and await workspace.revision() == before
        return (Finding(self.name, cents == 0, f"the books are off by {cents} cents", before if unmoved else ""),)

    def judge(self, history: History) -> Ruling:
        seq, found = history.findings.get(self.name, (0, None))
        now = history.verification.revision if history.verification else ""
        if found is not None and found.holds and found.revision == now:
            return Pass(cites=(seq,))
        why = "the books changed while they were looked at" if found is None or found.holds else found.said
        if history.retries[self.name] >= self.patience:
            return Fail("books_off", why)
        return Retry(why, f"You are not done: {why}. Mend that, then give your final answer again.")


class CachedBooksBalance(BooksBalance):
    """The planted bug. It looked reasonable: adding up a large ledger takes long, so what was seen once is remembered.

    But a gate is one object for all candidates and all sessions, and its memory is not in the journal: later candidates
    pass on what was true of earlier books.
    """

    def __init__(self, off_by: OffBy) -> None:
        super().__init__(off_by)
        self.balanced = False

    async def gather(self, history: History, outside: OpenOutside) -> tuple[Record, ...]:
        if self.balanced:
            return ()
        found = await super().gather(history, outside)
        self.balanced = all(finding.holds for finding in found)
        return found

    def judge(self, history: History) -> Ruling:
        return Pass("the books balanced before") if self.balanced else super().judge(history)
