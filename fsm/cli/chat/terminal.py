"""The terminal of a chat: lines that stay, a live part below them, and the line that is typed."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs
from prompt_toolkit import PromptSession, print_formatted_text
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.renderer import print_formatted_text as render
from prompt_toolkit.styles import Style

from fsm.cli.terminal import one_line, visible
from fsm.setup import STATE_DIR
from fsm.tools.state_dir import make

STYLE: Final = Style.from_dict(
    {
        "dim": "ansibrightblack",
        "good": "ansigreen",
        "bad": "ansired",
        "warn": "ansiyellow",
        "mine": "ansicyan",
        "bold": "bold",
        "bottom-toolbar": "noreverse ansibrightblack",
    }
)
HISTORY: Final = "chat_history"
"""In the workspace's `.interlock`, for the user alone."""

Fragment = tuple[str, str]


@attrs.define(eq=False)
class Terminal:
    """Everything shown passes through `visible`: what could steer the terminal is written out."""

    workspace: Path
    live: Callable[[], list[Fragment]] = attrs.field(default=list[Fragment])
    """What goes on now, above the line that is typed."""
    mark: Callable[[], str] = attrs.field(default=lambda: "> ")
    status: Callable[[], str] = attrs.field(default=str)
    stop: Callable[[], bool] = attrs.field(default=lambda: False)
    """Ctrl-C or Esc: whether there was something to stop."""
    busy: Callable[[], bool] = attrs.field(default=lambda: False)
    _session: "PromptSession[str] | None" = None
    _armed: bool = False
    """One more Ctrl-C leaves."""
    _left: bool = False

    def say(self, text: str, style: str = "") -> None:
        """Lines that stay."""
        words = FormattedText([(_class(style), f"{visible(text)}\n")])
        app = None if self._session is None else self._session.app
        if app is None or not app.is_running:
            print_formatted_text(words, style=STYLE, end="")
            return
        app.renderer.erase()  # not run_in_terminal: keys that are typed while that prints go astray
        render(app.output, words, STYLE)
        app.renderer.request_absolute_cursor_position()
        app.invalidate()

    def redraw(self) -> None:
        if self._session is not None:
            self._session.app.invalidate()

    @property
    def width(self) -> int:
        return self._session.output.get_size().columns if self._session is not None else 80

    @contextmanager
    def opened(self) -> Iterator[None]:
        self._session = PromptSession(
            message=self._message,
            history=self._history(),
            key_bindings=self._keys(),
            bottom_toolbar=lambda: FormattedText([("", one_line(self.status(), self.width - 1))]),
            style=STYLE,
            erase_when_done=True,
        )
        self._session.app.ttimeoutlen = 0.05  # Esc is a key of its own here
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            with patch_stdout():  # whatever else is printed meanwhile stands above, its escapes made harmless
                yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    async def line(self) -> str:
        """The next line that is typed. Raises EOFError for Ctrl-D, KeyboardInterrupt for the Ctrl-C that leaves."""
        assert self._session is not None  # noqa: S101  opened
        if self._left:
            raise KeyboardInterrupt
        typed = await self._session.prompt_async(handle_sigint=False)
        self._armed = False
        return typed

    def leave(self) -> None:
        """End the line that is being typed, from outside."""
        self._give_up(EOFError)

    def _give_up(self, why: type[BaseException]) -> None:
        app = None if self._session is None else self._session.app
        if app is not None and app.future is not None and not app.future.done():
            app.exit(exception=why)

    def _message(self) -> FormattedText:
        return FormattedText([*((_class(style), text) for style, text in self.live()), ("class:bold", self.mark())])

    def _history(self) -> History:
        path = self.workspace / STATE_DIR / HISTORY
        try:
            make(path.parent)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        except OSError as error:
            self.say(f"what is typed is not kept: {error}", "warn")
            return InMemoryHistory()
        return FileHistory(str(path))

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("escape", eager=True, filter=Condition(self.busy))
        def _(event: KeyPressEvent) -> None:
            self.stop()

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            self._interrupt()

        return keys

    def _interrupt(self) -> None:
        assert self._session is not None  # noqa: S101  opened
        app = self._session.app
        if self._armed:
            self._left = True
            self._give_up(KeyboardInterrupt)
            return
        self._armed = True
        if self.stop():
            return
        app.current_buffer.reset()
        self.say("Ctrl-C once more leaves", "dim")


def _class(style: str) -> str:
    return f"class:{style}" if style else ""


async def settled(task: "asyncio.Task[None]", seconds: float) -> bool:
    """Whether the task ended in time; it is not cancelled."""
    done, _ = await asyncio.wait([task], timeout=seconds)
    return bool(done)
