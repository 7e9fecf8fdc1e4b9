"""The tools that an agent works with."""

from fsm.tools import Tool, Tools
from fsm.tools.compose import joined, picked
from states.ports import Toolbox

from .agent import Agent


def toolset(agent: Agent, callers: Toolbox) -> Toolbox:
    """Those of its caller's that it names (all, if it names none), and its own. Raises ConfigError for a name twice."""
    if agent.tools is None:
        return callers
    named = picked(callers, [tool for tool in agent.tools if isinstance(tool, str)])
    own = [tool for tool in agent.tools if isinstance(tool, Tool)]
    return joined(named, Tools(own)) if own else named
