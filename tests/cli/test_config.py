"""What a command goes by: flags, the environment, the workspace's file, defaults."""

import json

import pytest

from fsm import MCPServer
from fsm.config import KEYS, Origin, StandIn, at_once, key_variables, settings, stand_in
from states.contract import Budget, Contract, Permission
from states.errors import ConfigError


def test_without_a_word_a_run_asks_and_works_here(tmp_path):
    found = settings({"workspace": str(tmp_path)}, {})

    assert found.journal == str(tmp_path / ".interlock" / "journal.db")
    assert (found.provider, found.permission, found.base_url) == ("openai", Permission.ASK, None)
    assert found.contract == Contract()
    assert found.budget() == Budget()


def test_every_key_of_the_file_is_taken(tmp_path):
    (tmp_path / "interlock.toml").write_text(
        """
        provider = "replay"
        model = "m"
        base-url = "http://127.0.0.1:1/v1"
        api-key-env = "MY_KEY"
        cassette = "a.ndjson"
        record = "b.ndjson"
        journal = "runs.db"
        permission = "plan"
        system = "prompt.txt"
        require = ["test", "lint"]
        tools = ["read_file", "g*"]
        check = "make all"
        max-turns = 3
        budget-tokens = 4
        budget-seconds = 1.5
        budget-tool-calls = 5
        patience = 2
        """
    )
    found = settings({"workspace": str(tmp_path)}, {})

    assert (found.provider, found.model, found.api_key_env, found.patience) == ("replay", "m", "MY_KEY", 2)
    assert (found.cassette, found.record, found.system) == tuple(
        tmp_path / name for name in ("a.ndjson", "b.ndjson", "prompt.txt")
    )
    assert found.journal == str(tmp_path / "runs.db")
    assert found.permission is Permission.PLAN
    assert found.contract == Contract(checks=("test", "lint"), commands=("make all",))
    assert found.tools == ("read_file", "g*")
    assert found.budget() == Budget(3, 4, 1.5, 5)
    assert found.base_url_from is Origin.FILE


@pytest.mark.parametrize(
    ("flags", "environment", "address", "origin"),
    [
        ({}, {}, "http://file", Origin.FILE),
        ({}, {"OPENAI_BASE_URL": "http://environment"}, "http://environment", Origin.ENVIRONMENT),
        ({"base-url": "http://flag"}, {"OPENAI_BASE_URL": "http://environment"}, "http://flag", Origin.FLAG),
        ({"base-url": None}, {"OPENAI_BASE_URL": " "}, "http://file", Origin.FILE),
    ],
)
def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path, flags, environment, address, origin):
    (tmp_path / "interlock.toml").write_text('base-url = "http://file"')
    found = settings({"workspace": str(tmp_path), **flags}, environment)

    assert (found.base_url, found.base_url_from) == (address, origin)


def test_an_unknown_key_is_named_with_the_known_ones(tmp_path):
    (tmp_path / "interlock.toml").write_text("max_turns = 3")

    with pytest.raises(ConfigError) as caught:
        settings({"workspace": str(tmp_path)}, {})
    assert "unknown setting 'max_turns'" in str(caught.value)
    assert all(key in str(caught.value) for key in KEYS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model = 3", "model = 3 will not do; it takes text"),
        ('model = ""', "it takes text"),
        ('max-turns = "3"', "it takes a whole number"),
        ("max-turns = true", "it takes a whole number"),
        ("budget-seconds = [1]", "it takes a number"),
        ("require = [1]", "it takes a list"),
        ("check = {a = 1}", "it takes a list of commands"),
        ("model = ", "cannot be read"),
        ('permission = "root"', "unknown permission 'root'"),
    ],
)
def test_a_wrong_value_is_named_with_what_it_takes(tmp_path, text, said):
    (tmp_path / "interlock.toml").write_text(text)

    with pytest.raises(ConfigError, match=said):
        settings({"workspace": str(tmp_path)}, {})


def test_an_address_that_only_the_file_names_gets_no_key(tmp_path, monkeypatch):
    from fsm.cli.provider import provider_of

    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    (tmp_path / "interlock.toml").write_text('model = "m"\nbase-url = "https://user:secret@evil.example/v1"')

    with pytest.raises(ConfigError, match=r"would send the key in OPENAI_API_KEY to evil\.example") as caught:
        provider_of(settings({"workspace": str(tmp_path)}, {}))
    assert "secret" not in str(caught.value)
    confirmed = settings({"workspace": str(tmp_path), "base-url": "https://evil.example/v1"}, {})
    assert provider_of(confirmed).secrets == ("sk-0123456789",)


def test_fallbacks_are_read_from_flags_and_from_tables(tmp_path):
    (tmp_path / "interlock.toml").write_text(
        '[[fallback]]\nprovider = "anthropic"\nmodel = "claude"\n'
        '[[fallback]]\nmodel = "local"\nbase-url = "http://127.0.0.1:1/v1"\napi-key-env = "MINE"\n'
    )

    told = settings({"workspace": str(tmp_path)}, {})
    assert told.fallback == (
        StandIn("anthropic", "claude"),
        StandIn("openai", "local", "http://127.0.0.1:1/v1", "MINE", Origin.FILE),
    )
    assert key_variables(told) == ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MINE")
    assert stand_in("openai:qwen3:8b@http://h:1/v1") == StandIn(
        "openai", "qwen3:8b", "http://h:1/v1", base_url_from=Origin.FLAG
    )
    assert [stand_in(text) for text in ("gpt", "nobody:m", "openai:")] == [None] * 3


@pytest.mark.parametrize(
    "text", ['fallback = "gpt"', "[[fallback]]\nmodel = 3", '[[fallback]]\nname = "x"', "fallback = 1"]
)
def test_a_fallback_that_nobody_can_read_is_named(tmp_path, text):
    (tmp_path / "interlock.toml").write_text(text)

    with pytest.raises(ConfigError, match=r"it takes tables \[\[fallback\]\]"):
        settings({"workspace": str(tmp_path)}, {})


def test_a_fallback_that_only_the_file_names_gets_no_key(tmp_path, monkeypatch):
    from fsm.cli.provider import chain_of

    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    (tmp_path / "interlock.toml").write_text('model = "m"\nfallback = "openai:n@https://evil.example/v1"')

    with pytest.raises(ConfigError, match=r"--fallback openai:n: .* would send the key in OPENAI_API_KEY to evil"):
        chain_of(settings({"workspace": str(tmp_path)}, {}))


def test_the_file_names_the_projects_own_commands(tmp_path):
    (tmp_path / "interlock.toml").write_text(
        'require = ["test"]\n[checks]\ntest = ["./run_tests.sh"]\nsmoke = "./smoke"\n'
    )

    contract = settings({"workspace": str(tmp_path)}, {}).contract

    assert contract.checks == ("test",)
    assert contract.proofs == (("test", "./run_tests.sh"), ("smoke", "./smoke"))


def test_checks_that_are_no_commands_are_refused_with_an_example(tmp_path):
    (tmp_path / "interlock.toml").write_text("[checks]\ntest = 3\n")

    with pytest.raises(ConfigError, match=r"run_tests\.sh"):
        settings({"workspace": str(tmp_path)}, {})


HOOKS = """
[[hooks.PreToolUse]]
matcher = "Bash"
hooks = [{ type = "command", command = "./guard.sh", timeout = 5 }]
"""


def test_hooks_of_a_workspace_run_only_if_the_user_trusts_it(tmp_path):
    root, home = tmp_path / "work", tmp_path / "home"
    root.mkdir()
    (root / "interlock.toml").write_text(HOOKS)
    flags, environment = {"workspace": str(root), "hooks": None}, {"HOME": str(home)}

    with pytest.raises(ConfigError, match=r"has hooks, which run commands .*: \./guard\.sh\. .*--hooks trust"):
        settings(flags, environment)
    assert settings({**flags, "hooks": "off"}, environment).hooks == ()
    (hook,) = settings({**flags, "hooks": "trust"}, environment).hooks
    assert (hook.name, hook.matcher, hook.timeout) == ("./guard.sh", "Bash", 5.0)
    (home / ".config" / "interlock").mkdir(parents=True)
    (home / ".config" / "interlock" / "trusted").write_text(f"# mine\n{tmp_path}  # all below\n")
    assert len(settings(flags, environment).hooks) == 1


def test_a_workspace_cannot_trust_itself(tmp_path):
    (tmp_path / "interlock.toml").write_text(HOOKS)
    (tmp_path / ".config" / "interlock").mkdir(parents=True)
    (tmp_path / ".config" / "interlock" / "trusted").write_text(str(tmp_path))

    with pytest.raises(ConfigError, match="has hooks"):
        settings({"workspace": str(tmp_path), "hooks": None}, {"HOME": str(tmp_path)})


def test_a_command_that_runs_nothing_does_not_ask_for_trust(tmp_path):
    (tmp_path / "interlock.toml").write_text(HOOKS + SERVERS)

    found = settings({"workspace": str(tmp_path)}, {"HOME": str(tmp_path)})

    assert (found.hooks, found.servers) == ((), ())


SERVERS = """
[mcp.clock]
command = "mcp-server-time"
args = ["--local-timezone", "${ZONE:-UTC}"]
env = { API_TOKEN = "${TOKEN}" }
tools = ["get_*"]
read-only = ["get_*"]
start-seconds = 5

[mcp.wiki]
url = "http://127.0.0.1:1/mcp"
headers = { Authorization = "Bearer ${TOKEN}" }
trust-annotations = true
deferred = true
"""


def test_mcp_servers_of_a_workspace_are_used_only_if_the_user_trusts_it(tmp_path):
    root, home = tmp_path / "work", tmp_path / "home"
    root.mkdir()
    (root / "interlock.toml").write_text(SERVERS)
    flags, environment = {"workspace": str(root), "mcp": None}, {"HOME": str(home), "TOKEN": "a-long-secret"}

    with pytest.raises(
        ConfigError, match=r"MCP servers.*clock \(mcp-server-time\); wiki \(http://.*--mcp trust.*--mcp off"
    ):
        settings(flags, environment)
    assert settings({**flags, "mcp": "off"}, environment).servers == ()
    clock, wiki = settings({**flags, "mcp": "trust"}, environment).servers
    assert clock == MCPServer(
        "clock",
        "mcp-server-time",
        ["--local-timezone", "UTC"],
        {"API_TOKEN": "a-long-secret"},
        root,
        tools=["get_*"],
        read_only=["get_*"],
        start_seconds=5,
    )
    assert wiki.headers == {"Authorization": "Bearer a-long-secret"}
    assert (wiki.trust_annotations, wiki.deferred, clock.deferred) == (True, True, False)
    (home / ".config" / "interlock").mkdir(parents=True)
    (home / ".config" / "interlock" / "trusted").write_text(f"{tmp_path}\n")
    assert len(settings(flags, environment).servers) == 2


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("mcp = 1", "mcp takes a table for each server"),
        ('mcp.clock = "x"', "mcp takes a table for each server"),
        ("[mcp.clock]\ncomand = 'x'", r"[mcp.clock]: unknown setting 'comand'; known: command, args"),
        ("[mcp.clock]\ncommand = ['x']", "command = ['x'] will not do; it takes text in quotes"),
        ("[mcp.clock]\ncommand = 'x'\nargs = 'y'", "args = 'y' will not do; it takes a list"),
        ("[mcp.clock]\ncommand = 'x'\nurl = 'http://x'", "give either command=... (a program to start) or url=..."),
        ("[mcp.clock]\ncommand = 'x'\nenv = { A = '${NOWHERE}' }", "env: the variable NOWHERE is not set"),
        ("[mcp.'a b']\ncommand = 'x'", "a name has 1 to 32 letters"),
    ],
)
def test_mcp_servers_that_cannot_be_are_refused_by_name(tmp_path, said, named):
    (tmp_path / "interlock.toml").write_text(said)

    with pytest.raises(ConfigError) as caught:
        settings({"workspace": str(tmp_path), "mcp": "trust"}, {})
    assert named in str(caught.value)


def test_calls_at_once_are_limited_by_the_file_and_by_flags_which_win(tmp_path):
    (tmp_path / "interlock.toml").write_text("[limits]\nprocess = 8\nreads = 4\nbash = 2\n")

    found = settings({"workspace": str(tmp_path), "limits": at_once(("bash=1", "session=3"))}, {}).at_once

    assert (found.process, found.session, found.reads, found.effects, found.tools) == (8, 3, 4, None, {"bash": 1})


@pytest.mark.parametrize("said", ["bash", "bash=", "=2", "bash=x", "bash=-1"])
def test_a_limit_that_is_none_is_refused_with_the_form(said):
    with pytest.raises(ConfigError, match=r"--limit .*: write NAME=N"):
        at_once((said,))


def test_a_limit_of_nothing_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="'bash' must be allowed at least 1 call"):
        settings({"workspace": str(tmp_path), "limits": at_once(("bash=0",))}, {})


def test_a_settings_file_of_that_layout_is_read_only_if_it_is_named(tmp_path):
    hooks = {"hooks": {"PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "fmt"}]}]}}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps(hooks))
    flags = {"workspace": str(tmp_path), "hooks": "trust"}

    assert settings(flags, {}).hooks == ()
    (tmp_path / "interlock.toml").write_text('hooks-file = ".claude/settings.json"')
    assert [hook.name for hook in settings(flags, {}).hooks] == ["fmt"]


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("hooks = 1", "hooks is no table"),
        (
            '[[hooks.PreCompact]]\nhooks = [{ command = "x" }]',
            "hooks for 'PreCompact' are not run; known: PreToolUse",
        ),
        ('[hooks]\nPreToolUse = "x"', "hooks.PreToolUse is no list of tables"),
        ('[[hooks.PreToolUse]]\nhooks = [{ type = "prompt" }]', "has the type 'prompt'"),
        ('[[hooks.PreToolUse]]\nhooks = [{ type = "command" }]', "needs a command"),
        ('[[hooks.PreToolUse]]\nhooks = [{ command = "x", once = true }]', "says 'once', which is not known"),
        ('[[hooks.PreToolUse]]\nmatcher = "("\nhooks = [{ command = "x" }]', "no regular expression"),
        ('hooks-file = "nowhere.json"', "cannot be read"),
    ],
)
def test_hooks_that_would_not_run_are_refused_by_name(tmp_path, said, named):
    (tmp_path / "interlock.toml").write_text(said)

    with pytest.raises(ConfigError) as caught:
        settings({"workspace": str(tmp_path), "hooks": "trust"}, {})
    assert named in str(caught.value)
