"""Stop hooks of a workspace, as the command runs them."""

from support.chat_server import ChatServer, text_turn

STOP = """
[[hooks.Stop]]
matcher = "whatever: a stop has no name that it could fit"
hooks = [
  { type = "command", command = "no-such-program-here" },
  { type = "command", command = "test -e CHANGES || { touch CHANGES; echo 'write down what changed' >&2; exit 2; }" },
]
"""


def test_a_stop_hook_of_a_trusted_workspace_sends_the_run_back_and_one_that_fails_is_warned_of(interlock, workspace):
    (workspace / "interlock.toml").write_text(STOP)
    with ChatServer([text_turn("Done."), text_turn("Written down.")]) as server:
        done = interlock.run(server, "--hooks", "trust")

    assert (done.returncode, done.stdout) == (0, "Written down.\n")
    assert server.requests[1]["messages"][-1]["content"].endswith("write down what changed")
    assert "a Stop hook has no vote: no-such-program-here: exit status 127" in done.stderr
    shown = interlock("show", "s").stdout
    assert "the Stop hook no-such-program-here failed" in shown
    assert "|| { touch CHANGES; echo 'write down what changed' >&2; exit 2; } denied" in shown
    assert "the Stop hook no-such-program-here had no vote: record" in shown
    assert interlock("audit", "s").returncode == 0
