"""What a person sees of a run in a chat: words as they stream, tools as they run, what objected, how it ended."""

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from fsm import events
from fsm.approvals import ApprovalRequest
from fsm.cli.approve import arguments_of
from fsm.cli.progress import MARKS, label
from fsm.cli.terminal import one_line, visible
from fsm.result import Result, RunStatus
from states.history import Question
from states.records import Status
from states.verdicts import Fail, Retry, Suspend, WaitsFor

Say = Callable[[str, str], None]
_STYLES: Final = {
    Status.OK: "good",
    Status.ERROR: "bad",
    Status.DENIED: "warn",
    Status.CANCELLED: "warn",
    Status.UNKNOWN: "bad",
}


@attrs.define(eq=False)
class View:
    """Takes a run's events. Whole lines are said and stay; the rest of a line, and what goes on, is `live`."""

    say: Say
    redraw: Callable[[], None]
    width: Callable[[], int] = attrs.field(default=lambda: 80)
    _line: str = ""
    """Words that came after the last line's end."""
    _heard: str = ""
    """All words of the run, to tell an answer that was shown from one that was not."""
    _now: str = ""
    _labels: dict[str, str] = attrs.field(factory=dict)

    def live(self) -> list[tuple[str, str]]:
        parts = [("", f"{self._line}\n")] if self._line else []
        return [*parts, ("dim", f"{self._now}\n")] if self._now else parts

    def __call__(self, event: events.Event) -> None:
        self._show(event)
        self.redraw()

    def _show(self, event: events.Event) -> None:  # noqa: PLR0912  one case per kind
        match event:
            case events.RunStart(notices=notices):
                self._heard = ""
                for notice in notices:
                    self.say(notice, "warn")
            case events.Understanding(kinds=kinds, phrases=phrases, not_owed=why) if kinds:
                owed = f"not owed: {why}" if why else "owed"
                self.say(f"understood: {', '.join(kinds)} ({owed}), from {' / '.join(phrases)}", "dim")
            case events.TurnStart(turn=turn):
                self._now = f"turn {turn}"
            case events.Delta(text=text, reasoning=reasoning):
                if reasoning:
                    self._now = "thinking"
                else:
                    self._feed(text)
            case events.StreamEnd(trouble=trouble):
                self.flush()
                if trouble:
                    self.say(f"no answer: {trouble}", "warn")
            case events.Discarded(reason=reason) | events.ToolsDropped(reason=reason):
                self.flush()
                self.say(f"what was shown of this answer is void: {one_line(reason)}", "warn")
            case events.ToolStart(call=call, name=name, arguments=arguments):
                self.flush()
                self._labels[call] = self._now = label(name, arguments)
            case events.ToolProgress(call=call, text=text):
                self._now = f"{self._labels.get(call, call)}: {one_line(text.rpartition(chr(10))[2], 60)}"
            case events.ToolEnd() as end:
                self._ended(end)
            case _:
                self._less_often(event)

    def _less_often(self, event: events.Event) -> None:
        match event:
            case events.ProviderRetry(delay=delay, message=message):
                self.say(f"{one_line(message)}; asked again in {delay:.1f} s", "warn")
            case events.ProviderChanged(model=model):
                self.say(f"{model} is asked from now on", "warn")
            case events.VerifierStart(gate=gate):
                self._now = f"{gate}: a verifier looks at it"
            case events.VerifierEnd(gate=gate, judgement=judgement):
                self.say(f"  {gate}: the verifier says {judgement.value.upper()}", "dim")
            case events.AgentStart(agent=agent, agent_session=session):
                self.say(f"  {agent} begins in session {session}", "dim")
            case events.Ruled(gate=gate, ruling=Retry(reason=reason)):
                self.say(f"  ↩ {gate}: {one_line(reason)}", "warn")
            case events.Ruled(gate=gate, ruling=Fail(message=message) | Suspend(message=message)):
                self.say(f"  ■ {gate}: {one_line(message)}", "warn")
            case events.Interrupted():
                self.flush()
            case events.RunEnd(result=result):
                self.flush()
                self._end(result)

    def _feed(self, text: str) -> None:
        self._heard += text
        self._now = ""
        self._line += visible(text).replace("\t", "    ")
        *whole, self._line = self._line.split("\n")
        for line in whole:
            self.say(self._wrapped(line), "")
        self._line = self._wrapped(self._line)

    def _wrapped(self, line: str) -> str:
        """What is left of the line once as much as fills the terminal's width was said, parted between words."""
        width = max(20, self.width() - 1)
        while len(line) > width:
            cut = line.rfind(" ", 0, width) + 1 or width
            self.say(line[:cut].rstrip(), "")
            line = line[cut:]
        return line

    def flush(self) -> None:
        """The line that is not at its end stays as it is."""
        if self._line.strip():
            self.say(self._line, "")
        self._line = self._now = ""

    def _ended(self, end: events.ToolEnd) -> None:
        self._now = ""
        what = self._labels.get(end.call) or f"{end.call} {one_line(end.output, 72)}"
        exit_status = end.metadata.get("exit_status")
        code = f", exit status {exit_status}" if exit_status else ""
        self.say(f"  {MARKS[end.status][0]} {what}  ({end.duration:.2f} s{code})", _STYLES[end.status])

    def _end(self, result: Result) -> None:
        if result.succeeded and result.text.strip() not in self._heard:
            self.say(result.text, "")
        spent = f"{result.turns} turns, {result.tool_calls} calls, {result.usage.total} tokens"
        if result.succeeded:
            self.say(f"succeeded: {spent}", "good")
        else:
            style = "bad" if result.status is RunStatus.FAILED else "warn"
            self.say(f"{result.status} ({result.reason}): {one_line(result.message, 300)}; {spent}", style)
        if result.summary:
            self.say(f"  {result.summary}", "dim")

    def asks(self, request: ApprovalRequest) -> None:
        """A call waits for the person."""
        self.flush()
        why = f" ({request.why})" if request.why.startswith(("ask ", "it cannot", "a hook")) else ""
        self.say(f"{request.name} wants to run{why}:", "bold")
        self.say(arguments_of(request.arguments), "")

    def questions(self, asked: Sequence[Question]) -> None:
        for question in asked:
            plan = question.waits_for is WaitsFor.PLAN_REVIEW
            self.say("The plan:" if plan else "A question:", "bold")
            self.say(question.shows, "")
