"""A goal as a caller gives it."""

from gates.gate import Asked
from states.errors import ConfigError
from states.ports import Workspace
from states.stopping import GOAL_MET

from .graph import Graph


def checked_goal(goal: str, workspace: Workspace | None, graph: Graph) -> str:
    """The goal again. Raises ConfigError for one that nobody could find to be reached."""
    if not goal.strip():
        return ""
    if workspace is None:
        raise ConfigError("a goal is verified on a workspace's revision; give workspace=...")
    if GOAL_MET not in {guard.gate.name for row in graph for guard in row.guards if isinstance(guard, Asked)}:
        raise ConfigError(
            f"a goal is given, but no row of the table asks {GOAL_MET!r}; put gates.goal_met into at_stop"
        )
    return goal.strip()
