"""Whether a call may start: rules about tools and their arguments, and the run's permission. Pure."""

from .permit import permit
from .remembered import rule_for
from .rule import Rule, parse_rule

__all__ = ["Rule", "parse_rule", "permit", "rule_for"]
