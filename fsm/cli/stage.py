"""One job of a loop, from its start to its rest, shown while it goes on and stopped by a signal."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Final

import attrs

from fsm import events
from fsm.loop import Loop
from fsm.result import Result
from states.errors import JournalError
from states.fold import fold
from states.history import CallState, Question
from states.verdicts import WaitsFor

from . import ndjson
from .interrupts import Interrupts
from .past import waiting
from .progress import Progress
from .terminal import give_up_stdout, out

Publish = Callable[[events.Event], None]
Job = Callable[[Loop, Publish], Coroutine[None, None, Result]]


_OF_A_PERSON: Final = (WaitsFor.APPROVAL, WaitsFor.PLAN_REVIEW, WaitsFor.ANSWER)


@attrs.define(eq=False)
class Stage:
    """`begun` is called with the first event: from then on the session is in the journal.

    The answer of each run that succeeds is printed while the session is still held: whoever takes it over from a
    process that was lost gives it again. After `run`: `result` of the last run (None if it was stopped before it had
    begun), `interrupted`, the calls that are `waiting` for an approval, and the `questions` that wait for an answer.
    """

    session: str
    as_ndjson: bool = False
    begun: Callable[[], None] = lambda: None
    progress: Progress = attrs.field(factory=Progress)
    started: bool = False
    result: Result | None = None
    interrupted: bool = False
    waiting: list[CallState] = attrs.field(factory=list)
    questions: list[Question] = attrs.field(factory=list)
    _stop: Callable[[], object] = attrs.field(default=lambda: None)
    _unread: bool = False
    _stopping: "asyncio.Task[None] | None" = None

    async def run(self, loop: Loop, job: Job) -> None:
        """Raises what the job raises; an interrupted run comes to rest first."""
        async with loop:
            task = asyncio.create_task(job(loop, self._publish))
            self._stop = task.cancel
            interrupts = Interrupts(lambda: self._interrupt(loop, task))
            try:
                with interrupts.watch():
                    await asyncio.wait([task])
            finally:
                self.progress.close()
            if self._stopping is not None:
                await asyncio.wait([self._stopping])
            self.interrupted = interrupts.seen > 0
            if not task.cancelled():
                self.result = task.result()
            if self.result is not None and self.result.reason in _OF_A_PERSON:
                history = fold(self.session, await loop.journal.read(self.session))
                self.waiting, self.questions = waiting(history), history.questions

    def _answer(self, result: Result) -> None:
        self.progress.close()
        if result.succeeded and not self.as_ndjson:
            try:
                out(result.text)
            except BrokenPipeError:
                give_up_stdout()

    def _interrupt(self, loop: Loop, task: "asyncio.Task[Result]") -> None:
        """Before the session is claimed there is nothing to put to rest."""
        if self.started:
            self._stopping = asyncio.create_task(self._put_to_rest(loop))
        else:
            task.cancel()

    async def _put_to_rest(self, loop: Loop) -> None:
        with suppress(JournalError):  # a store that fails says so through the run itself
            await loop.cancel(self.session, "interrupted by the user")

    def _publish(self, event: events.Event) -> None:
        if not self.started:
            self.started = True
            self.begun()
        if isinstance(event, events.RunEnd):
            self.result = event.result
            self._answer(event.result)
        self.progress(event)
        if self.as_ndjson and not self._unread:
            try:
                ndjson.write(event)
            except BrokenPipeError:  # whoever stops reading ends the work, which then comes to rest
                self._unread = True
                give_up_stdout()
                self._stop()
