"""What README and docs show is true: their Python compiles and imports, their commands exist with these options."""

import ast
import importlib
import re
import shlex
from pathlib import Path

import click
import pytest

from fsm.cli import interlock

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
OURS = ("fsm", "gates", "states")


def blocks(*languages):
    for page in PAGES:
        for number, found in enumerate(FENCE.finditer(page.read_text())):
            if found[1] in languages:
                yield pytest.param(found[2], id=f"{page.name}-{number}")


def commands():
    for page in PAGES:
        for found in FENCE.finditer(page.read_text()):
            for line in re.split(r"\n|; ", found[2].replace("\\\n", " ")) if found[1] == "sh" else ():
                if line.startswith("interlock "):
                    yield pytest.param(line, id=f"{page.name}-{line[:60]}")


@pytest.mark.parametrize("code", list(blocks("python")))
def test_python_of_a_page_compiles_and_what_it_imports_of_ours_exists(code):
    tree = ast.parse(code)

    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] in OURS:
            module = importlib.import_module(node.module)
            for alias in node.names:
                assert hasattr(module, alias.name) or importlib.import_module(f"{node.module}.{alias.name}")


@pytest.mark.parametrize("line", list(commands()))
def test_a_command_of_a_page_exists_with_its_options(line):
    _, name, *arguments = shlex.split(line, comments=True)
    command = interlock.get_command(click.Context(interlock), name)
    assert command is not None, f"there is no `interlock {name}`"

    try:
        command.make_context(name, arguments)
    except click.exceptions.Exit:
        pass  # --help
    except click.NoSuchOption as error:
        pytest.fail(str(error))
    except click.UsageError as error:  # what stands for an argument may fit none
        if "unexpected extra argument" in str(error):
            pytest.fail(str(error))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_points_to_exist(page):
    targets = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())

    assert [target for target in targets if not (page.parent / target).exists()] == []
