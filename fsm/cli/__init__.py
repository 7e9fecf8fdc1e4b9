"""The command `interlock`: one file per command; what is heavy is imported by the command that needs it."""

import sys
import traceback

import click

from states.errors import InterlockError

from .audit import audit
from .cancel import cancel
from .changes import changes
from .chat import chat
from .check import check
from .compact import compact
from .delete import delete
from .demo import demo
from .diagram import diagram
from .doctor import doctor
from .export import export
from .follow_up import follow_up
from .fork import fork
from .goal import goal
from .replay_case import replay_case
from .report import report
from .resume import resume
from .run import run
from .sessions import sessions
from .show import show
from .status import CALLERS_SIDE, Status
from .steer import steer
from .take_in import take_in
from .terminal import give_up_stdout, visible
from .title import title
from .undo import undo


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("interlock")
    except PackageNotFoundError:  # run from a folder that was never installed
        return "unknown"


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(f"interlock {_version()}")
        context.exit()


class Whole(click.Group):
    """Its list has the whole first sentence of each command; click cuts them off at the width of the terminal."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                sentence = " ".join((command.help or "").partition("\n\n")[0].split()).partition(". ")[0]
                rows.append((name, f"{sentence.rstrip('.')}."))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=Whole, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="And exit.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def interlock(debug: bool) -> None:
    """The agent loop whose "done" can be trusted.

    Exit status: 0 succeeded, 1 failed, 2 usage or configuration, 3 suspended, 130 interrupted.
    """


_ABOUT_SESSIONS = (sessions, show, changes, undo, follow_up, goal, fork, title, delete, export, take_in)
for _command in (
    run,
    chat,
    resume,
    steer,
    cancel,
    compact,
    *_ABOUT_SESSIONS,
    audit,
    report,
    diagram,
    check,
    replay_case,
    doctor,
    demo,
):
    interlock.add_command(_command)


def main() -> None:
    """Run the command line and exit."""
    status = call(sys.argv[1:])
    if sys.stdout is not None:  # it may have been closed by whoever started this
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            give_up_stdout()
    sys.exit(status)


def call(arguments: list[str]) -> int:
    """The exit status of a command line. Errors become a sentence on standard error."""
    debug = arguments[:1] == ["--debug"]
    try:
        status = interlock.main(arguments, prog_name="interlock", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return Status.USAGE
    except (click.Abort, KeyboardInterrupt):
        return Status.INTERRUPTED
    except BrokenPipeError:
        give_up_stdout()
        return Status.FAILED
    except InterlockError as error:
        return _complain(str(error), Status.USAGE if isinstance(error, CALLERS_SIDE) else Status.FAILED, debug=debug)
    except Exception as error:  # noqa: BLE001  the last resort: a person should see a sentence
        hint = "" if debug else "; `interlock --debug …` shows where"
        return _complain(f"unexpected {type(error).__name__}: {error}{hint}", Status.FAILED, debug=debug)
    return int(status or 0)


def _complain(sentence: str, status: Status, *, debug: bool) -> Status:
    if debug:
        traceback.print_exc()
    print(f"interlock: {visible(sentence)}", file=sys.stderr)
    return status
