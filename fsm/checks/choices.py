"""What can happen next to a session, by name: everything, weighted so that runs get somewhere."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from fsm.journal.memory import Fault
from states.contract import Budget, Verify
from states.errors import CommitFailed
from states.messages import Call, Finish, Text
from states.names import ENDS, Event
from states.ports import CallReady, Opinion, ProviderTrouble, Reply
from states.records import AssistantTurn, Compaction, Judgement, Status, TurnFailure

from .deeds import Deeds, Process
from .replay import Prefix
from .stage import NOTE, SEND, SHELL, TEST, Waiting
from .world import CALLS, EARLY, LEDGER, LONG, OUTPUTS, READ, WRITE, World

DONE: Final = "the model answers"
MOODS: Final = {
    "it objects": Opinion(Judgement.FAIL, "it does not work"),
    "it says nothing that counts": Opinion(Judgement.NONE),
    "it is down": Opinion(Judgement.NONE, unavailable="it is down"),
}
"""What a verifier may say once, instead of agreeing."""


class Choice:
    """Something that can happen next. It is shown by its label alone."""

    def __init__(self, label: str, do: Callable[[], object]) -> None:
        self.label = label
        self.do = do

    def __repr__(self) -> str:
        return f"<{self.label}>"


Group = list[Choice]


class Chooser(Deeds):
    """A session, and all that can happen to it now."""

    starts: Sequence[Prefix] = ()

    def groups(self) -> list[Group]:
        """Groups to draw from, repeated by weight. What moves the run on stands first: examples shrink toward it."""
        begin = [Choice("a task is given", self.begin)]
        past = [Choice(f"taken up: {start.name}", partial(self.take_up, start)) for start in self.starts]
        here = self.here
        if not self.session:
            weights = [(2, begin), (4, past)]
        elif here is None or here.task is None:
            ended = self.history.state in ENDS
            weights = [(1 if ended else 6, self._openings()), (1, begin), (1, self._notes()), (4 if ended else 1, past)]
        else:
            answers = self._answers(here)
            hinted = [choice for choice in answers if choice.label == self.hint]
            asks = self._asks(here)
            weights = [
                (8, hinted),
                (3, answers),
                (3, asks),
                (2, self._sensible(answers, asks)),
                (8, self._results(here)),
            ]
            weights += [(3, self._announcements(here))]
            weights += [(1, self._notes()), (2, self._disturbances(here)), (3, self._former_owners())]
        return [group for weight, group in weights if group for _ in range(weight)]

    def _openings(self) -> list[Choice]:
        """The run rests, ended, or lost its process."""
        history = self.history
        more = Budget(max_turns=None, seconds=history.seconds + LONG)
        waiting = [state.call.id for state in history.open_calls() if state.asked and state.approval is None]
        go_on = Choice("resumed", self.resume)
        if history.closing_event not in (None, Event.RESUMED):
            return [go_on]  # a past in which only the move is missing
        if history.state in ENDS:
            return [Choice("another task", lambda: self.resume("another task")), go_on]
        openings = [go_on, *[Choice("resumed with more time", lambda: self.resume(budget=more))] * 4]
        if waiting:
            openings += [
                Choice("all is approved", lambda: self.resume(approve=waiting, budget=more)),
                Choice("all is approved", lambda: self.resume(approve=waiting, budget=more)),
                Choice("the first is approved", lambda: self.resume(approve=waiting[:1], budget=more)),
                Choice("the first is refused", lambda: self.resume(deny=waiting[:1], reason="no", budget=more)),
            ]
        return [
            *openings,
            Choice("resumed with words", lambda: self.resume("go on", budget=more)),
            Choice("cancelled while nobody runs it", self.cancel_idle),
        ]

    def _notes(self) -> list[Choice]:
        return [Choice("somebody leaves a note", self._leave_note)]

    async def _leave_note(self) -> None:
        """A store that has just failed takes none: whoever left it was told so."""
        with suppress(CommitFailed):
            await self.journal.post(self.session, "and this")

    def _answers(self, process: Process) -> list[Choice]:
        if process.model.asked is None or process.model.asked.done():
            return []
        answers: list[Choice] = []
        calls = OUTPUTS if self.history.contract.output_schema else CALLS
        for move in World(hostile=False, calls=calls).moves(self.history):
            for record in move.records:
                said: Reply | ProviderTrouble | None = None
                if isinstance(record, AssistantTurn):
                    said = Reply(record.blocks, record.finish, model="staged", finish_detail=record.finish.value)
                elif isinstance(record, Compaction):
                    said = Reply((Text(LEDGER),), Finish.STOP, model="staged")
                elif isinstance(record, TurnFailure):
                    said = ProviderTrouble(record.trouble, record.message)
                if said is not None:
                    answers.append(self._answer(move.label, process, said, move.pause))
        return answers

    def _asks(self, process: Process) -> list[Choice]:
        """Turns that ask for tools of every kind."""
        if process.model.asked is None or process.model.asked.done():
            return []
        test = (SHELL, f'{{"command": "{TEST}"}}')
        wanted = [(READ, "{}")], [(READ, "{}"), (READ, "{}")], [(WRITE, "{}")], [(NOTE, "{}")], [(SEND, "{}")], [test]
        mixed = [(READ, "{}"), (WRITE, "{}"), (SEND, "{}")], [test]
        return [
            self._answer(f"the model asks for {' and '.join(name for name, _ in calls)}", process, _asks(*calls))
            for calls in (*wanted, *mixed)
        ]

    def _sensible(self, answers: Group, asks: Group) -> Group:
        """What a model does that wants to be done: show what is owed, then say so. Chance alone seldom gets there."""
        shown = not self.history.owed or any(run.exit_status == 0 for run in self.history.commands)
        wanted = DONE if shown else f"the model asks for {SHELL}"
        return [choice for choice in (answers if shown else asks) if choice.label == wanted][:1]

    def _announcements(self, process: Process) -> list[Choice]:
        """Calls become complete while the answer goes on: of every kind, whether or not the answer then holds them."""
        if not process.loop.prestart or process.model.asked is None or process.model.asked.done():
            return []
        place = process.model.announced
        read = (READ, EARLY[place] if place < len(EARLY) else "{}")
        return [
            self._answer(f"a call of {name} is complete", process, CallReady(place, Call("", name, arguments)))
            for name, arguments in (read, read, (WRITE, "{}"), (READ, "{oops"))
        ]

    def _answer(
        self, label: str, process: Process, said: "Reply | ProviderTrouble | CallReady", pause: float = 0.0
    ) -> Choice:
        def do() -> None:
            self.hint = ""
            if pause:
                self.clock.advance(pause)
            asked = process.model.asked
            if asked is not None and not asked.done():
                asked.set_result(said)

        return Choice(label, do)

    def _results(self, process: Process) -> list[Choice]:
        found: list[Choice] = []
        for waiting in [waiting for waiting in process.bench.waiting if not waiting.cue.done()]:
            name = f"{waiting.run.name} {waiting.run.key.rpartition(':')[2]}"
            found += [
                self._result(f"{name} ends well", process, waiting, Status.OK),
                self._result(f"{name} ends well", process, waiting, Status.OK),
                self._result(f"{name} fails", process, waiting, Status.ERROR),
                self._result(f"{name} ends, and the time is up", process, waiting, Status.OK, pause=LONG),
            ]
            if waiting.run.name == READ:
                found.append(self._result(f"{name} asks a person", process, waiting, Status.OK, asks="Is this right?"))
        return found

    def _result(  # noqa: PLR0917  what a tool does, word by word
        self, label: str, process: Process, waiting: Waiting, status: Status, pause: float = 0.0, asks: str = ""
    ) -> Choice:
        def do() -> None:
            self.clock.advance(pause)
            process.bench.finish(waiting, status, asks=asks)

        return Choice(label, do)

    def _disturbances(self, here: Process) -> list[Choice]:
        return [
            Choice("the time passes", lambda: self.clock.advance(1.0)),
            Choice("the workspace is changed", self.workspace.change),
            Choice("cancelled", lambda: here.loop.cancel(self.session, "enough")),
            Choice("another process cancels", self.cancel_from_afar),
            Choice("the caller goes away", lambda: here.task and here.task.cancel()),
            Choice("a crash", lambda: self.crash(happened=False)),
            Choice("a crash, after what was started had happened", lambda: self.crash(happened=True)),
            Choice("somebody else tries to run it", self.try_to_own),
            Choice("somebody else takes it over", self.take_over),
            *(
                Choice(f"the verifier will not agree: {said}", partial(self.moods.append, opinion))
                for said, opinion in MOODS.items()
                if self.history.contract.verify is Verify.ALWAYS
            ),
            *(
                Choice(f"the next stop hook {does}", partial(self.refusals.append, said))
                for does, said in (("refuses", "not yet"), ("allows it", ""))
            ),
            *(
                Choice(f"the next commit fails: {fault}", partial(self.faults.append, fault))
                for fault in (Fault.REFUSED, Fault.LOST, Fault.KEPT)
            ),
        ]

    def _former_owners(self) -> Group:
        """Those who lost the session and do not know it yet go on with what they were doing."""
        found: Group = []
        for zombie in self.zombies:
            if zombie.model.asked is not None and not zombie.model.asked.done():
                found.append(self._answer("the former owner hears an answer", zombie, _asks((WRITE, "{}"))))
            found += [
                self._result("a tool of the former owner ends", zombie, waiting, Status.OK)
                for waiting in zombie.bench.waiting
                if not waiting.cue.done()
            ]
        return found


def _asks(*calls: tuple[str, str]) -> Reply:
    return Reply(tuple(Call("", name, arguments) for name, arguments in calls), Finish.CALLS, model="staged")
