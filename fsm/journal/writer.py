"""The one thread that writes. Whatever is waiting when it gets to work shares one transaction, so one sync."""

import asyncio
import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, TypeVar, cast

import apsw
import attrs

from states.errors import CommitFailed
from states.ports import Claim

from .opening import shut, unusable
from .waiting import Pending, outcome

GROUP: Final = 512
"""Drafts after which a transaction takes no further batch: 1,000 sessions then wait 20 ms, and none starves."""

T = TypeVar("T")


@attrs.define
class Transaction:
    """What a piece of work gets. `heads` are the claims' new positions (next_seq, digest), true once it commits."""

    connection: apsw.Connection
    heads: dict[Claim, tuple[int, bytes]] = attrs.field(factory=dict)

    def digest(self, claim: Claim) -> bytes:
        """Where the claim's chain goes on: an earlier batch of it may be in this very transaction."""
        return self.heads[claim][1] if claim in self.heads else claim.digest


@attrs.frozen(eq=False)
class _Job:
    work: Callable[[Transaction], object]
    size: int
    future: Pending[object]


class Writer:
    """Runs pieces of work in order, each of them whole or not at all, and durable when its future has a result.

    `connect` is called on the thread by the first piece of work, and again by the next one if it raised.
    """

    def __init__(self, path: str, connect: Callable[[], apsw.Connection]) -> None:
        self._path = path
        self._connect = connect
        self._queue: queue.SimpleQueue[_Job | Pending[object]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._connection: apsw.Connection | None = None
        self.poison = ""
        """Why nothing can be written any more; empty while all is well."""

    async def run(self, work: Callable[[Transaction], T], size: int = 1) -> T:
        """The work's result, once it is durable. Raises what the work raised; CommitFailed, JournalUnusable.

        `size` is what it counts towards GROUP. Once queued it cannot be cancelled.
        """
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="journal writer", daemon=True)
            self._thread.start()
        future: Pending[object] = Pending(loop=asyncio.get_running_loop())
        self._queue.put(_Job(work, size, future))
        return cast("T", await outcome(future))

    async def close(self) -> None:
        """Finish what is queued, then end."""
        thread, self._thread = self._thread, None
        if thread is not None:
            closed: Pending[object] = Pending(loop=asyncio.get_running_loop())
            self._queue.put(closed)
            try:
                await outcome(closed)
            finally:
                thread.join()

    # --- on the thread ---

    def _run(self) -> None:
        closed = None
        while closed is None:
            jobs, closed = self._next_group()
            if jobs:
                _deliver([(job.future, result) for job, result in zip(jobs, self._results(jobs), strict=True)])
        if self._connection is not None:
            shut(self._connection)
        _deliver([(closed, None)])

    def _results(self, jobs: Sequence[_Job]) -> list[object]:
        """One result, or exception, for each job. Fail-stop: what a failed commit left behind is not built on."""
        if not self.poison:
            try:
                return self._commit(jobs)
            except Exception as error:  # noqa: BLE001 - whatever it was, those who wait must hear of it
                if self._connection is not None:
                    shut(self._connection)
                    self._connection = None
                self.poison = (
                    f"journal {self._path}: a commit failed ({error}), and whether it is durable is unknown. "
                    "Open the journal anew and read the session: what is there counts."
                )
        return [CommitFailed(self.poison) for _ in jobs]

    def _next_group(self) -> tuple[list[_Job], Pending[object] | None]:
        """What is waiting, up to GROUP, and the future of whoever wants the end."""
        jobs: list[_Job] = []
        size = 0
        while size < GROUP:
            try:
                item = self._queue.get(block=not jobs)
            except queue.Empty:
                break
            if not isinstance(item, _Job):
                return jobs, item
            jobs.append(item)
            size += item.size
        return jobs, None

    def _commit(self, jobs: Sequence[_Job]) -> list[object]:
        """The same, if it can be known; raises what left it unknown."""
        try:
            connection = self._connection = self._connection or self._connect()
        except Exception as error:  # noqa: BLE001 - it belongs to whoever waits for these jobs
            return [error for _ in jobs]
        transaction = Transaction(connection)
        try:
            connection.execute("BEGIN IMMEDIATE")
            results = [_perform(transaction, job, alone=len(jobs) == 1) for job in jobs]
        except apsw.Error as error:
            return self._nothing_written(connection, error, len(jobs))
        if all(isinstance(result, Exception) for result in results):
            connection.execute("ROLLBACK")
            return results
        try:
            connection.execute("COMMIT")
        except apsw.FullError as error:
            # A write of the WAL was cut short, and the mark that makes a commit is the last thing written.
            return self._nothing_written(connection, error, len(jobs))
        for claim, (next_seq, digest) in transaction.heads.items():
            claim.next_seq, claim.digest = next_seq, digest
        return results

    def _nothing_written(self, connection: apsw.Connection, error: apsw.Error, jobs: int) -> list[object]:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        return [unusable(self._path, error, "nothing was written: ") for _ in range(jobs)]


def _perform(transaction: Transaction, job: _Job, *, alone: bool) -> object:
    """Run one piece of work; if it refuses, undo it and nothing else. apsw's own errors concern the whole group."""
    connection = transaction.connection
    if not alone:
        connection.execute("SAVEPOINT job")
    try:
        result = job.work(transaction)
    except apsw.Error:
        raise
    except Exception as error:  # noqa: BLE001 - it belongs to whoever waits for this job
        if not alone:
            connection.execute("ROLLBACK TO job")
            connection.execute("RELEASE job")
        return error
    if not alone:
        connection.execute("RELEASE job")
    return result


def _deliver(results: Sequence[tuple[Pending[object], object]]) -> None:
    """Wake those who wait: one call for each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Pending[object], object]]] = defaultdict(list)
    for future, result in results:
        by_loop[future.get_loop()].append((future, result))
    for loop, settled in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, settled)


def _settle(results: Sequence[tuple[Pending[object], object]]) -> None:
    for future, result in results:
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
