"""Starts the server and the clients, each in a process of its own, and reads what they print."""

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs

ROOT: Final = Path(__file__).parent.parent

PATIENCE: Final = 120
"""Seconds."""

FLOOR: Final = "floor"
FLOOR_COMMITS: Final = "floor + 3 commits"
OURS: Final = "interlock"
CLIENTS: Final = {
    FLOOR: ("benchmarks.floor",),
    FLOOR_COMMITS: ("benchmarks.floor", "--commits"),
    OURS: ("benchmarks.ours",),
}


def environment(compiled: Path) -> dict[str, str]:
    """Bytecode is kept, in a folder that goes with us: nobody compiles while the clock runs."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(compiled)}


@attrs.frozen
class Bench:
    """A folder that goes at the end, and a server that does too."""

    folder: Path
    url: str
    server: "subprocess.Popen[str]"

    def command(self, client: str, turns: int, journal: Path, *extra: str, hang: bool = False) -> list[str]:
        model = f"bench-{turns}{'-hang' if hang else ''}"
        module, *flags = CLIENTS[client]
        given = ["--url", self.url, "--model", model, "--journal", str(journal)]
        return [sys.executable, "-m", module, *flags, *given, *extra]

    def run(self, client: str, turns: int, *extra: str, journal: Path | None = None) -> dict[str, Any]:
        """What the client measured in itself. A journal of its own, unless one is given, is removed again."""
        kept = journal or self.folder / "journal.db"
        command = self.command(client, turns, kept, *extra)
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
        if journal is None:
            for file in self.folder.glob("journal.db*"):
                if file.is_file():
                    file.unlink()
        return json.loads(done.stdout)

    @property
    def environment(self) -> dict[str, str]:
        return environment(self.folder / "compiled")

    def arrival(self) -> dict[str, Any]:
        """The next request that is left without an answer."""
        readable, _, _ = select.select([self.server.stdout], [], [], PATIENCE)
        if not readable:
            raise SystemExit(f"no request arrived within {PATIENCE} s; run the client by hand to see why")
        return json.loads(self.server.stdout.readline())


@contextmanager
def bench() -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="interlock-bench-") as name:
        folder = Path(name)
        command: Sequence[str] = [sys.executable, "-m", "benchmarks.server"]
        server = subprocess.Popen(
            command, env=environment(folder / "compiled"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            port = int(server.stdout.readline())
            yield Bench(folder, f"http://127.0.0.1:{port}/v1", server)
        finally:
            server.stdin.close()
            server.wait(10)
            server.stdout.close()
