"""All layers in one call: what can be read off a loop's table, what a search finds, what the real loop does.

A profile says how deep. `quick` takes seconds, for every change; `ci` also fails when a row of the table was never
taken; `nightly` goes on for as long as a night allows.
"""

import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import attrs

from fsm.graph import Graph, Row
from states.errors import ConfigError

from .broken import Broken
from .claims import Claim
from .deeds import MakeLoop, graph_of


@attrs.frozen
class Profile:
    """How deep the layers go. `histories` are simulated; the others are run where they are true."""

    name: str
    histories: int
    explore: bool
    paths: bool
    crash: bool
    power: bool
    walks: int
    """Walks of Hypothesis, where it is installed."""


PROFILES: Final = {
    profile.name: profile
    for profile in (
        Profile("quick", 250, explore=False, paths=False, crash=False, power=False, walks=0),
        Profile("ci", 1_000, explore=True, paths=True, crash=True, power=True, walks=100),
        Profile("nightly", 50_000, explore=True, paths=True, crash=True, power=True, walks=5_000),
    )
}


@attrs.define
class Proof:
    """What each layer did, a line each; `skipped` says which ones could not be run here, and why."""

    profile: str
    lines: list[str] = attrs.field(factory=list)
    skipped: list[str] = attrs.field(factory=list)

    def __str__(self) -> str:
        return "\n".join([f"profile {self.profile}", *self.lines, *(f"not run: {why}" for why in self.skipped)])


def prove(
    make_loop: MakeLoop,
    *,
    profile: str = "quick",
    claims: Iterable[Claim] = (),
    exempt: Iterable[Row] = (),
    folder: Path | None = None,
    cases: Path | None = Path("interlock-cases"),
) -> Proof:
    """Every layer, one after the other. Raises Broken at the first claim that does not hold.

    make_loop: takes provider, tools, journal, clock, workspace, contract, budget and permission by name, any of which
    it may replace by its own. profile: quick, ci or nightly. claims: further ones, plain functions
    `(before, move, after) -> None | str`; they serve every layer. exempt: rows that need not be taken. folder: where
    the layers with a real disk work (default: a temporary one). cases: where a failing history is written.
    """
    depth = _profile(profile)
    proof = Proof(profile)
    with tempfile.TemporaryDirectory(prefix="interlock-proof-") as made:
        layers = _Layers(make_loop, depth, tuple(claims), list(exempt), folder or Path(made), cases)
        for line in layers.run(proof.skipped):
            proof.lines.append(line)
    return proof


def _profile(name: str) -> Profile:
    if name not in PROFILES:
        raise ConfigError(f"there is no profile {name!r}; there are: {', '.join(PROFILES)}")
    return PROFILES[name]


@attrs.frozen
class _Layers:
    make_loop: MakeLoop
    depth: Profile
    claims: tuple[Claim, ...]
    exempt: list[Row]
    folder: Path
    cases: Path | None

    def run(self, skipped: list[str]) -> Iterator[str]:
        """A line for each layer, once it holds."""
        from . import explore, paths, powerloss, shape, simulate
        from .replay import starts

        graph, depth, claims = graph_of(self.make_loop), self.depth, self.claims
        shape.prove(graph)
        yield f"shape: {len(graph)} rows, nothing to object to"
        if depth.explore:
            yield f"explore: {explore.check(graph, claims) if claims else explore.checked(graph)}"
        done = simulate.check(
            self.make_loop,
            histories=depth.histories,
            claims=claims,
            starts=starts(graph) if depth.explore else (),
            exempt=self.exempt if depth.explore else None,
            cases=self.cases,
        )
        yield f"simulate: {done}"
        if depth.walks:
            yield from self._walk(skipped)
        if depth.paths:
            home = self.folder / "paths"
            home.mkdir(parents=True, exist_ok=True)
            yield f"paths: {paths.replay(self.make_loop, home, claims=claims)} rows, each taken by its shortest way"
        if depth.power:
            yield f"power loss: {powerloss.sweep(self.make_loop, self.folder / 'power', claims=claims)}"
        if depth.crash:
            yield from self._crash(skipped)

    def _walk(self, skipped: list[str]) -> Iterator[str]:
        try:
            from . import walk
        except ModuleNotFoundError as error:
            skipped.append(f"walk: {error}")
            return
        exempt = dict.fromkeys(self.exempt, "said so")
        yield f"walk: {walk.check(self.make_loop, walks=self.depth.walks, claims=self.claims, exempt=exempt)}"

    def _crash(self, skipped: list[str]) -> Iterator[str]:
        from . import crash

        others = [thread.name for thread in threading.enumerate() if thread is not threading.current_thread()]
        if others:
            skipped.append(f"crash, which forks: threads are running ({', '.join(others)})")
        else:
            yield f"crash: {crash.sweep(self.make_loop, self.folder / 'crash', claims=self.claims)}"


def cli_check(graph: Graph, name: str) -> tuple[int, str]:
    """Exit status (0: nothing to object to, 1: something is wrong) and the text for standard output.

    name: what the table is called in that text. The search starts only from a table that keeps its shape.
    """
    from . import explore, shape

    found = shape.check(graph)
    if found:
        return 1, "\n".join(str(finding) for finding in found)
    try:
        report = explore.checked(graph)
    except Broken as error:
        return 1, str(error)
    return 0, f"{name}: {len(graph)} rows, nothing to object to; {report}"


def cli_prove(make_loop: Callable[..., object], name: str, profile: str) -> tuple[int, str]:
    """The same for a function that makes loops: all layers of a profile."""
    try:
        return 0, f"{name}: {prove(make_loop, profile=profile)}"  # type: ignore[arg-type]  # whatever the user named
    except Broken as error:
        return 1, str(error)
