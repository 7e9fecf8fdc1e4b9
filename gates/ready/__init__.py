"""Ready-made completion gates for `default_graph().with_gate(...)`: what they look at, they look at for each candidate.

What they saw is a record, bound to the workspace's revision: if that changes before the end, it counts no more.
None of them runs anything: a command that has to pass is a duty (`Contract(commands=[...])`), so that it has an intent.
"""

from .coverage_not_lower import CoverageNotLower
from .diff_size_limit import DiffSizeLimit
from .files_exist import FilesExist
from .files_unchanged import FilesUnchanged
from .human_approval import HumanApproval
from .no_new_todo import NoNewTodo
from .observed import Observed, Sight

__all__ = [
    "CoverageNotLower",
    "DiffSizeLimit",
    "FilesExist",
    "FilesUnchanged",
    "HumanApproval",
    "NoNewTodo",
    "Observed",
    "Sight",
]
