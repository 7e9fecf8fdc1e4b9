"""No path leads a file tool out of the workspace, and nothing that is no file makes it wait."""

import os
import socket
import stat
from contextlib import contextmanager

import pytest
from tools.bench import Bench

from fsm.tools import ToolError
from fsm.tools.files import replace as replacing
from fsm.tools.files.confined import Confined, open_file
from states.records import Status

ESCAPES = [
    "../outside/secret.txt",
    "sub/../../outside/secret.txt",
    "{outside}/secret.txt",
    "/etc/hostname",
    "link_out/secret.txt",
    "link_to_secret",
    "link_absolute",
    "sub/link_up/../outside/secret.txt",
    "sub/link_up/secret.txt",
    "{root}/../outside/secret.txt",
    "{root}2/secret.txt",
]


@pytest.fixture
def trap(bench, tmp_path):
    (bench.outside / "secret.txt").write_text("secret")
    (tmp_path / "workspace2").mkdir()
    (tmp_path / "workspace2" / "secret.txt").write_text("secret")
    bench.file("sub/a.txt", "inside")
    (bench.root / "link_out").symlink_to("../outside")
    (bench.root / "link_to_secret").symlink_to("../outside/secret.txt")
    (bench.root / "link_absolute").symlink_to(bench.outside / "secret.txt")
    (bench.root / "sub" / "link_up").symlink_to("../..")
    return bench


def calls(path):
    return [
        ("read_file", {"path": path}),
        ("write_file", {"path": path, "content": "pwned"}),
        ("edit_file", {"path": path, "old_string": "secret", "new_string": "pwned"}),
        ("grep", {"pattern": "secret", "path": path}),
        ("list_dir", {"path": path}),
    ]


@pytest.mark.parametrize("path", ESCAPES)
def test_a_path_that_leads_outside_is_refused(trap, tmp_path, path):
    path = path.format(outside=trap.outside, root=trap.root)
    for name, arguments in calls(path):
        output = trap.run(name, **arguments)

        assert output.status is Status.ERROR, name
        assert "outside the workspace" in output.text, name
        assert path in output.text, name
    assert (trap.outside / "secret.txt").read_text() == "secret"
    assert (tmp_path / "workspace2" / "secret.txt").read_text() == "secret"


@pytest.mark.parametrize("pattern", ["../outside/*", "sub/../../outside/*", "/etc/*", "link_out/*"])
def test_a_pattern_that_leads_outside_is_refused(trap, pattern):
    assert trap.run("glob", pattern=pattern).status is Status.ERROR


@pytest.mark.parametrize("pattern", ["**/*", "**/secret.txt", "*/*"])
def test_searching_follows_no_link(trap, pattern):
    found = trap.run("glob", pattern=pattern).text.split("\n")

    assert not [path for path in found if path.endswith("secret.txt")]
    assert trap.run("grep", pattern="secret").text == "No line matches."


@pytest.mark.parametrize(
    "path", ["sub/a.txt", "./sub//a.txt", "sub/../sub/a.txt", "{root}/sub/a.txt", "good", "dir/a.txt", "absolute"]
)
def test_a_path_that_stays_inside_is_followed(trap, path):
    (trap.root / "good").symlink_to("sub/a.txt")
    (trap.root / "dir").symlink_to("sub")
    (trap.root / "absolute").symlink_to(trap.root / "sub" / "a.txt")

    assert trap.run("read_file", path=path.format(root=trap.root)).text == "inside"


def test_writing_through_a_link_inside_changes_its_target_and_keeps_the_link(trap):
    (trap.root / "good").symlink_to("sub/a.txt")

    assert trap.run("write_file", path="good", content="new").status is Status.OK
    assert (trap.root / "sub" / "a.txt").read_text() == "new"
    assert (trap.root / "good").is_symlink()


def test_a_workspace_reached_through_a_link_takes_both_spellings(bench, tmp_path):
    (tmp_path / "alias").symlink_to(bench.root)
    bench.file("a.txt", "inside")
    root = Confined(tmp_path / "alias")

    assert root.relative(f"{tmp_path}/alias/a.txt") == "a.txt"
    assert root.relative(f"{bench.root}/a.txt") == "a.txt"


def test_links_in_a_circle_end_in_a_sentence(bench):
    (bench.root / "a").symlink_to("b")
    (bench.root / "b").symlink_to("a")

    assert "too many symbolic links" in bench.run("read_file", path="a").text


def test_a_link_swapped_in_before_the_opening_is_not_followed(trap):
    root = Confined(trap.root)
    with root.place("sub/a.txt") as place:
        (trap.root / "sub" / "a.txt").unlink()
        (trap.root / "sub" / "a.txt").symlink_to(trap.outside / "secret.txt")

        with pytest.raises(OSError, match="symbolic links"):
            open_file(place)


def test_a_directory_swapped_for_a_link_before_the_opening_changes_nothing(trap):
    root = Confined(trap.root)
    with root.place("sub/a.txt") as place:
        (trap.root / "sub").rename(trap.root / "moved")
        (trap.root / "sub").symlink_to(trap.outside)
        (trap.outside / "a.txt").write_text("secret")
        descriptor = open_file(place)
        try:
            assert os.read(descriptor, 100) == b"inside"
        finally:
            os.close(descriptor)


@contextmanager
def swapping(monkeypatch, swap):
    """`swap` happens between the last check and the rename."""
    check = replacing._check_unchanged

    def checked(place):
        check(place)
        swap()

    monkeypatch.setattr(replacing, "_check_unchanged", checked)
    yield
    monkeypatch.undo()


def test_a_link_swapped_in_before_the_rename_is_replaced_not_followed(trap, monkeypatch):
    target = trap.root / "sub" / "a.txt"

    def swap():
        target.unlink()
        target.symlink_to(trap.outside / "secret.txt")

    with swapping(monkeypatch, swap):
        output = trap.run("write_file", path="sub/a.txt", content="new")

    assert output.status is Status.OK
    assert (trap.outside / "secret.txt").read_text() == "secret"
    assert not target.is_symlink()
    assert target.read_text() == "new"


def test_a_directory_swapped_for_a_link_before_the_rename_changes_nothing_outside(trap, monkeypatch):
    (trap.outside / "a.txt").write_text("secret")

    def swap():
        (trap.root / "sub").rename(trap.root / "moved")
        (trap.root / "sub").symlink_to(trap.outside)

    with swapping(monkeypatch, swap):
        trap.run("write_file", path="sub/a.txt", content="new")

    assert (trap.outside / "a.txt").read_text() == "secret"
    assert (trap.root / "moved" / "a.txt").read_text() == "new"


@pytest.mark.parametrize("path", ["link_out", "nothing/here.txt", "sub/a.txt/below"])
def test_a_missing_or_impossible_path_is_a_sentence(trap, path):
    output = trap.run("read_file", path=path)

    assert output.status is Status.ERROR
    assert path in output.text


def test_a_nul_in_a_path_is_a_sentence(bench):
    assert "NUL" in bench.run("read_file", path="a\0b").text


@pytest.fixture(params=["fifo", "socket", "directory"])
def special(request, bench):
    path = bench.root / "odd"
    if request.param == "fifo":
        os.mkfifo(path)
    elif request.param == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(path))
    else:
        path.mkdir()
    return bench


def test_what_is_no_file_is_refused_and_never_waited_for(special):
    for name, arguments in calls("odd")[:3]:
        output = special.run(name, **arguments)

        assert output.status is Status.ERROR
        assert "not a file" in output.text
    assert special.run("grep", pattern="x").text == "No line matches."


def test_a_fifo_swapped_in_before_the_opening_is_refused(bench):
    path = bench.file("a.txt", "inside")
    with Confined(bench.root).place("a.txt") as place:
        path.unlink()
        os.mkfifo(path)

        with pytest.raises(ToolError, match="FIFO"):
            open_file(place)


@pytest.mark.parametrize(
    "path",
    [".git/config", ".interlock/effects/x", ".GIT/hooks/pre-commit", "sub/.git/config", "to_git/config", "runs.db"],
)
def test_the_journal_and_the_repository_are_not_writable(tmp_path, path):
    bench = Bench(tmp_path, protected=[tmp_path / "workspace" / "runs.db"])
    bench.file(".git/config", "[core]")
    bench.file("runs.db", "journal")
    (bench.root / "to_git").symlink_to(".git")
    before = {p: p.read_bytes() for p in bench.root.rglob("*") if p.is_file()}
    for name, arguments in calls(path)[1:3]:
        output = bench.run(name, **arguments)

        assert output.status is Status.ERROR
        assert "not writable" in output.text or (name == "edit_file" and "does not exist" in output.text)
    assert {p: p.read_bytes() for p in bench.root.rglob("*") if p.is_file()} == before
    assert not (bench.root / "sub").exists()


def test_the_mode_of_a_replaced_file_is_kept(bench):
    path = bench.file("run.sh", "old")
    path.chmod(0o751)
    bench.run("write_file", path="run.sh", content="new")

    assert stat.S_IMODE(path.stat().st_mode) == 0o751
