"""Progress for a person, on standard error: a live line for what goes on, a lasting one for what is done.

Where standard error is no terminal, only warnings are shown, unless lasting lines are asked for.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import attrs
import orjson

from fsm import events
from states.records import HookOutcome, Status
from states.verdicts import Fail, Retry, Suspend

from .terminal import errors, one_line, say

if TYPE_CHECKING:
    from rich.status import Status as Spinner

MAIN_ARGUMENTS: Final = ("command", "path", "pattern", "patch")
"""Of a tool call, the argument that says most about it."""
MARKS: Final = {
    Status.OK: ("✓", "green"),
    Status.ERROR: ("✗", "red"),
    Status.DENIED: ("✗", "yellow"),
    Status.CANCELLED: ("–", "yellow"),
    Status.UNKNOWN: ("?", "red"),
}


def label(name: str, arguments: str) -> str:
    """A call on one line."""
    with suppress(ValueError):
        given = orjson.loads(arguments)
        if isinstance(given, dict):
            main = next((given[key] for key in MAIN_ARGUMENTS if isinstance(given.get(key), str)), arguments)
            return one_line(f"{name} {main}", 72)
    return one_line(f"{name} {arguments}", 72)


@attrs.define(eq=False)
class Progress:
    """Shows one run's events. `close` ends the live line."""

    lines: bool = attrs.field(factory=lambda: errors().is_terminal)
    _labels: dict[str, str] = attrs.field(factory=dict)
    _words: str = ""
    """Of the turn that is going on."""
    _before: str = ""
    """Of the turn before: it is durable, and announced, only when the next one begins."""
    _claim: str = ""
    """What the model said when it said that it was done."""
    _turn: str = ""
    _spinner: "Spinner | None" = None

    def __call__(self, event: events.Event) -> None:
        match event:
            case events.RunStart(notices=notices) if notices:
                for notice in notices:
                    say(notice, "yellow")
                if self.lines:
                    self._show(event)
            case events.ProviderRetry(delay=delay, message=message):
                say(f"{message}; asked again in {delay:.1f} s", "yellow")
            case events.StreamEnd(trouble=trouble) if trouble:
                self._claim = ""
                say(f"no answer: {trouble}", "yellow")
            case events.Compacted(before=before, after=after):
                say(f"compacted: about {before} tokens became {after}", "yellow")
            case events.ProviderChanged(model=model):
                say(f"{model} is asked from now on", "yellow")
            case events.HookAnswered(event=asked, hook=hook, outcome=HookOutcome.FAILED, said=why):
                say(f"a {asked} hook has no vote: {one_line(hook, 60)}: {one_line(why)}", "yellow")
            case _ if self.lines:
                self._show(event)

    def close(self) -> None:
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    def _show(self, event: events.Event) -> None:  # noqa: C901, PLR0912  one case per kind
        match event:
            case events.RunStart(session=session, run=run) | events.RunResumed(session=session, run=run):
                say(f"session {session}, run {run}", "dim")
            case events.Understanding(kinds=kinds, phrases=phrases, not_owed=why) if kinds:
                owed = f"not owed: {why}" if why else "owed"
                say(f"understood: {', '.join(kinds)} ({owed}), from {' / '.join(phrases)}", "dim")
            case events.TurnStart(turn=turn):
                self._turn, self._before, self._words = f"turn {turn}", self._words, ""
                self._now(self._turn)
            case events.Delta(text=text, reasoning=reasoning):
                self._delta(text, reasoning=reasoning)
            case events.StreamEnd(calls=0):
                self._claim = one_line(self._words or self._before)
            case events.StreamEnd():
                self._claim = ""
                if said := one_line(self._words):
                    say(f"  {said}", "dim")
            case events.ToolStart(call=call, name=name, arguments=arguments):
                self._labels[call] = label(name, arguments)
                self._now(self._labels[call])
            case events.ToolProgress(call=call, text=text):
                last = text.rpartition("\n")[2]
                self._now(f"{self._labels.get(call, call)}: {one_line(last, 60)}")
            case events.ToolEnd() as end:
                self._ended(end)
            case events.VerifierStart(gate=gate, verifier_session=session):
                self._now(f"{gate}: a verifier looks at it, in session {session}")
            case events.VerifierEnd(gate=gate, judgement=judgement):
                say(f"  {gate}: the verifier says {judgement.value.upper()}", "dim")
            case events.AgentStart(agent=agent, agent_session=session, background=background):
                say(f"  {agent} begins in session {session}{' in the background' if background else ''}", "dim")
            case events.Ruled(gate=gate, ruling=Retry(reason=reason)):
                if self._claim:
                    say(f"  {self._claim}", "dim")
                say(f"  ↩ {gate}: {one_line(reason)}", "yellow")
            case events.Ruled(gate=gate, ruling=Fail(message=message) | Suspend(message=message)):
                say(f"  ■ {gate}: {one_line(message)}", "yellow")

    def _delta(self, text: str, *, reasoning: bool) -> None:
        if reasoning:
            self._now(f"{self._turn}: thinking")
        else:
            self._words += text
            self._now(f"{self._turn}: {one_line(self._words[-60:], 60)}")

    def _ended(self, end: events.ToolEnd) -> None:
        mark, style = MARKS[end.status]
        what = self._labels.get(end.call) or f"{end.call} {one_line(end.output, 72)}"
        exit_status = end.metadata.get("exit_status")
        code = f", exit status {exit_status}" if exit_status else ""
        say(f"  {mark} {what}  ({end.duration:.2f} s{code})", style)

    def _now(self, text: str) -> None:
        if not errors().is_terminal:
            return
        from rich.text import Text

        shown = Text(text, overflow="ellipsis", no_wrap=True)
        if self._spinner is None:
            self._spinner = errors().status(shown)
            self._spinner.start()
        else:
            self._spinner.update(shown)
