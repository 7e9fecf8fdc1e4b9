"""interlock changes: which files a session changed."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@options.place
@click.option("--json", "as_json", is_flag=True, help="A JSON array: seq, by, path, before, after (SHA-256 or null).")
def changes(session: str, as_json: bool, **given: Any) -> int:
    """List what the file tools of SESSION changed, by record. What bash changed is not known here."""
    import asyncio
    import os

    import attrs

    from fsm.config import settings

    from .keeper import with_loop
    from .terminal import out

    chosen = settings(options.as_flags(given), os.environ)
    found = asyncio.run(with_loop(chosen, lambda loop: loop.changes(session)))
    if as_json:
        import orjson

        plain = [{"seq": change.seq, "by": change.by, **attrs.asdict(change.file)} for change in found]
        out(orjson.dumps(plain, option=orjson.OPT_INDENT_2).decode())
        return 0
    for change in found:
        what = "created" if change.file.before is None else "removed" if change.file.after is None else "changed"
        out(f"[{change.seq}] {change.by} {what} {change.file.path}")
    return 0
