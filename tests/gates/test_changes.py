"""What a run changed, and whether somebody else should look at it."""

import pytest

from gates.changes import harmless, is_implementation, is_risky, reasons
from states.history import History


@pytest.mark.parametrize("path", ["a.py", "src/a.rs", "lib/x.ts", "testing.py", "src\\win.py", "app/documents.py"])
def test_files_that_do_the_work_are_implementation(path):
    assert is_implementation(path)


@pytest.mark.parametrize(
    "path",
    [
        "docs/a.py",
        "tests/a.py",
        "src/__tests__/x.ts",
        "Fixtures/a.py",
        "README.md",
        "a.toml",
        "x.snap",
        "package.json",
        "test_a.py",
        "a_test.go",
        "a.spec.ts",
        "conftest.py",
        "examples/run.py",
        "src\\tests\\a.py",
    ],
)
def test_files_that_test_describe_or_configure_it_are_not(path):
    assert not is_implementation(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/auth/login.py",
        "server/a.go",
        "db/migrations/1.sql",
        "Dockerfile",
        "docker-compose.yml",
        "infra/main.tf",
        ".github/workflows/ci.yml",
        "api.py",
        "x/wrangler.toml",
        "Security/keys.py",
    ],
)
def test_some_files_are_riskier_than_others(path):
    assert is_risky(path)


@pytest.mark.parametrize(
    "path", ["a.py", "src/author.py", "tests/auth/test_login.py", "docs/api/a.md", "auth/README.md"]
)
def test_most_are_not(path):
    assert not is_risky(path)


@pytest.mark.parametrize(
    ("changed", "shell", "due"),
    [
        ([], [], False),
        (["a.py", "b.py"], [], False),
        (["a.py", "b.py", "c.py"], [], True),
        (["a.py", "b.py", "tests/c.py", "README.md"], [], False),
        (["auth/a.py"], [], True),
        ([], ["ls -l", "git status", "pytest -q"], False),
        ([], ["python fix.py"], True),
        ([], ["echo x > a.py"], True),
        ([], ["pytest -q && rm -rf build"], True),
    ],
)
def test_what_calls_for_a_second_look(changed, shell, due):
    history = History("s")
    history.changed, history.shell = dict.fromkeys(changed), dict.fromkeys(shell)

    assert bool(reasons(history)) is due


def test_a_check_of_the_projects_own_is_harmless():
    assert harmless("./check.sh", (("test", "./check.sh"),), "")
    assert not harmless("./check.sh", (), "")
