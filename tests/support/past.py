"""Writes a session's past by hand, record by record, as the driver would."""

from fsm.graph import GRAPH
from fsm.machine import decide
from states.contract import Budget, Contract, Permission
from states.fold import apply
from states.history import History
from states.messages import Call, Finish, Text, Usage
from states.names import State
from states.records import (
    AssistantTurn,
    Candidate,
    Dispatch,
    Entry,
    RunStarted,
    Settlement,
    Status,
    StopAnswer,
    ToolIntent,
    ToolResult,
    Transition,
    UserInput,
    Verdict,
    Verification,
)


class Past:
    def __init__(self, *, contract=Contract(), budget=Budget(), permission=Permission.FULL, task="do it"):
        self.entries = []
        self.history = History("s")
        self.fence = 1
        self.now = 100.0
        self.add(RunStarted(1, "g", "t", "m", contract=contract, budget=budget, permission=permission), UserInput(task))

    def add(self, *records):
        for record in records:
            entry = Entry(self.history.seq + 1, self.now, self.fence, record)
            apply(self.history, entry)
            self.entries.append(entry)
        return self

    def move(self, graph=GRAPH):
        """Decide on what was added last, and commit the verdicts and the move."""
        history = self.history
        decision = decide(graph, history.state, history.closing_event, history)
        rests_on = [history.closing]
        for gate, ruling in decision.rulings:
            self.add(Verdict(gate.name, ruling))
            rests_on.append(history.seq)
        return self.add(Transition(decision.source, decision.event, decision.target, tuple(rests_on)))

    def turn(self, *blocks, finish=None, usage=Usage(10, 5), saw=None):
        calls = any(isinstance(block, Call) for block in blocks)
        ended = finish or (Finish.CALLS if calls else Finish.STOP)
        seen = self.history.seq if saw is None else saw
        return self.add(AssistantTurn(tuple(blocks), ended, seen, "m", usage, self.history.epoch))

    def says(self, text="done", **more):
        return self.turn(Text(text), **more)

    def calls(self, *names):
        number = self.history.turn_count + 1
        return self.turn(*(Call(f"call_{number}_{n}", name, "{}") for n, name in enumerate(names)))

    def intents(self):
        for state in self.history.open_calls():
            self.add(ToolIntent(state.call.id, state.call.name, "{}", state.order, self.history.epoch))
        return self.add(Dispatch(self.history.turn_seq))

    def result(self, call, status=Status.OK, output="ok", **metadata):
        return self.add(ToolResult(call, status, output, metadata, epoch=self.history.epoch))

    def settle(self):
        return self.add(Settlement(self.history.turn_seq))

    def tool_turn(self, name="bash", status=Status.OK, **metadata):
        """A whole turn with one call, up to the next provider turn."""
        self.calls(name).move().intents().move()
        (state,) = self.history.open_calls()
        return self.result(state.call.id, status, **metadata).settle().move()

    def submitted(self, text="done"):
        return self.says(text).move().add(Candidate(self.history.turn_seq))

    def verified(self, text="done", revision="", evidence=()):
        self.submitted(text).move()
        return self.add(*evidence, Verification(self.history.candidate, revision))

    def answered(self, text="done"):
        return self.verified(text).move().add(StopAnswer(self.history.candidate, self.history.noted))

    def finalized(self, text="done"):
        from states.finalize import receipt

        self.answered(text).move()
        return self.add(receipt(self.history, ""))

    @property
    def state(self) -> State:
        return self.history.state
