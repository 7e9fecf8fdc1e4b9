"""interlock export: one session as one file."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@click.option("-o", "--output", metavar="FILE", help="Where to write it.  [default: standard output]")
@options.place
def export(session: str, output: str | None, **given: Any) -> int:
    """Write SESSION as one file: a line per record, under the digests of its chain.

    `interlock import` takes it anywhere, and refuses it if anything in it was changed. Keys are not in it; what the
    tools printed is.
    """
    import asyncio
    import os

    from fsm.config import settings
    from fsm.tools.state_dir import write_durably

    from .deliver import deliver
    from .keeper import with_loop

    chosen = settings(options.as_flags(given), os.environ)
    file = asyncio.run(with_loop(chosen, lambda loop: loop.export(session)))
    return deliver(file, output, write_durably)
