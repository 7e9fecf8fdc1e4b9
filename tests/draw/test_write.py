"""The checked-in pictures are those of the table."""

from pathlib import Path

import pytest

from fsm.draw.__main__ import main
from fsm.draw.write import BEGIN, END, readme_block, render_all, rendered, stale, with_block
from fsm.graph import GRAPH

ROOT = Path(__file__).parents[2]


def test_the_checked_in_pictures_are_current():
    assert stale(rendered(GRAPH, ROOT)) == [], "run: python -m fsm.draw"


def test_the_folder_holds_nothing_else():
    assert {path.name for path in (ROOT / "diagrams").iterdir()} == set(render_all(GRAPH))


def test_the_readme_shows_the_table():
    assert readme_block(GRAPH) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_only_what_stands_between_the_marks_is_replaced():
    readme = f"before\n{BEGIN}\nold\n{END}\nafter\n"

    assert with_block(readme, f"{BEGIN}\nnew\n{END}") == f"before\n{BEGIN}\nnew\n{END}\nafter\n"


@pytest.mark.parametrize("readme", ["no marks", f"{BEGIN} only the first", f"{END} only the last"])
def test_a_readme_without_both_marks_stays_as_it_is(readme):
    assert with_block(readme, "block") == readme


def test_check_writes_nothing_and_names_what_is_missing(tmp_path, capsys):
    assert main(["--check", "--root", str(tmp_path)]) == 1

    assert list(tmp_path.iterdir()) == []
    assert "loop.svg is not current: run python -m fsm.draw" in capsys.readouterr().err


def test_writing_makes_the_check_pass(tmp_path):
    (tmp_path / "README.md").write_text(f"{BEGIN}{END}", encoding="utf-8")

    assert main(["--root", str(tmp_path)]) == 0
    assert main(["--check", "--root", str(tmp_path)]) == 0
    assert (tmp_path / "diagrams" / "loop.svg").read_bytes() == render_all(GRAPH)["loop.svg"]
    assert "diagrams/loop.svg" in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_one_changed_byte_is_found(tmp_path):
    main(["--root", str(tmp_path)])
    picture = tmp_path / "diagrams" / "loop.mmd"
    picture.write_bytes(picture.read_bytes() + b" ")

    assert stale(rendered(GRAPH, tmp_path)) == [picture]
