"""The decision about one call: deny wins over everything, then planning, then ask, then what is allowed anyway."""

from states.contract import Permission
from states.history import History
from states.records import JSON
from states.rules import DELEGATES, Leave, Permit

from .rule import Rule, covering_together, parse_rule

PLANNING = "only read-only tools may run while planning"


def permit(history: History, name: str, arguments: JSON, *, reads: bool, delegates: bool = False) -> Permit:
    """Whether this call may start. `reads`: its tool says that exactly this call changes nothing;
    `delegates`: that it only has agents work, who ask for themselves.

    Pure: the same history and call get the same answer, so that an audit can ask again.
    """
    rules, root = history.rules, history.started.workspace if history.started else ""
    touched = [(rule, rule.touches(name, arguments, root)) for rule in map(parse_rule, rules.deny)]
    for rule, sure in touched:
        if sure:
            return Permit(Leave.DENY, f"deny {rule.said}")
    if history.permission is Permission.PLAN and not (reads or delegates):
        return Permit(Leave.DENY, PLANNING)
    for rule, sure in touched:
        if sure is None:
            return Permit(Leave.ASK, f"it cannot be told whether this is meant by: deny {rule.said}")
    for rule in map(parse_rule, rules.ask):
        if rule.touches(name, arguments, root) is not False:
            return Permit(Leave.ASK, f"ask {rule.said}")
    if history.permission is Permission.FULL:
        return Permit(Leave.ALLOW, f"permission {history.permission}")
    if reads:
        return Permit(Leave.ALLOW, "it only reads")
    if delegates:
        return Permit(Leave.ALLOW, DELEGATES)
    allowing = _allowing(tuple(map(parse_rule, rules.allow)), name, arguments, root)
    if allowing:
        return Permit(Leave.ALLOW, allowing)
    return Permit(Leave.ASK, f"permission {history.permission}")


def _allowing(rules: tuple[Rule, ...], name: str, arguments: JSON, root: str) -> str:
    for rule in rules:
        if rule.covers(name, arguments, root):
            return f"allow {rule.said}"
    together = covering_together(rules, name, arguments)
    return f"allow {together.said}" if together else ""
