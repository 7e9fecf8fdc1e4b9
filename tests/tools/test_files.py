"""What the file tools show, find and change."""

import os
import stat

import pytest

from fsm.tools.files.content import READ_LIMIT
from fsm.tools.files.patterns import globs, split
from fsm.tools.files.replace import WRITE_LIMIT
from fsm.tools.limits import LIMIT
from states.ports import ToolOutput
from states.records import Status

NUMBERS = "".join(f"line {number}\n" for number in range(1, 11))


@pytest.mark.parametrize(
    ("content", "arguments", "text"),
    [
        (NUMBERS, {}, NUMBERS),
        ("no newline", {}, "no newline"),
        ("", {}, ""),
        ("a\r\nb\r\n", {}, "a\r\nb\r\n"),
        (NUMBERS, {"limit": 10}, NUMBERS),
        (NUMBERS, {"limit": 2}, "[lines 1 to 2 of 10; go on with offset=3]\nline 1\nline 2"),
        (NUMBERS, {"offset": 9}, "[lines 9 to 10 of 10]\nline 9\nline 10"),
        (NUMBERS, {"offset": 4, "limit": 1}, "[lines 4 to 4 of 10; go on with offset=5]\nline 4"),
        (b"caf\xe9\n", {}, "caf\\xe9\n"),
    ],
)
def test_read_file_shows_text_and_says_what_is_cut(bench, content, arguments, text):
    bench.file("a.txt", content)

    assert bench.run("read_file", path="a.txt", **arguments) == ToolOutput(Status.OK, text)


def test_a_long_file_is_shown_in_parts_that_fit_and_go_on(bench):
    content = "".join(f"{number:05} {'x' * 90}\n" for number in range(5000))
    bench.file("long.txt", content)
    seen, offset = [], 1
    while offset:
        text = bench.run("read_file", path="long.txt", offset=offset).text
        assert len(text) <= LIMIT
        header, *lines = text.split("\n")
        seen += lines
        offset = int(header.partition("offset=")[2].rstrip("]") or 0)

    assert "\n".join(seen) + "\n" == content


def test_a_line_that_does_not_fit_is_cut_visibly(bench):
    bench.file("one.txt", "x" * 300_000)
    text = bench.run("read_file", path="one.txt").text

    assert text.startswith("[line 1 of 1, cut: 99,000 of its 300,000 characters]\nxxx")
    assert len(text) <= LIMIT


def test_what_cannot_be_shown_is_refused_politely(bench):
    bench.file("image.png", b"\x89PNG\0\0")
    with bench.file("huge.log").open("r+b") as file:
        file.truncate(READ_LIMIT + 1)
    bench.file("short.txt", "one\n")

    assert "binary file of 6 bytes" in bench.run("read_file", path="image.png").text
    assert "67,108,865 bytes" in bench.run("read_file", path="huge.log").text
    assert "has only 1 lines" in bench.run("read_file", path="short.txt", offset=2).text
    assert "does not exist" in bench.run("read_file", path="gone.txt").text


def test_write_file_creates_with_directories_and_replaces(bench):
    created = bench.run("write_file", path="new/deep/a.txt", content="zwölf")
    replaced = bench.run("write_file", path="new/deep/a.txt", content="")

    (first,), (second,) = created.metadata["changed"], replaced.metadata["changed"]
    assert (created.status, created.text) == (Status.OK, "Created new/deep/a.txt (6 bytes).")
    assert (replaced.status, replaced.text) == (Status.OK, "Replaced new/deep/a.txt (0 bytes).")
    assert (first["path"], first["before"]) == ("new/deep/a.txt", None)
    assert second["before"] == first["after"] != second["after"]
    assert (bench.root / "new/deep/a.txt").read_bytes() == b""
    assert [path.name for path in (bench.root / "new/deep").iterdir()] == ["a.txt"]


def test_a_new_file_obeys_the_umask(bench):
    before = os.umask(0o027)
    try:
        bench.run("write_file", path="a.txt", content="x")
    finally:
        os.umask(before)

    assert stat.S_IMODE((bench.root / "a.txt").stat().st_mode) == 0o640


def test_a_write_that_is_too_large_changes_nothing(bench):
    path = bench.file("a.txt", "old")
    output = bench.run("write_file", path="a.txt", content="x" * (WRITE_LIMIT + 1))

    assert output.status is Status.ERROR
    assert "10,485,761 bytes are too many" in output.text
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("content", "edit", "after"),
    [
        ("a b c", {"old_string": "b", "new_string": "B"}, "a B c"),
        ("a b b", {"old_string": "b", "new_string": "B", "replace_all": True}, "a B B"),
        ("a\r\nb\r\n", {"old_string": "a\r\nb", "new_string": "x"}, "x\r\n"),
        (b"\xe9 name \xff", {"old_string": "name", "new_string": "näme"}, b"\xe9 n\xc3\xa4me \xff"),
        ("a.c abc", {"old_string": "a.c", "new_string": "x"}, "x abc"),
        ("drop me", {"old_string": "drop ", "new_string": ""}, "me"),
    ],
)
def test_edit_file_replaces_exactly(bench, content, edit, after):
    path = bench.file("a.txt", content)
    output = bench.run("edit_file", path="a.txt", **edit)

    assert output.status is Status.OK
    assert path.read_bytes() == (after.encode() if isinstance(after, str) else after)


@pytest.mark.parametrize(
    ("content", "old", "new", "words"),
    [
        ("a b", "x", "y", "was not found"),
        ("b b b", "b", "y", "found 3 times"),
        ("a\r\nb", "a\nb", "y", "end in \\r\\n"),
        ("a", "", "y", "old_string is empty"),
        ("a", "a", "a", "are the same"),
        (b"a\0", "a", "b", "binary"),
    ],
)
def test_edit_file_says_why_it_changed_nothing(bench, content, old, new, words):
    path = bench.file("a.txt", content)
    before = path.read_bytes()
    output = bench.run("edit_file", path="a.txt", old_string=old, new_string=new)

    assert output.status is Status.ERROR
    assert words in output.text
    assert path.read_bytes() == before


def test_edit_file_needs_a_file(bench):
    assert "does not exist" in bench.run("edit_file", path="a.txt", old_string="a", new_string="b").text


def test_list_dir_marks_directories_and_links(bench):
    bench.file("b.txt")
    bench.file("sub/c.txt")
    (bench.root / "away").symlink_to("/etc")
    (bench.root / os.fsdecode(b"bad\xff")).touch()

    assert bench.run("list_dir").text == "away -> /etc\nb.txt\nbad\\udcff\nsub/"
    assert bench.run("list_dir", path="sub").text == "c.txt"
    assert "not a directory" in bench.run("list_dir", path="b.txt").text
    assert "does not exist" in bench.run("list_dir", path="gone").text


def test_list_dir_is_bounded(bench):
    for number in range(1003):
        (bench.root / f"{number:04}").touch()
    lines = bench.run("list_dir").text.split("\n")

    assert lines[999:] == ["0999", "[3 more names are not shown]"]


FILES = ["a.py", "a.txt", ".hidden.py", "src/b.py", "src/deep/c.py", "src/deep/d.ts", "src/deep/e.tsx", "src/[x].py"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", ["a.py", ".hidden.py"]),
        ("**/*.py", ["a.py", ".hidden.py", "src/b.py", "src/deep/c.py", "src/[x].py"]),
        ("src/*", ["src/b.py", "src/[x].py"]),
        ("src/**", ["src/b.py", "src/deep/c.py", "src/deep/d.ts", "src/deep/e.tsx", "src/[x].py"]),
        ("**/deep/*.{ts,tsx}", ["src/deep/d.ts", "src/deep/e.tsx"]),
        ("src/?.py", ["src/b.py"]),
        ("src/[[]x].py", ["src/[x].py"]),
        ("**/**/c.py", ["src/deep/c.py"]),
        ("./src//b.py", ["src/b.py"]),
        ("{a,src/b}.py", ["a.py", "src/b.py"]),
        ("*.rb", []),
    ],
)
def test_glob_finds_what_the_pattern_says(bench, pattern, expected):
    for path in FILES:
        bench.file(path)
    bench.file("node_modules/x.py")
    bench.file(".git/x.py")
    text = bench.run("glob", pattern=pattern).text

    assert sorted(text.split("\n")) == (sorted(expected) or ["No file matches."])


def test_glob_enters_a_hidden_directory_that_is_named(bench):
    bench.file("node_modules/x.js")

    assert bench.run("glob", pattern="node_modules/*.js").text == "node_modules/x.js"
    assert bench.run("glob", pattern=f"{bench.root}/node_modules/*.js").text == "node_modules/x.js"


def test_glob_is_bounded(bench):
    for number in range(1001):
        bench.file(f"d/{number:04}")
    lines = bench.run("glob", pattern="d/*").text.split("\n")

    assert len(lines) == 1001
    assert lines[-1] == "[only the first 1,000 are shown; narrow the pattern]"


@pytest.mark.parametrize(("pattern", "words"), [("a/../b", "'..'"), ("/", "empty"), ("{a,b}" * 7, "64")])
def test_a_bad_pattern_is_a_sentence(bench, pattern, words):
    assert (
        words in bench.run("glob", pattern=pattern.replace("/", f"{bench.root}/") if pattern == "/" else pattern).text
    )


def test_no_glob_takes_exponential_time():
    (one,) = globs("*a" * 30 + "/**" * 30 + "/b")

    assert not one.matches("a" * 200 + "/x" * 60)
    assert split("src/a/*.py") == ("src/a", "*.py")


def test_grep_names_path_line_and_text(bench):
    bench.file("b/two.txt", "nothing\nfind me\r\nand find this\n")
    bench.file("a.txt", "find\x1b[31m red\n" + "x" * 500 + " find\n")
    bench.file("image", b"find\0")
    bench.file(".interlock/x.txt", "find")
    bench.file("bad.txt", b"find \xff\n")

    assert bench.run("grep", pattern=r"\bfind\b").text.split("\n") == [
        "a.txt:1:find [31m red",
        f"a.txt:2:{'x' * 300}",
        "bad.txt:1:find \\xff",
        "b/two.txt:2:find me",
        "b/two.txt:3:and find this",
    ]
    assert bench.run("grep", pattern="(?i)FIND", path="b").text.count("\n") == 1
    assert bench.run("grep", pattern="find", path="b/two.txt").text.startswith("b/two.txt:2:")
    assert bench.run("grep", pattern="absent").text == "No line matches."


def test_grep_names_what_is_wrong_with_a_pattern_or_a_path(bench):
    bad = bench.run("grep", pattern="a(b")
    gone = bench.run("grep", pattern="a", path="gone")

    assert bad == ToolOutput(
        Status.ERROR, "Error: the pattern is no regular expression: missing ), unterminated subpattern at position 1"
    )
    assert "does not exist" in gone.text


def test_grep_is_bounded_in_matches_and_says_what_it_left_out(bench):
    bench.file("many.txt", "x\n" * 2000)
    bench.file("large.txt", "x\n" * (3 * 1024 * 1024))
    lines = bench.run("grep", pattern="x").text.split("\n")

    assert lines[1000:] == [
        "[1 files above 4,194,304 bytes were left out]",
        "[there are more matches; narrow the pattern or the path]",
    ]


def test_a_pattern_that_explodes_is_stopped_without_holding_up_anybody(tmp_path):
    import asyncio

    from fsm.tools import Tools
    from fsm.tools.files.confined import Confined
    from fsm.tools.files.search import search_tools
    from states.ports import ToolRun

    (tmp_path / "a.txt").write_text("first aaaa\n" + "a" * 60 + "!\n")
    tools = Tools(search_tools(Confined(tmp_path), seconds=0.5))
    ticks = []

    async def main():
        task = asyncio.create_task(tools.run(ToolRun("grep", {"pattern": "(a+)+$"}, "s:1")))
        while not task.done():
            await asyncio.sleep(0.01)
            ticks.append(1)
        return await task

    output = asyncio.run(main())

    assert output.text.split("\n") == [
        "a.txt:1:first aaaa",
        "[stopped after 0.5 s: there may be more; simplify the pattern]",
    ]
    assert len(ticks) > 10
