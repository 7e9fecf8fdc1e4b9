"""What the outside hears of a run: without secrets, results in the model's order, durable things once they are."""

from collections.abc import Callable, Iterable
from functools import partial

import attrs

from states.ports import CompactionNotice, ReasoningDelta, RetryNotice, TextDelta
from states.records import Entry

from . import events
from .flow import Flow
from .redact import Redactor, StreamRedactor


@attrs.define(eq=False)
class Voice:
    """Says what happens to `publish`, one event at a time."""

    redactor: Redactor
    publish: Callable[[events.Event], None]
    _deltas: dict[type, StreamRedactor] = attrs.field(factory=dict)
    _progress: dict[str, StreamRedactor] = attrs.field(factory=dict)
    _flows: dict[str, Flow] = attrs.field(factory=dict)
    _landed: dict[str, events.ToolEnd] = attrs.field(factory=dict)
    """Results that wait until the ones before them have landed."""
    _shown: set[str] = attrs.field(factory=set)

    def entry(self, entry: Entry, session: str, calls: Iterable[str]) -> None:
        """An entry is durable. calls: those of the current turn, in the model's order."""
        event = events.announce(entry, session)
        if isinstance(event, events.ToolEnd):
            self._result(event, calls)
        elif event is not None:
            if isinstance(event, events.ToolsDropped):
                self.quiet()  # their ids come again, for other calls
            self.publish(event)

    def _result(self, landed: events.ToolEnd, calls: Iterable[str]) -> None:
        self._landed[landed.call] = landed
        for call in calls:
            if call in self._landed:
                self._end_progress(call)
                self.publish(self._landed.pop(call))
                self._shown.add(call)
            elif call not in self._shown:
                break

    def item(self, item: TextDelta | ReasoningDelta | RetryNotice | CompactionNotice) -> None:
        """Something ephemeral of a provider turn."""
        if isinstance(item, RetryNotice):
            self.publish(events.ProviderRetry(item.attempt, item.delay, self.redactor.text(item.message)))
            return
        if isinstance(item, CompactionNotice):
            self.publish(events.Compacting(item.cause))
            return
        stream = self._deltas.get(type(item))
        if stream is None:
            stream = self._deltas[type(item)] = self.redactor.stream()
        if text := stream.feed(item.text):
            self.publish(events.Delta(text, isinstance(item, ReasoningDelta)))

    def rest(self) -> None:
        """The turn is over: what was held back, because it could have been the start of a secret, is none."""
        for kind, stream in self._deltas.items():
            if text := stream.rest():
                self.publish(events.Delta(text, kind is ReasoningDelta))

    def progress(self, call: str, text: str) -> None:
        """A running tool said something."""
        flow = self._flows.get(call)
        if flow is None:
            flow = self._flows[call] = Flow(partial(self._show_progress, call))
        flow.say(text)

    def _show_progress(self, call: str, text: str, dropped: int) -> None:
        stream = self._progress.get(call)
        if stream is None:
            stream = self._progress[call] = self.redactor.stream()
        if shown := stream.feed(text):
            self.publish(events.ToolProgress(call, shown, dropped))

    def quiet(self) -> None:
        """Nobody is working any more: what tools still had to say is not said."""
        for flow in self._flows.values():
            flow.stop()
        self._flows.clear()
        self._progress.clear()

    def _end_progress(self, call: str) -> None:
        flow = self._flows.pop(call, None)
        if flow is not None:
            flow.end()
        stream = self._progress.pop(call, None)
        if stream is not None and (text := stream.rest()):
            self.publish(events.ToolProgress(call, text))
