"""The tools that work on a workspace: files, searching, and a shell."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import attrs

from states.errors import ConfigError

from .decorate import Tool
from .files.confined import Confined
from .files.effects import Effects
from .files.read import read_tools
from .files.search import search_tools
from .files.write import write_tools
from .shell.background import Background
from .shell.bash import bash_tool
from .shell.later import later_tools


def workspace_tools(
    root: Path | str,
    state_dir: Path | str | None = None,
    *,
    hidden_env: Iterable[str] = (),
    protected: Iterable[Path | str] = (),
) -> list[Tool]:
    """read_file, list_dir, glob, grep, write_file, edit_file and bash (with bash_output and bash_stop), for `root`.

    File tools stay inside it and never write below `.git`, `.interlock`, `state_dir` or a `protected` path (a journal,
    say). bash is a shell with the rights of this process: it is not confined. `state_dir` takes receipts and long
    outputs (by default `.interlock` in the root); `hidden_env` names variables that commands do not get.
    Raises ConfigError if `root` is no directory.
    """
    home = Path(root).resolve()
    state = home / ".interlock" if state_dir is None else Path(state_dir).absolute()
    if not home.is_dir():
        raise ConfigError(f"the workspace {str(root)!r} is not a directory")
    kept = (state, *map(Path, protected))
    return _bound(Path(root), state, kept, tuple(hidden_env), Background(state))


def _bound(
    root: Path, state: Path, kept: tuple[Path, ...], hidden_env: tuple[str, ...], background: Background
) -> list[Tool]:
    """The tools for one folder. A `kept` path around it does not count: nothing else below that can be reached."""
    home = root.resolve()
    confined = Confined(root, [path for path in kept if not home.is_relative_to(path.resolve())])
    found = [
        *read_tools(confined),
        *search_tools(confined),
        *write_tools(confined, Effects(state)),
        bash_tool(home, state, hidden_env=hidden_env, background=background),
        *later_tools(background),
    ]

    def moved(name: str, folder: Path) -> Tool:
        there = _bound(folder, state, kept, hidden_env, background)
        return next(tool for tool in there if tool.spec.name == name)

    return [attrs.evolve(tool, elsewhere=partial(moved, tool.spec.name)) for tool in found]
