"""The built-in verifier: a fresh loop of its own, which may look and run checks, and says one word that counts."""

import re
from collections.abc import Callable
from typing import Final

from fsm.result import RunStatus
from gates.changes import harmless
from states.contract import Budget, Contract, Permission
from states.errors import InterlockError
from states.history import History
from states.ports import Opinion, Provider, Toolbox, ToolOutput, ToolRun, ToolSpec
from states.records import JSON, Judgement

from .adopt import Claimed, Runs, go_on
from .agent import Agent, Lineage

NAME: Final = "verifier"
BUDGET: Final = Budget(max_turns=24)
"""blade-code's limit for its verifiers."""
SHELL: Final = "bash"
_WORD: Final = re.compile(r"^[ \t]*VERDICT:[ \t]*(PASS|FAIL|PARTIAL)[ \t]*$", re.MULTILINE)

PROMPT: Final = """\
You verify work that somebody else has done. You had no part in it, and you change nothing.

- Find out for yourself: read the files, run the tests and other checks. What nobody has shown, you do not believe.
- Look for what was asked and not done, for what is wrong, and for what was broken on the way.
- Say what you found, each with the file and the line. Then end with one line of its own, exactly one of
  VERDICT: PASS
  VERDICT: FAIL
  VERDICT: PARTIAL
  PASS: all that was asked for is done, and nothing serious is wrong. FAIL: something that was asked for is missing,
  does not work, or a check fails. PARTIAL: it works, and something smaller has to be repaired.
"""


def judgement_in(text: str) -> Judgement:
    """The one line that counts. No such line, or more than one, is no judgement."""
    found = _WORD.findall(text)
    return Judgement(found[0].lower()) if len(found) == 1 else Judgement.NONE


class Eyes:
    """A toolbox that only looks: read-only tools, and a shell for checks and for what provably changes nothing.

    Where its caller may not run commands unasked, neither may it: then there is no shell.
    """

    def __init__(self, tools: Toolbox, caller: History) -> None:
        self._tools = tools
        self._root = caller.started.workspace if caller.started else ""
        self._proofs, self._exact = caller.contract.proofs, caller.contract.commands
        self._shell = caller.permission is Permission.FULL

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(spec for spec in self._tools.specs if self._may(spec))

    def spec(self, name: str) -> ToolSpec | None:
        spec = self._tools.spec(name)
        return spec if spec is not None and self._may(spec) else None

    def _may(self, spec: ToolSpec) -> bool:
        return spec.read_only or (spec.name == SHELL and self._shell)

    def complaint(self, name: str, arguments: JSON) -> str | None:
        if self.spec(name) is None:
            known = ", ".join(spec.name for spec in self.specs) or "none at all"
            return f"there is no tool {name!r} for whoever verifies; the tools are {known}."
        complaint = self._tools.complaint(name, arguments)
        if complaint is not None or name != SHELL or not isinstance(arguments, dict):
            return complaint
        command = str(arguments.get("command", ""))
        if command in self._exact or harmless(command, self._proofs, self._root):
            return None
        return "this command is neither a check nor one that provably changes nothing; whoever verifies runs no other."

    async def run(self, run: ToolRun) -> ToolOutput:
        return await self._tools.run(run)

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        return await self._tools.reconcile(run)


MakeLoop = Callable[[Agent, Lineage, History], Runs]


class LoopVerifier:
    """Implements `Verifier` with loops that `make` makes. provider: whom it asks (None: whom its caller asks)."""

    def __init__(self, make: MakeLoop, provider: Provider | None) -> None:
        self._make = make
        self.provider = provider

    async def opinion(self, caller: History, session: str, prompt: str) -> Opinion:
        agent = Agent(
            NAME, "Verifies.", PROMPT, provider=self.provider, budget=BUDGET, contract=Contract(verify="never")
        )
        lineage = Lineage(f"{caller.session}:{caller.candidate}", NAME, 1)
        try:
            loop = self._make(agent, lineage, caller)
            result = await go_on(loop, Claimed(session, lineage.parent, prompt, caller.permission))
        except InterlockError as error:
            return Opinion(Judgement.NONE, unavailable=str(error))
        if result.status is RunStatus.SUCCEEDED:
            return Opinion(judgement_in(result.text), result.text, result.usage, cost=result.cost)
        if result.status is RunStatus.FAILED and result.reason != "api_error":
            said = f"It failed ({result.reason}): {result.message}"
            return Opinion(Judgement.NONE, said, result.usage, cost=result.cost)
        why = f"{result.reason}: {result.message}"
        return Opinion(Judgement.NONE, "", result.usage, why, result.cost)
