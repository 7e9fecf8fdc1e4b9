"""A chat: one session at a time, a run that goes on while lines are typed, and what each line means just then."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Final

import attrs

from fsm import events
from fsm.approvals import ApprovalAnswer, ApprovalRequest
from fsm.cli.assemble import Plan, assemble
from fsm.cli.hints import command, unasked
from fsm.cli.remember import remember
from fsm.cli.status import Status
from fsm.cli.terminal import one_line
from fsm.config import Settings
from fsm.loop import Loop
from fsm.result import Result
from states.contract import Permission
from states.errors import InterlockError, JournalError
from states.fold import fold
from states.history import History, Question
from states.messages import AssistantMessage, UserMessage, text_of
from states.names import ENDS, RESTING
from states.verdicts import WaitsFor

from .commands import run_command
from .said import Answer, Review, answer_in, review_in
from .terminal import Terminal, settled
from .view import View

PATIENCE: Final = 10.0
"""Seconds in which a run that is left has to come to rest; then its process goes (our choice)."""
RECALLED: Final = 2
"""Messages of a session that is taken up which are shown again."""

Publish = Callable[[events.Event], None]
Job = Callable[[Loop, Publish], Coroutine[None, None, Result]]


@attrs.define(eq=False)
class Room:
    """`past` is what is known of the session; None for a new one."""

    settings: Settings
    plan: Plan
    session: str
    terminal: Terminal
    past: History | None = None
    view: View = attrs.field(init=False)
    loop: Loop = attrs.field(init=False)
    permission: Permission | None = None
    """What the person has changed it to; it goes with the next words."""
    goal: str = ""
    """What the session is to reach that begins with the next words."""
    leaving: bool = False
    _work: "asyncio.Task[None] | None" = None
    _stopping: "asyncio.Task[None] | None" = None
    _begun: bool = False
    """The run that goes on is in the journal."""
    _ended: bool = False
    """It has ended: what is left is to put the session down."""
    _asked: "asyncio.Future[ApprovalAnswer | None] | None" = None
    _asking: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    _posting: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    """Words are posted to a run before it has ended, or begin the next one: never in between."""
    _questions: tuple[Question, ...] = ()

    def __attrs_post_init__(self) -> None:
        self.view = View(self.terminal.say, self.terminal.redraw, lambda: self.terminal.width)
        self.terminal.live, self.terminal.mark, self.terminal.status = self.view.live, self._mark, self._status
        self.terminal.stop, self.terminal.busy = self.interrupt, lambda: self.working
        self.loop = self.made()

    def made(self) -> Loop:
        """A loop as the settings are now. Raises ConfigError."""
        return assemble(self.settings, self.plan, on_approval=self.approve)

    # --- one after the other ------------------------------------------------------------------------------------

    async def open(self, message: str | None) -> Status:
        """Until the person leaves; what goes on then comes to rest first."""
        left = Status.SUCCEEDED
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.leave)
        with self.terminal.opened():
            try:
                self._greet()
                if message and message.strip():
                    self.say_to_model(message)
                while not self.leaving:
                    await self._hear(await self.terminal.line())
            except EOFError:
                pass
            except KeyboardInterrupt:
                left = Status.INTERRUPTED
            await self._close()
        return left

    def leave(self) -> None:
        """End the chat as soon as the line that is being typed is given up."""
        self.leaving = True
        self.terminal.leave()

    async def _close(self) -> None:
        if self.working:
            self.interrupt()
        if self._work is not None and not await settled(self._work, PATIENCE):
            self._work.cancel()
            self.terminal.say("it does not come to rest; what is committed can be taken up again", "warn")
        with suppress(JournalError):
            await self.loop.close()
        if self.past is not None:
            self.terminal.say(f"go on: {command(self.settings, 'chat', '--session', self.session)}", "dim")

    def _greet(self) -> None:
        past = self.past
        for warning in unasked(self.settings):
            self.terminal.say(warning, "warn")
        self.terminal.say(f"session {self.session}{'' if past else ' (new)'}, /help lists the commands", "dim")
        if past is None:
            return
        for message in past.messages[-RECALLED:]:
            match message:
                case UserMessage(text=text):
                    self.terminal.say(f"> {text}", "mine")
                case AssistantMessage(blocks=blocks):
                    self.terminal.say(text_of(blocks), "")
        if past.state not in RESTING:
            self.terminal.say("its process was lost in the middle of the work; it goes on", "warn")
        elif past.rest is not None:
            self.terminal.say(f"it rests ({past.rest.waits_for}): {one_line(past.rest.message, 300)}", "warn")
        if past.state not in RESTING or (past.rest is not None and past.rest.waits_for is WaitsFor.APPROVAL):
            self.go_on()
        else:
            self._wait_for(past)

    # --- what a line means --------------------------------------------------------------------------------------

    async def _hear(self, line: str) -> None:
        said = line.strip()
        if not said:
            return
        self.terminal.say(f"{self._mark()}{said}", "mine")
        try:
            if line.startswith("/"):
                if self._ended and self._work is not None:
                    await asyncio.wait([self._work])
                await run_command(self, said)
            else:
                await self._take(said)
        except InterlockError as error:
            self.terminal.say(str(error), "bad")

    async def _take(self, said: str) -> None:
        if self._asked is not None:
            self._decide(said)
        elif self.working:
            async with self._posting:
                going = not self._ended
                if going:
                    await self.loop.steer(self.session, said)
                    self.terminal.say("  it hears this next", "dim")
            if not going and self._work is not None:
                await asyncio.wait([self._work])  # the run has ended: what is said now comes after it
                await self._take(said)
        elif any(asked.waits_for is WaitsFor.PLAN_REVIEW for asked in self._questions):
            await self._review(review_in(said))
        else:
            self.say_to_model(said)

    def say_to_model(self, words: str) -> None:
        """Begin a run, or go on with the session's."""
        permission = self._changed()
        if self.past is None:
            goal, self.goal = self.goal, ""
            self.begin(lambda loop, publish: loop.run(words, session=self.session, goal=goal, on_event=publish))
        else:
            self.begin(lambda loop, publish: loop.resume(self.session, words, permission=permission, on_event=publish))

    def go_on(self) -> None:
        """Go on without words."""
        permission = self._changed()
        self.begin(lambda loop, publish: loop.resume(self.session, permission=permission, on_event=publish))

    def _changed(self) -> Permission | None:
        changed, self.permission = self.permission, None
        return changed

    async def _review(self, review: Review) -> None:
        if not review.approved:
            self.begin(lambda loop, publish: loop.resume(self.session, reject_plan=review.comments, on_event=publish))
            return
        await self.permit(review.permission or Permission.ASK)  # what is said after the plan is no planning
        self.permission = None
        self.begin(
            lambda loop, publish: loop.resume(
                self.session, approve_plan=True, permission=review.permission, on_event=publish
            )
        )

    def _decide(self, said: str) -> None:
        answer = answer_in(said)
        if answer is Answer.UNCLEAR:
            self.terminal.say("y (yes), a (always in this session), n REASON, or l (later: it rests)", "warn")
        elif self._asked is not None:
            asked, self._asked = self._asked, None
            asked.set_result(answer if isinstance(answer, ApprovalAnswer) else None)

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer | None:
        """Asks the person; several calls, of agents too, wait in line."""
        async with self._asking:
            if request.session != self.session:
                self.terminal.say(f"session {request.session}, which works for this one:", "dim")
            self.view.asks(request)
            asked: asyncio.Future[ApprovalAnswer | None] = asyncio.get_running_loop().create_future()
            self._asked = asked
            self.terminal.redraw()
            try:
                return await asked
            finally:
                self._asked = None

    # --- the run that goes on -----------------------------------------------------------------------------------

    @property
    def working(self) -> bool:
        return self._work is not None and not self._work.done()

    def begin(self, job: Job) -> None:
        self._questions, self._begun, self._ended, self._stopping = (), False, False, None
        self._work = asyncio.create_task(self._run(job))

    async def _run(self, job: Job) -> None:
        try:
            result = await job(self.loop, self._publish)
        except asyncio.CancelledError:
            self.terminal.say("stopped before it began: what you said was not taken", "warn")
        except InterlockError as error:
            self.view.flush()
            self.terminal.say(str(error), "bad")
        except Exception as error:  # noqa: BLE001  the chat goes on, whatever a tool or provider of somebody's does
            self.view.flush()
            self.terminal.say(f"unexpected {type(error).__name__}: {error}", "bad")
        else:
            await self._after(result)
        self.terminal.redraw()

    async def _after(self, result: Result) -> None:
        """What was posted too late for the run that ended begins the next one; what a person has to say is asked."""
        with suppress(InterlockError):  # a store that failed has said so in the result
            history = await self.look()
            async with self._posting:
                notes = await self.loop.journal.notes(self.session, history.noted)
            if history.state in ENDS and any(note.text is not None for note in notes):
                self.go_on()
            elif result.reason in (WaitsFor.PLAN_REVIEW, WaitsFor.ANSWER, WaitsFor.APPROVAL):
                self._wait_for(history)

    async def look(self) -> History:
        """What is durable of the session. Raises JournalError."""
        self.past = fold(self.session, await self.loop.journal.read(self.session))
        return self.past

    def _wait_for(self, history: History) -> None:
        self._questions = tuple(history.questions)
        self.view.questions(self._questions)
        if history.rest is not None and history.rest.waits_for is WaitsFor.APPROVAL:
            self.terminal.say("calls wait for you: /continue asks again", "warn")

    def _publish(self, event: events.Event) -> None:
        if not self._begun:
            self._begun = True
            self.past = self.past or History(self.session)
            remember(self.settings, self.session)
        if isinstance(event, events.RunEnd | events.RunStart):  # a follow-up begins another one
            self._ended = isinstance(event, events.RunEnd)
        self.view(event)

    def interrupt(self) -> bool:
        """Stop what goes on; it comes to rest. False if there is nothing, or if it is being stopped already."""
        if not self.working or self._work is None or self._ended or self._stopping is not None:
            return False
        self.terminal.say("stopping: the session comes to rest", "warn")
        if self._begun:
            self._stopping = asyncio.create_task(self._put_to_rest())
        else:
            self._work.cancel()
        return True

    async def _put_to_rest(self) -> None:
        with suppress(InterlockError):  # a store that fails says so through the run itself
            await self.loop.cancel(self.session, "interrupted by the user")

    async def permit(self, permission: Permission) -> None:
        """What runs without asking, from the next words on."""
        settings = attrs.evolve(self.settings, permission=permission)
        await self.anew(settings, attrs.evolve(self.plan, permission=permission))
        self.permission = permission

    async def anew(self, settings: Settings, plan: Plan) -> None:
        """Another loop, as these settings have it. Raises ConfigError, and all stays as it was."""
        before = self.settings, self.plan
        self.settings, self.plan = settings, plan
        try:
            made = self.made()
        except InterlockError:
            self.settings, self.plan = before
            raise
        await self.loop.close()
        self.loop = made

    # --- what is shown below ------------------------------------------------------------------------------------

    def _mark(self) -> str:
        if self._asked is not None:
            return "allow? [y/a/n/l] "
        if self.working:
            return "… "
        if any(asked.waits_for is WaitsFor.PLAN_REVIEW for asked in self._questions):
            return "approve? [a/f, or what should be different] "
        return "answer> " if self._questions else "> "

    def _status(self) -> str:
        models = self.loop.models[0]
        permission = self.permission or self.plan.permission
        doing = "working, Esc stops it" if self.working else "ready"
        return f"{self.session}  {models}  permission {permission}  {doing}"

    def forget(self) -> None:
        """What was asked in another session is asked no more."""
        self._questions = ()

    @property
    def over(self) -> bool:
        """The session's run has ended: what is said next begins another one."""
        return self.past is None or self.past.state in ENDS
