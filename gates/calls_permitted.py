"""calls_permitted: no call of the turn waits for a person."""

from typing import Final

from states.history import History
from states.verdicts import Pass, Ruling, Suspend, WaitsFor

from .gate import Gate


class CallsPermitted(Gate):
    name = "calls_permitted"
    may = (Suspend,)

    def judge(self, history: History) -> Ruling:
        waiting = [s for s in history.open_calls() if s.asked and s.approval is None and s.intent is None]
        if not waiting:
            return Pass()
        named = ", ".join(f"{state.call.id} ({state.call.name} {state.arguments[:120]})" for state in waiting)
        return Suspend(WaitsFor.APPROVAL, f"waits for an approval of {named}")


calls_permitted: Final = CallsPermitted()
