"""What `interlock demo` plays: a little repository with a failing test, and a cassette of a model that mends it.

`cassette.ndjson` was written by `tests/cli/record_demo.py`: a run of the loop with the real tools in that repository,
against a scripted server on loopback, through `fsm.providers.Recorder`. The words of the model were written by hand.
"""

from pathlib import Path
from typing import Final

CASSETTE: Final = Path(__file__).with_name("cassette.ndjson")
TASK: Final = "Make the failing test pass. Run the tests."
TEST: Final = "python3 -m unittest -q"
"""The command that the recorded model runs; the standard library is enough for it."""
