"""A repository whose own configuration names programs: git that only looks runs none of them unasked."""

import os
import subprocess

import pytest

from fsm.prompts.surroundings import runtime_context
from fsm.workspace.git import git as ask


def git(root, *arguments):
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(bench):
    root = bench.root
    git(root, "init", "-q")
    for name, value in (("user.email", "a@example.org"), ("user.name", "a")):
        git(root, "config", name, value)
    (root / "a.txt").write_text("one\n")
    (root / ".gitattributes").write_text("*.txt filter=evil diff=evil\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    (root / "a.txt").write_text("two\n")  # as long as before: git has to look into the file
    return root


@pytest.fixture
def spy(tmp_path):
    script = tmp_path / "spy.sh"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    script.chmod(0o755)
    return script


def reads(bench, command):
    return bench.tools.spec("bash").changes_nothing({"command": command})


@pytest.mark.parametrize(
    "key",
    [
        "filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "diff.evil.command", "diff.external",
        "gpg.program", "gpg.ssh.program", "log.showSignature", "pretty.oneliner", "remote.origin.promisor",
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["git status", "git diff", "g'i't log -p | head", "bash -c 'git show'"])
def test_git_is_asked_for_where_the_repository_itself_names_a_program(bench, repository, key, command):
    assert reads(bench, command)

    git(repository, "config", key, "./spy.sh" if key != "log.showSignature" else "true")

    assert not reads(bench, command)
    assert reads(bench, "ls -l | head")


def test_a_configuration_that_the_repository_includes_or_has_for_one_worktree_counts_too(bench, repository):
    (repository / ".git" / "more").write_text('[filter "evil"]\nclean = ./spy.sh\n')
    git(repository, "config", "include.path", "more")
    assert not reads(bench, "git status")

    git(repository, "config", "--unset", "include.path")
    assert reads(bench, "git status")
    git(repository, "config", "extensions.worktreeConfig", "true")
    git(repository, "config", "--worktree", "diff.external", "./spy.sh")
    assert not reads(bench, "git diff")


def test_what_the_user_configured_for_every_folder_is_no_reason_to_ask(bench, repository, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text("[diff]\nexternal = my-diff\n")

    assert reads(bench, "git diff")


def test_no_monitor_and_no_hook_runs_behind_a_command_that_only_reads(bench, repository, spy, tmp_path):
    git(repository, "config", "core.fsmonitor", str(spy))
    hook = repository / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(spy.read_text())
    hook.chmod(0o755)
    (repository / "a.txt").write_text("one\n")  # as it was: git would like to note that in its index
    assert reads(bench, "git status --short && git diff")

    output = bench.run("bash", command="git status --short && git diff")

    assert output.metadata["exit_status"] == 0
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_only_looks_like_a_bare_repository_is_none(tmp_path, spy, bench):
    root = bench.root
    git(root, "init", "-q", "--bare", ".")
    with (root / "config").open("a") as config:
        config.write(
            f'[core]\n\tbare = false\n\tworktree = {root}\n\tfsmonitor = {spy}\n[filter "x"]\n\tclean = {spy}\n'
        )

    output = bench.run("bash", command="git status")

    assert output.metadata["exit_status"] == 128
    assert not (tmp_path / "ran").exists()


def test_the_words_about_git_s_state_run_no_filter(repository, spy, tmp_path):
    assert "1 files changed" in runtime_context(str(repository), 0)

    git(repository, "config", "filter.evil.clean", str(spy))

    assert "names programs" in runtime_context(str(repository), 0)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("place", [".", "bin"])
def test_a_git_that_lies_in_the_workspace_is_not_the_one_that_is_asked(repository, spy, tmp_path, monkeypatch, place):
    folder = repository / place
    folder.mkdir(exist_ok=True)
    (folder / "git").write_text(spy.read_text())
    (folder / "git").chmod(0o755)
    monkeypatch.chdir(repository)
    for entry in (place, str(folder)):
        monkeypatch.setenv("PATH", f"{entry}{os.pathsep}{os.environ['PATH']}")

        assert ask(str(repository), "rev-parse", "--is-inside-work-tree") == b"true\n"
    assert not (tmp_path / "ran").exists()
