"""Writes the cassette of `interlock demo` anew: python tests/cli/record_demo.py FILE

The words of the model stand below. They go through the scripted server, the real provider, and the real tools.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from support.chat_server import ChatServer, calls_turn, text_turn

from fsm import Contract, Loop, workspace_tools
from fsm.demo import TASK, TEST
from fsm.demo.repository import unpack
from fsm.providers import OpenAIChat, Recorder

TURNS = [
    calls_turn(
        [
            ("list_dir", {"path": "."}),
            ("read_file", {"path": "tests/test_basket.py"}),
            ("read_file", {"path": "till/discount.py"}),
        ],
        "I'll look at the tests and at the code that they exercise.",
    ),
    calls_turn([("bash", {"command": TEST})], "Let me see which test fails, and how."),
    calls_turn(
        [
            (
                "edit_file",
                {
                    "path": "till/discount.py",
                    "old_string": "return cents * (100 - percent_off) // 100",
                    "new_string": "return (cents * (100 - percent_off) + 50) // 100",
                },
            )
        ],
        "The discount rounds down, but its docstring promises the nearest cent. Adding half a unit first does it.",
    ),
    text_turn("I have fixed the rounding in till/discount.py. All tests should pass now."),
    calls_turn([("bash", {"command": TEST})], "Right: I changed the code and have not run the tests since."),
    text_turn(
        "The discount was rounded down; it is now rounded to the nearest cent, half a cent up, as its docstring says "
        f"(till/discount.py, one line). I ran `{TEST}` after the change: all four tests pass."
    ),
]


def record(cassette: Path) -> None:
    with tempfile.TemporaryDirectory() as home, ChatServer(TURNS) as server:
        root = Path(home, "till")
        unpack(root)
        loop = Loop(
            provider=Recorder(OpenAIChat("recorded", server.url, api_key=""), cassette),
            tools=workspace_tools(root, root / ".interlock"),
            workspace=root,
            journal=":memory:",
            contract=Contract(checks=["test"]),
        )
        result = loop.run_sync(TASK)
        assert result.succeeded, result


if __name__ == "__main__":
    Path(sys.argv[1]).unlink(missing_ok=True)
    record(Path(sys.argv[1]))
