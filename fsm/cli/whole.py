"""A session as one JSON object, for programs."""

from collections.abc import Sequence

import attrs
import orjson

from fsm.output import output_of
from fsm.result import result_of
from states.codec import encode
from states.fold import fold
from states.goals import goal_status
from states.history import History
from states.names import RESTING
from states.records import JSON, Entry

from .past import waiting


def whole(session: str, entries: Sequence[Entry]) -> dict[str, JSON]:
    """What `interlock show --json` documents. Raises HistoryError."""
    history = fold(session, list(entries))
    return _ending(history) | {
        "session": session,
        "state": history.state.value,
        "run": history.run,
        "turns": history.turns,
        "tool_calls": history.tool_calls,
        "cost": history.cost,
        "usage": attrs.asdict(history.usage),
        "session_usage": attrs.asdict(history.spent),
        "title": history.title,
        "goal": {"text": history.goal.text, "status": goal_status(history)} if history.goal else None,
        "forked_from": attrs.asdict(history.forked) if history.forked else None,
        "contract": {"checks": list(history.contract.checks), "commands": list(history.contract.commands)},
        "output_schema": orjson.loads(history.contract.output_schema or "null"),
        "output": output_of(history),
        "receipt": orjson.loads(encode(history.receipt)) if history.receipt else None,
        "waiting": [
            {"call": state.call.id, "name": state.call.name, "arguments": state.arguments} for state in waiting(history)
        ],
        "entries": [
            {"seq": entry.seq, "at": entry.at, "fence": entry.fence, "record": orjson.loads(encode(entry.record))}
            for entry in entries
        ],
    }


def _ending(history: History) -> dict[str, JSON]:
    """How the run ended or rests; while it goes on, there is no status."""
    if history.state not in RESTING or history.started is None:
        return {"status": None, "reason": "", "message": "", "summary": "", "text": ""}
    result = result_of(history)
    return {
        "status": result.status.value,
        "reason": result.reason,
        "message": result.message,
        "summary": result.summary,
        "text": result.text,
    }
