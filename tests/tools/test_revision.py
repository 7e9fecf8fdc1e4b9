"""The revision: equal as long as nothing relevant changed, different as soon as anything did."""

import asyncio
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fsm.workspace import LocalWorkspace
from fsm.workspace import content as contents
from states.errors import ConfigError


def revision(workspace) -> str:
    return asyncio.run(workspace.revision())


def git(root, *arguments):
    names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **names}
    subprocess.run(["git", *arguments], cwd=root, env=environment, check=True, capture_output=True)


def write(root: Path, path: str, content: str | bytes = "x") -> Path:
    whole = root / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_bytes(content.encode() if isinstance(content, str) else content)
    return whole


@pytest.fixture(params=["walk", "git", "git, all committed"])
def tree(request, tmp_path):
    root = tmp_path / "tree"
    root.mkdir()
    write(root, "a.txt", "a")
    write(root, "sub/b.py", "b")
    (root / "link").symlink_to("a.txt")
    if request.param != "walk":
        git(root, "init", "-q")
    if request.param == "git, all committed":
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", "all")
    return root


CHANGES = {
    "content": lambda root: write(root, "a.txt", "b"),
    "content, same length, same times": lambda root: _sneak(root / "a.txt"),
    "addition": lambda root: write(root, "new.txt"),
    "addition below": lambda root: write(root, "sub/deep/new.txt", ""),
    "deletion": lambda root: (root / "a.txt").unlink(),
    "deletion of a directory": lambda root: shutil.rmtree(root / "sub"),
    "renaming": lambda root: (root / "a.txt").rename(root / "c.txt"),
    "renaming of a directory": lambda root: (root / "sub").rename(root / "other"),
    "executable bit": lambda root: (root / "a.txt").chmod(0o755),
    "link target": lambda root: _relink(root / "link", "sub/b.py"),
    "link becomes file": lambda root: _become(root / "link", "a"),
    "file becomes link": lambda root: _relink(root / "a.txt", "sub/b.py"),
    "file becomes directory": lambda root: _become_directory(root / "a.txt"),
    "file becomes FIFO": lambda root: ((root / "a.txt").unlink(), os.mkfifo(root / "a.txt")),
    "odd name": lambda root: write(root, os.fsdecode(b"\xff\n new")),
}


def _sneak(path):
    before = path.stat()
    path.write_text("b")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _relink(path, target):
    path.unlink()
    path.symlink_to(target)


def _become(path, content):
    path.unlink()
    path.write_text(content)


def _become_directory(path):
    path.unlink()
    write(path.parent, f"{path.name}/inside")


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("fresh", [False, True])
def test_every_relevant_change_changes_it(tree, change, fresh):
    workspace = LocalWorkspace(tree)
    before = revision(workspace)
    change(tree)
    after = revision(LocalWorkspace(tree) if fresh else workspace)

    assert before != after
    assert revision(workspace) == revision(LocalWorkspace(tree)) == after


NO_CHANGES = {
    "nothing": lambda root: None,
    "touching": lambda root: os.utime(root / "a.txt", (1, 1)),
    "the same content again": lambda root: write(root, "a.txt", "a"),
    "a replaced file with equal content": lambda root: _become(root / "a.txt", "a"),
    "an empty directory": lambda root: (root / "empty").mkdir(),
    "permissions of others": lambda root: (root / "a.txt").chmod(0o600),
    "bytecode": lambda root: write(root, "sub/__pycache__/b.cpython-311.pyc"),
    "caches": lambda root: [
        write(root, f"{d}/x") for d in (".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis")
    ],
    "coverage": lambda root: [write(root, ".coverage"), write(root, ".coverage.host.1")],
    "products": lambda root: [write(root, f"{d}/x") for d in ("dist", "build", "target", "node_modules", ".venv")],
    "products below": lambda root: write(root, "sub/node_modules/x/y"),
    "the journal": lambda root: write(root, ".interlock/effects/s/1.json"),
    "a draft of a lost write": lambda root: write(root, "sub/.interlock-0123456789abcdef.tmp"),
    "a FIFO": lambda root: os.mkfifo(root / "fifo"),
    "a socket": lambda root: _socket(root / "socket"),
}


def _socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))


@pytest.mark.parametrize("change", NO_CHANGES.values(), ids=NO_CHANGES)
def test_nothing_else_changes_it(tree, change):
    workspace = LocalWorkspace(tree)
    before = revision(workspace)
    change(tree)

    assert revision(workspace) == revision(LocalWorkspace(tree)) == before


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    write(root, ".gitignore", "*.log\n/local/\n")
    write(root, "a.txt")
    write(root, "dist/tracked.js", "x")
    write(root, "sub/__pycache__/tracked.pyc", "x")
    git(root, "add", "-f", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


def test_what_git_ignores_does_not_count(repository):
    before = revision(LocalWorkspace(repository))
    write(repository, "debug.log")
    write(repository, "local/x")

    assert revision(LocalWorkspace(repository)) == before
    write(repository, ".gitignore", "")
    assert revision(LocalWorkspace(repository)) != before


def test_committing_and_staging_change_nothing(repository):
    write(repository, "a.txt", "changed")
    before = revision(LocalWorkspace(repository))
    git(repository, "add", ".")
    staged = revision(LocalWorkspace(repository))
    git(repository, "commit", "-q", "-m", "second")

    assert before == staged == revision(LocalWorkspace(repository))


def test_a_product_under_version_control_counts_and_a_cache_does_not(repository):
    before = revision(LocalWorkspace(repository))
    write(repository, "sub/__pycache__/tracked.pyc", "y")
    assert revision(LocalWorkspace(repository)) == before

    write(repository, "dist/tracked.js", "y")
    assert revision(LocalWorkspace(repository)) != before


def test_a_part_of_a_repository_is_seen_alone(repository):
    write(repository, "part/b.txt")
    before = revision(LocalWorkspace(repository / "part"))
    write(repository, "a.txt", "outside")
    assert revision(LocalWorkspace(repository / "part")) == before

    write(repository, "part/c.txt")
    assert revision(LocalWorkspace(repository / "part")) != before


def test_a_workspace_that_a_repository_around_it_ignores_is_still_seen(repository):
    write(repository, "local/work/a.txt")
    workspace = LocalWorkspace(repository / "local" / "work")
    before = revision(workspace)
    write(repository, "local/work/a.txt", "changed")

    assert revision(workspace) != before


@pytest.mark.parametrize("registered", [False, True])
def test_a_repository_inside_the_repository_is_looked_into(repository, registered):
    inner = repository / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    write(inner, ".gitignore", "ignored\n")
    write(inner, "a.txt")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "inner")
    if registered:
        git(repository, "add", "inner")
    before = revision(LocalWorkspace(repository))
    write(inner, "ignored")
    assert revision(LocalWorkspace(repository)) == before

    write(inner, "a.txt", "changed")
    assert revision(LocalWorkspace(repository)) != before


def test_nothing_that_the_repository_configures_is_run(repository, tmp_path):
    script = write(repository, ".git/spy.sh", f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    script.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager"):
        git(repository, "config", name, str(script))
    git(repository, "config", "core.hooksPath", str(repository / ".git"))
    index = (repository / ".git" / "index").read_bytes()
    revision(LocalWorkspace(repository))

    assert not (tmp_path / "ran").exists()
    assert (repository / ".git" / "index").read_bytes() == index


def test_variables_of_a_surrounding_git_do_not_mislead(repository, monkeypatch, tmp_path):
    before = revision(LocalWorkspace(repository))
    git(tmp_path, "init", "-q", "elsewhere")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent")

    assert revision(LocalWorkspace(repository)) == before


def test_without_git_the_tree_is_walked(repository, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    before = revision(LocalWorkspace(repository))
    write(repository, "a.txt", "changed")

    assert revision(LocalWorkspace(repository)) != before


def test_a_file_that_cannot_be_read_counts_with_its_error(tree, monkeypatch):
    before = revision(LocalWorkspace(tree))
    opened = os.open

    def refuse(path, *arguments, **options):
        if path == os.fsencode(tree / "a.txt"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **options)

    monkeypatch.setattr(contents.os, "open", refuse)
    refused = revision(LocalWorkspace(tree))

    assert refused != before
    assert revision(LocalWorkspace(tree)) == refused
    write(tree, "a.txt", "longer than before")
    assert revision(LocalWorkspace(tree)) != refused


def test_a_directory_that_cannot_be_read_counts_with_its_error(tmp_path, monkeypatch):
    write(tmp_path, "sub/a.txt")
    before = revision(LocalWorkspace(tmp_path))
    scandir = os.scandir

    def refuse(path):
        if path == os.fsencode(tmp_path / "sub"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    refused = revision(LocalWorkspace(tmp_path))
    shutil.rmtree(tmp_path / "sub", ignore_errors=True)

    assert refused != before


def _aged(path: Path, monkeypatch, seconds: int = 10):
    """The file's times lie in the past, as seen by the workspace."""
    now = path.stat().st_ctime_ns + seconds * 10**9
    monkeypatch.setattr(contents.time, "time_ns", lambda: now)


def _counting(monkeypatch) -> list[bytes]:
    read, paths = contents._read, []
    monkeypatch.setattr(
        contents, "_read", lambda path, stop: (paths.append(path.rpartition(b"/")[2]), read(path, stop))[1]
    )
    return paths


def test_a_file_that_has_settled_is_read_once(tmp_path, monkeypatch):
    path = write(tmp_path, "a.txt")
    _aged(path, monkeypatch)
    paths = _counting(monkeypatch)
    workspace = LocalWorkspace(tmp_path)
    assert revision(workspace) == revision(workspace) == revision(workspace)
    assert paths == [b"a.txt"]

    write(tmp_path, "a.txt", "y")
    revision(workspace)
    assert paths == [b"a.txt", b"a.txt"]


def test_a_settled_file_changed_behind_its_modification_time_is_read_again(tmp_path, monkeypatch):
    path = write(tmp_path, "a.txt", "a")
    _aged(path, monkeypatch)
    workspace = LocalWorkspace(tmp_path)
    before = revision(workspace)
    _sneak(path)

    assert revision(workspace) != before


def test_a_file_that_was_just_changed_is_never_trusted(tmp_path, monkeypatch):
    path = write(tmp_path, "a.txt")
    _aged(path, monkeypatch, seconds=1)
    paths = _counting(monkeypatch)
    workspace = LocalWorkspace(tmp_path)
    revision(workspace)
    revision(workspace)

    assert paths == [b"a.txt", b"a.txt"]


def test_what_is_remembered_does_not_grow(tmp_path, monkeypatch):
    workspace = LocalWorkspace(tmp_path)
    for number in range(5):
        path = write(tmp_path, "a.txt", str(number))
        _aged(path, monkeypatch)
        revision(workspace)

    assert len(workspace._contents._known) == 1


def test_many_at_once_agree(tree):
    workspace = LocalWorkspace(tree)

    async def main():
        return await asyncio.gather(*(workspace.revision() for _ in range(8)))

    assert len(set(asyncio.run(main()))) == 1


def test_a_workspace_must_be_a_directory(tmp_path):
    with pytest.raises(ConfigError, match="not a directory"):
        LocalWorkspace(tmp_path / "gone")


NAMES = st.sampled_from(["a", "b", "c.py", "x y", "dist", "ü"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TREES = st.dictionaries(PATHS, st.tuples(st.sampled_from(["", "1", "2"]), st.booleans()), max_size=6)


def _make(tree) -> dict[str, tuple[str, bool]] | None:
    """The tree on disk, by what counts; None if one path needs another to be a directory."""
    for path in tree:
        assume(not any(other.startswith(f"{path}/") for other in tree))
    return {path: value for path, value in tree.items() if "dist" not in path.split("/")}


def _on_disk(tree, in_git) -> str:
    with tempfile.TemporaryDirectory() as home:
        root = Path(home)
        if in_git:
            git(root, "init", "-q")
        for path, (content, executable) in tree.items():
            write(root, path, content).chmod(0o755 if executable else 0o644)
        return revision(LocalWorkspace(root))


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(TREES, TREES, st.booleans())
def test_two_trees_have_one_revision_exactly_if_their_relevant_content_is_equal(one, other, in_git):
    relevant = _make(one), _make(other)

    assert (_on_disk(one, in_git) == _on_disk(other, in_git)) is (relevant[0] == relevant[1])
    assert _on_disk(one, in_git) == _on_disk(one, not in_git)


def test_a_journal_in_the_workspace_does_not_count_as_its_content(tmp_path):
    (tmp_path / "code.py").write_text("x = 1")
    workspace = LocalWorkspace(tmp_path, ignored=[tmp_path / "runs.db"])
    before = asyncio.run(workspace.revision())

    for name in ("runs.db", "runs.db-wal", "runs.db-shm"):
        (tmp_path / name).write_text("anything")

    assert asyncio.run(workspace.revision()) == before
    (tmp_path / "data.db").write_text("this counts")
    assert asyncio.run(workspace.revision()) != before


def test_a_cancelled_revision_stops_reading(tmp_path, monkeypatch):
    with (tmp_path / "huge.bin").open("wb") as file:
        file.truncate(64 << 30)  # a hole: minutes to read, nothing to store
    workspace = LocalWorkspace(tmp_path)
    begun, read = threading.Event(), contents._read
    monkeypatch.setattr(contents, "_read", lambda path, stop: (begun.set(), read(path, stop))[1])

    async def story():
        task = asyncio.create_task(workspace.revision())
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await asyncio.to_thread(workspace._one_at_a_time.acquire, timeout=20)

    assert asyncio.run(story())
