"""Rules about single calls: what they mean, who wins, and what cannot be told."""

import pytest

from gates.permission import parse_rule, permit, rule_for
from states.contract import Permission
from states.errors import ConfigError
from states.history import History
from states.records import RunStarted
from states.rules import Leave, Rules

ROOT = "/w"


def decided(command, permission=Permission.ASK, *, name="bash", reads=False, **rules):
    history = History("s")
    history.started = RunStarted(1, "g", "t", "m", workspace=ROOT)
    history.permission, history.rules = permission, Rules(**rules)
    arguments = command if isinstance(command, dict) else {"command": command}
    return permit(history, name, arguments, reads=reads)


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "rm",
        "ls; rm -rf x",
        "ls && cd a && rm x",
        "/bin/rm x",
        r"\rm x",
        "'rm' x",
        'r""m x',
        "rm $X",
        "rm>out x",
        "A=1 rm x",
        "sh -c 'rm x'",
        "bash -ec 'ls; rm x'",
        "timeout 5 bash -c 'env sudo rm x'",
        "env A=1 rm x",
        "env -S 'rm x'",
        "env -S'rm x'",
        "env --split-string='rm x'",
        "toybox rm x",
        "runuser -u a -- rm x",
        "systemd-run --user rm x",
        "uv run rm x",
        "ssh localhost rm x",
        "unbuffer rm x",
        "sudo -u me rm x",
        "nohup rm x &",
        "ls | xargs rm",
        "ls | xargs -n 1 rm -f",
        r"find . -exec rm {} \;",
        "echo $(rm x)",
        "echo `rm x`",
        'echo "a $(rm x)"',
        "cat <(rm x)",
        "x=$(rm y)",
        "echo ${x:-$(rm y)}",
        "cat <<EOF\n$(rm x)\nEOF",
        "f() { rm x; }; f",
        "for i in a; do rm $i; done",
        "if [ -f x ]; then rm x; fi",
        "case x in y) rm x;; esac",
        "eval 'rm x'",
        "trap 'rm x' EXIT",
        "coproc rm x",
        "! rm x",
    ],
)
@pytest.mark.parametrize("permission", Permission)
def test_a_denied_command_is_denied_wherever_it_hides(command, permission):
    found = decided(command, permission, deny=["bash(rm *)"], allow=["bash"])

    assert found.leave is Leave.DENY
    assert found.why == "deny bash(rm *)"


@pytest.mark.parametrize(
    "command",
    [
        "$X x",
        "$'rm' x",
        "{rm,x}",
        "alias r=rm; r x",
        "bash",
        "echo rm x | sh",
        "bash <<EOF\nrm x\nEOF",
        "ls '",
        ". ./x",
        "let 'a[$(rm x)]=1'",
        "test -v 'a[$(rm x)]'",
        "printf -v 'a[`rm x`]' y",
        "mapfile -C 'rm x' -c 1 lines < f",
    ],
)
def test_what_cannot_be_read_is_asked_also_under_full(command):
    found = decided(command, Permission.FULL, deny=["bash(rm *)"])

    assert found.leave is Leave.ASK
    assert found.why.endswith("deny bash(rm *)")
    assert decided(command, Permission.FULL).leave is Leave.ALLOW


@pytest.mark.parametrize("command", ["echo rm x", "git rm x", "ls rm", "rmdir x", "grep 'rm x' f", "bash run.sh"])
def test_other_commands_are_not_denied(command):
    assert decided(command, Permission.FULL, deny=["bash(rm *)"]).leave is Leave.ALLOW


@pytest.mark.parametrize(
    ("command", "leave"),
    [
        ("git status", Leave.ALLOW),
        ("git status -s", Leave.ALLOW),
        ("git  status", Leave.ALLOW),
        ("git status; ls", Leave.ALLOW),
        ("cd sub && git status 2>/dev/null | head", Leave.ALLOW),
        ("sh -c 'git status'", Leave.ALLOW),
        ("git stash", Leave.ASK),
        ("git status && rm x", Leave.ASK),
        ("git status & rm x", Leave.ASK),
        ("git status > x", Leave.ASK),
        ("git status $(rm x)", Leave.ASK),
        ("git status `rm x`", Leave.ASK),
        ("git status\nrm x", Leave.ASK),
        ("git status || cat /etc/passwd", Leave.ASK),
        ("cd .. && git status", Leave.ASK),
        ("PATH=. git status", Leave.ASK),
        ("xgit status", Leave.ASK),
    ],
)
def test_an_allowed_command_takes_no_other_with_it(command, leave):
    assert decided(command, allow=["bash(git status*)"]).leave is leave


def test_several_rules_may_allow_one_text_together():
    assert decided("npm ci && npm test", allow=["bash(npm ci)", "bash(npm test:*)"]).leave is Leave.ALLOW
    assert decided("npm ci && npm test", allow=["bash(npm ci)"]).leave is Leave.ASK


@pytest.mark.parametrize(
    ("permission", "reads", "rules", "leave"),
    [
        (Permission.FULL, False, {}, Leave.ALLOW),
        (Permission.ASK, False, {}, Leave.ASK),
        (Permission.ASK, True, {}, Leave.ALLOW),
        (Permission.PLAN, False, {"allow": ["send"]}, Leave.DENY),
        (Permission.PLAN, True, {}, Leave.ALLOW),
        (Permission.PLAN, True, {"ask": ["send"]}, Leave.ASK),
        (Permission.FULL, False, {"ask": ["send"], "allow": ["send"]}, Leave.ASK),
        (Permission.FULL, True, {"deny": ["send"], "ask": ["send"], "allow": ["send"]}, Leave.DENY),
        (Permission.ASK, False, {"allow": ["se*"]}, Leave.ALLOW),
        (Permission.ASK, False, {"allow": ["send(to=*@here)"]}, Leave.ALLOW),
        (Permission.ASK, False, {"allow": ["send(to=*@there)"]}, Leave.ASK),
        (Permission.ASK, False, {"allow": ["send(cc=*)"]}, Leave.ASK),
        (Permission.FULL, False, {"deny": ["send(to=*@here)"]}, Leave.DENY),
        (Permission.FULL, False, {"deny": ["send(no-argument)"]}, Leave.ASK),
    ],
)
def test_deny_wins_then_planning_then_ask_then_what_is_allowed(permission, reads, rules, leave):
    assert decided({"to": "me@here"}, permission, name="send", reads=reads, **rules).leave is leave


@pytest.mark.parametrize(
    ("rule", "path", "meant"),
    [
        ("edit_file(src/**)", "src/a/b.py", True),
        ("edit_file(src/**)", "./src/x/../a.py", True),
        ("edit_file(src/**)", "/w/src/a.py", True),
        ("edit_file(src/**)", "src/../b.py", False),
        ("edit_file(src/**)", "../src/a.py", False),
        ("edit_file(src/**)", "/etc/src/a.py", False),
        ("edit_file(src)", "src/a.py", True),
        ("edit_file(src/*.py)", "src/a/b.py", False),
        ("edit_file(.env)", "sub/.env", True),
        ("edit_file(/.env)", "sub/.env", False),
        ("edit_file(/.env)", ".env", True),
        ("edit_file(*.md)", "docs/a.md", True),
        ("Edit(src/**)", "src/a.py", True),
        ("edit_file(//etc/**)", "/etc/passwd", True),
        ("*_file(src/**)", "src/a.py", True),
        ("write_file(src/**)", "src/a.py", False),
    ],
)
def test_paths_are_matched_relative_to_the_workspace_after_normalisation(rule, path, meant):
    assert parse_rule(rule).covers("edit_file", {"path": path}, ROOT) is meant
    assert parse_rule(rule).touches("edit_file", {"path": path}, ROOT) is meant


def test_tools_of_a_server_are_named_by_a_pattern():
    assert decided({}, name="mcp__files__read", allow=["mcp__files__*"]).leave is Leave.ALLOW
    assert decided({}, name="mcp__mail__send", allow=["mcp__files__*"]).leave is Leave.ASK


@pytest.mark.parametrize("said", ["", "bash(", "bash)", "a b", "bash(x)y", "(x)"])
def test_what_is_no_rule_is_refused(said):
    with pytest.raises(ConfigError, match="is no rule"):
        parse_rule(said)


@pytest.mark.parametrize(
    "command", ["make all", "rm -rf *.tmp", "echo 'a b' > x && rm ?", r"grep 'a\*b' x > y", "x=$(date); echo $x"]
)
def test_what_is_remembered_is_exactly_that_command(command):
    rule = rule_for("bash", {"command": command}, ROOT)

    assert decided(command, allow=[rule]).leave is Leave.ALLOW
    for other in (command + " x", "x" + command, command.replace("*", "ab").replace("?", "y") + "; x"):
        assert decided(other, allow=[rule]).leave is Leave.ASK


def test_what_is_remembered_of_an_edit_is_its_file_and_of_another_tool_the_tool():
    rule = rule_for("edit_file", {"path": "./src/a.py"}, ROOT)

    assert parse_rule(rule).covers("edit_file", {"path": "src/a.py"}, ROOT)
    assert not parse_rule(rule).covers("edit_file", {"path": "sub/src/a.py"}, ROOT)
    assert rule_for("send", {"to": "me"}, ROOT) == "send"
