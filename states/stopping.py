"""What a run that is about to stop has been told by the host's hooks."""

from typing import Final

STOP_ALLOWED: Final = "stop_allowed"
"""Name of the gate that hears them. Its retries are refusals in a row: a pass, or a person's words, end the row."""
GOAL_MET: Final = "goal_met"
"""Name of the gate that asks whether the session's goal is reached. A refusal makes void what its verifier has said."""
