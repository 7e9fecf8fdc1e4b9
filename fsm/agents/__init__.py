"""Agents: who else a run can give work to, each in a session of its own in the same journal."""

from .agent import Agent, Lineage
from .files import load_agents

__all__ = ["Agent", "Lineage", "load_agents"]
