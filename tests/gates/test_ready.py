"""Ready-made gates on real folders: what they see, that it is bound to a revision, and how often they ask again."""

import asyncio
import subprocess

import attrs
import pytest
from support.past import Past

from fsm.graph import GRAPH
from fsm.tools import Tools, workspace_tools
from fsm.workspace import LocalWorkspace
from gates.ready import (
    CoverageNotLower,
    DiffSizeLimit,
    FilesExist,
    FilesUnchanged,
    HumanApproval,
    NoNewTodo,
)
from gates.ready.matching import matching
from states.errors import ConfigError
from states.finalize import receipt
from states.fold import fold
from states.names import State
from states.records import Baseline, Candidate, Finding, Resumed, StopAnswer, UserInput, Verdict, Verification
from states.verdicts import Fail, Pass, Retry, Suspend, WaitsFor


@attrs.define
class World:
    workspace: object
    tools: object
    confirmed: int = 0

    async def confirm(self):
        self.confirmed += 1


class Stage:
    """A folder, a gate in the table, and a run that has begun."""

    def __init__(self, root, gate, state="verify"):
        self.root, self.gate = root, gate
        self.workspace = LocalWorkspace(root)
        tools = Tools(workspace_tools(root))
        self.world = World(self.workspace, tools)
        self.graph = GRAPH.with_gate(gate, state)
        self.past = Past()
        self.past.add(*asyncio.run(gate.begin(self.world)))
        self.answers = 0

    def gathered(self):
        async def outside():
            return self.world

        return asyncio.run(self.gate.gather(self.past.history, outside))

    def revision(self):
        return asyncio.run(self.workspace.revision())

    def candidate(self, meanwhile=lambda: None):
        """One more answer of the model, up to the verdict."""
        self.answers += 1
        past = self.past
        past.says(f"answer {self.answers}").move(self.graph)
        past.add(Candidate(past.history.turn_seq)).move(self.graph)
        found = self.gathered()
        meanwhile()
        past.add(*found, Verification(past.history.candidate, self.revision())).move(self.graph)
        return past.state

    @property
    def ruling(self):
        return next(
            e.record.ruling
            for e in reversed(self.past.entries)
            if isinstance(e.record, Verdict) and e.record.gate == self.gate.name
        )


def git(root, *arguments):
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *names, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "src" / "a.py").write_text("a = 1\n# TODO: later\n")
    (folder / "tests" / "test_a.py").write_text("def test_a(): pass\n")
    return folder


@pytest.fixture
def repository(root):
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


def replace(root, path, text):
    whole = root / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_text(text)


CASES = {
    "a file that exists": (FilesExist("src/a.py", "tests/**"), lambda root: None, True),
    "a file that does not": (FilesExist("src/a.py", "README.md"), lambda root: None, False),
    "a file that was made": (FilesExist("README.md"), lambda root: replace(root, "README.md", "x"), True),
    "nothing changed": (FilesUnchanged("tests"), lambda root: replace(root, "src/a.py", "b"), True),
    "a content changed": (FilesUnchanged("tests"), lambda root: replace(root, "tests/test_a.py", "b"), False),
    "a file was added": (FilesUnchanged("tests/**"), lambda root: replace(root, "tests/conftest.py", "b"), False),
    "a file was removed": (FilesUnchanged("*/test_*.py"), lambda root: (root / "tests/test_a.py").unlink(), False),
    "changed and restored": (
        FilesUnchanged("tests"),
        lambda root: [replace(root, "tests/test_a.py", text) for text in ("b", "def test_a(): pass\n")],
        True,
    ),
    "no mark is new": (NoNewTodo(), lambda root: replace(root, "src/b.py", "b = 1\n"), True),
    "a mark moved": (
        NoNewTodo(),
        lambda root: [(root / "src/a.py").unlink(), replace(root, "src/b.py", "  # TODO: later\n")],
        True,
    ),
    "a new mark": (NoNewTodo(), lambda root: replace(root, "src/b.py", "# FIXME: never\n"), False),
    "the same mark once more": (NoNewTodo(), lambda root: replace(root, "src/b.py", "# TODO: later\n"), False),
    "a mark elsewhere": (NoNewTodo("src"), lambda root: replace(root, "notes.md", "TODO\n"), True),
    "a word that is no mark": (NoNewTodo(), lambda root: replace(root, "src/b.py", "TODOS = XXXL\n"), True),
    "coverage that rose": (
        CoverageNotLower(),
        lambda root: replace(root, "coverage.json", '{"totals":{"percent_covered":81.0}}'),
        True,
    ),
    "coverage that fell": (
        CoverageNotLower(),
        lambda root: replace(root, "coverage.json", '{"totals":{"percent_covered":79.9}}'),
        False,
    ),
    "coverage that fell a little": (
        CoverageNotLower(tolerance=0.5),
        lambda root: replace(root, "coverage.json", '{"totals":{"percent_covered":79.9}}'),
        True,
    ),
    "coverage that is gone": (CoverageNotLower(), lambda root: (root / "coverage.json").unlink(), False),
    "a report that is none": (CoverageNotLower(), lambda root: replace(root, "coverage.json", "[]"), False),
    "coverage in XML": (
        CoverageNotLower("c.xml"),
        lambda root: replace(root, "c.xml", '<coverage line-rate="0.5">'),
        True,
    ),
    "no coverage in XML": (CoverageNotLower("c.xml"), lambda root: replace(root, "c.xml", "<x/>"), False),
}


@pytest.mark.parametrize(("gate", "change", "holds"), CASES.values(), ids=CASES)
def test_what_a_gate_says_of_a_folder(root, gate, change, holds):
    replace(root, "coverage.json", '{"totals":{"percent_covered":80.0}}')
    stage = Stage(root, gate)
    change(root)

    assert stage.candidate() is (State.STOP_HOOK if holds else State.PROVIDER_TURN)
    if holds:
        (cited,) = stage.ruling.cites
        assert isinstance(stage.past.entries[cited - 1].record, Finding)
    else:
        assert stage.ruling.message.startswith("You are not done: ")


DIFFS = {
    "nothing": (DiffSizeLimit(lines=0, files=0), lambda root: None, True),
    "one line": (DiffSizeLimit(lines=2), lambda root: replace(root, "src/a.py", "a = 2\n# TODO: later\n"), True),
    "too many lines": (DiffSizeLimit(lines=1), lambda root: replace(root, "src/a.py", "a = 2\n# TODO: later\n"), False),
    "a new file": (DiffSizeLimit(lines=3), lambda root: replace(root, "new.py", "1\n2\n3\n"), True),
    "a new file that is too long": (DiffSizeLimit(lines=2), lambda root: replace(root, "new.py", "1\n2\n3\n"), False),
    "too many files": (
        DiffSizeLimit(files=1),
        lambda root: [replace(root, name, "1\n") for name in ("x.py", "y.py")],
        False,
    ),
    "hidden in a commit": (
        DiffSizeLimit(lines=1),
        lambda root: [replace(root, "src/a.py", "b\n"), git(root, "add", "."), git(root, "commit", "-q", "-m", "sly")],
        False,
    ),
    "an old untracked file": (DiffSizeLimit(lines=0, files=0), lambda root: None, True),
}


@pytest.mark.parametrize(("gate", "change", "holds"), DIFFS.values(), ids=DIFFS)
def test_the_size_of_a_change_is_counted_from_where_the_run_started(repository, gate, change, holds):
    replace(repository, "old.py", "1\n2\n")
    stage = Stage(repository, gate)
    change(repository)

    assert stage.candidate() is (State.STOP_HOOK if holds else State.PROVIDER_TURN)


def test_what_was_uncommitted_before_the_run_is_not_of_the_run(repository):
    replace(repository, "src/a.py", "entirely = 1\ndifferent = 2\n")
    stage = Stage(repository, DiffSizeLimit(lines=0, files=0))

    assert stage.candidate() is State.STOP_HOOK


def test_the_size_of_a_change_needs_a_repository(root):
    with pytest.raises(ConfigError, match="diff_size_limit needs a git repository with a commit"):
        Stage(root, DiffSizeLimit())


def test_a_workspace_that_moves_after_the_look_is_looked_at_again(root):
    stage = Stage(root, FilesExist("src/a.py"))

    assert stage.candidate(meanwhile=(root / "src/a.py").unlink) is State.PROVIDER_TURN
    assert stage.ruling.reason == "the workspace changed while it was looked at"


def test_a_workspace_that_moves_before_the_end_voids_what_was_seen(root):
    stage = Stage(root, FilesExist("src/a.py"))
    assert stage.candidate() is State.STOP_HOOK
    past = stage.past
    past.add(StopAnswer(past.history.candidate, 0)).move(stage.graph)
    assert past.history.owes_evidence
    (root / "src/a.py").unlink()
    past.add(receipt(past.history, stage.revision())).move(stage.graph)

    assert past.state is State.PROVIDER_TURN


def test_what_was_seen_of_one_candidate_counts_for_no_other(root):
    stage = Stage(root, FilesExist("src/a.py"))
    stage.past.verified("first").move(stage.graph)

    assert stage.past.state is State.PROVIDER_TURN
    assert stage.past.history.findings == {}


def test_the_patience_of_a_gate_survives_a_crash_and_then_it_fails(root):
    stage = Stage(root, FilesExist("README.md"))
    for _ in range(FilesExist.patience):
        assert stage.candidate() is State.PROVIDER_TURN
        stage.past.history = fold("s", stage.past.entries)

    assert stage.candidate() is State.FAILED
    assert stage.ruling == Fail("files_exist_failed", "these files have to exist: README.md")


def test_how_things_were_is_remembered_across_a_crash(root):
    stage = Stage(root, FilesUnchanged("tests"))
    replace(root, "tests/test_a.py", "changed")
    stage.past.history = fold("s", stage.past.entries)

    assert stage.candidate() is State.PROVIDER_TURN
    assert isinstance(next(e.record for e in stage.past.entries if isinstance(e.record, Baseline)).data, dict)


def test_a_workspace_that_is_no_folder_is_named():
    class Elsewhere:
        async def revision(self):
            return "r1"

    with pytest.raises(ConfigError, match="the gate 'files_exist' looks at files; give the loop a workspace"):
        asyncio.run(FilesExist("x").begin(World(Elsewhere(), None)))


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("a.py", ["a.py"]),
        ("*.py", ["a.py"]),
        ("**/*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("src", ["src/b.py", "src/deep/c.py"]),
        ("src/", ["src/b.py", "src/deep/c.py"]),
        ("src/*.py", ["src/b.py"]),
        ("src/**", ["src/b.py", "src/deep/c.py"]),
        ("?.py", ["a.py"]),
        ("[a].py", []),
        ("**", ["a.py", "src/b.py", "src/deep/c.py"]),
    ],
)
def test_patterns(pattern, fits):
    assert matching(["a.py", "src/b.py", "src/deep/c.py"], [pattern]) == fits


# --- a person's word --------------------------------------------------------------------------------------------


def approving():
    graph = GRAPH.with_gate(HumanApproval(), "stop_hook")
    return graph, Past().verified().move(graph)


def asked(past, graph):
    return past.add(StopAnswer(past.history.candidate, past.history.noted)).move(graph)


def answered(past, graph, words):
    past.add(UserInput(words), Resumed()).move(graph)
    past.says(f"after {words}").move(graph).add(Candidate(past.history.turn_seq)).move(graph)
    past.add(Verification(past.history.candidate)).move(graph)
    return asked(past, graph)


def test_a_person_is_asked_before_the_end_and_a_yes_lets_it_end():
    graph, past = approving()
    asked(past, graph)
    assert past.state is State.SUSPENDED
    ruling = past.history.verdicts["human_approval"][1]
    assert isinstance(ruling, Suspend)
    assert ruling.waits_for is WaitsFor.ANSWER

    answered(past, graph, "Approved.")
    assert past.state is State.FINALIZE
    assert past.history.verdicts["human_approval"][1] == Pass("a person approved", (past.history.last_input,))


@pytest.mark.parametrize("words", ["no", "yes, but change the title", "approve nothing", "why?", "不同意"])
def test_any_other_word_is_no_approval(words):
    graph, past = approving()
    asked(past, graph)

    assert answered(past, graph, words).state is State.SUSPENDED


@pytest.mark.parametrize("words", ["yes", "approve", "LGTM", "ok", "同意", " Yes! "])
def test_words_that_approve(words):
    graph, past = approving()
    asked(past, graph)

    assert answered(past, graph, words).state is State.FINALIZE


def test_a_yes_before_the_question_and_a_yes_before_more_work_count_for_nothing():
    graph = GRAPH.with_gate(HumanApproval(), "stop_hook")
    past = Past(task="yes").verified().move(graph)
    assert asked(past, graph).state is State.SUSPENDED

    past.add(UserInput("yes"), Resumed()).move(graph)
    past.tool_turn("write_file").says("changed once more").move(graph).add(Candidate(past.history.turn_seq)).move(graph)
    past.add(Verification(past.history.candidate)).move(graph)
    assert asked(past, graph).state is State.SUSPENDED


def test_a_gate_of_ones_own_is_short(root):
    from gates.ready import Observed, Sight

    class HasLicense(Observed):
        name = "has_license"
        patience = 1

        async def look(self, files, outside, before):
            return Sight("LICENSE" in await files.paths(), "a LICENSE is missing")

    stage = Stage(root, HasLicense())
    assert stage.candidate() is State.PROVIDER_TURN
    assert isinstance(stage.ruling, Retry)
    replace(root, "LICENSE", "MIT")
    assert stage.candidate() is State.STOP_HOOK
