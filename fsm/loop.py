"""The loop as a caller sees it: run, resume, steer, cancel. What a run does is in the table, not here."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import attrs

from states.compaction import compact
from states.contract import Budget, Contract, Permission
from states.errors import CompactionFailed, ConfigError, JournalError, JournalUnusable, SessionBusy
from states.fold import fold
from states.history import History
from states.living import Living
from states.names import ENDS, RESTING, State
from states.output import schema_digest
from states.ports import (
    Claim,
    Clock,
    FollowUp,
    Hooks,
    Ids,
    Journal,
    Note,
    Provider,
    ProviderTrouble,
    Toolbox,
    Verifier,
    Workspace,
)
from states.records import (
    JSON,
    Cause,
    ChainChange,
    Compaction,
    CompactionFailure,
    Failed,
    HookResult,
    Record,
    RunStarted,
    UserInput,
)
from states.rules import Rules

from . import events
from .admission import Admission
from .approvals import Approver
from .clock import RandomIds, SystemClock
from .digests import graph_digest, tools_digest
from .driver import Driver
from .graph import GRAPH, Graph
from .host import Unheard, as_hooks, as_session_hooks
from .limits import NO_LIMITS, Limits
from .offered import as_only, offered
from .opening import Opening, with_hooks
from .output import owing, wanted
from .prompts import BARE, BASE, OUTPUT, Prompt
from .prompts.layers import layers
from .prompts.prompt import words_of
from .prompts.surroundings import runtime_context
from .providers.prices import Prices, price_of
from .pursuit import checked_goal
from .redact import Redactor
from .remote import names_of_deferred, parted, with_servers
from .result import Result, failed, result_of
from .sessions import Sessions
from .setup import (
    apart_of,
    as_chain,
    as_crew,
    as_defer,
    as_journal,
    as_permission,
    as_prestart,
    as_rules,
    as_toolbox,
    as_verifier,
    as_window,
    as_workspace,
    check_contract,
    for_contract,
    providers_of,
    root_of,
    searchable,
    settled,
    state_dir,
    with_crew,
)
from .standing import may_ask
from .voice import Voice
from .world import World

if TYPE_CHECKING:
    from .agents import Agent, Lineage
    from .hooks.hook import Hook

LISTEN_SECONDS: Final = 0.05
"""How often a running session looks for notes of other processes: a cancellation has to reach its tools within 0.1 s,
and a look is one indexed read. `python -m benchmarks.cancel` measures what idling costs: half a percent of a core for
one session, which has to be woken for it, a twentieth of a percent for each of many."""

CHAINED: Final = 20
"""Follow-ups that begin one after the other without anybody asking for it (blade-code's limit); then they wait."""

Publish = Callable[[events.Event], None]


def _ignore(_: events.Event) -> None:
    pass


def _no_event_loop(name: str) -> None:
    """Raises ConfigError where an event loop runs: there a call that waits for one would never end."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise ConfigError(f"{name}_sync was called where an event loop runs; there it is `await loop.{name}(...)`")


class Loop(Sessions):
    """An agent's loop over a durable journal. One instance may run many sessions at once.

    provider: a `states.ports.Provider`, such as `fsm.providers.OpenAIChat`; or a list: where one does not
        answer, the next one is asked from then on, on record.
    tools: tools made by `fsm.tool`, or a whole `Toolbox`.
    context: the object (or a tuple of objects) that tools get for parameters annotated `Injected[...]`.
    workspace: a folder whose revision evidence is bound to; needed for a contract with checks.
    journal: a path (SQLite), ":memory:" (lost with the process), or a `Journal`. By default
        `.interlock/journal.db` under the workspace, else under the current folder.
    contract, budget: what each run owes and may spend.
    rules: calls that run unasked, wait for a person or never run: `Rules(allow=["bash(git *)"], deny=["bash(rm *)"])`.
        A session keeps those that it began with.
    on_approval: answers approvals while the run goes on (takes an `ApprovalRequest`, gives an `ApprovalAnswer`, True,
        False, or None to leave it open); without it the run rests.
    hooks: `fsm.hooks.PreToolUse` and `PostToolUse`, functions or commands, asked around each call; `UserPromptSubmit`,
        `SessionStart` and `SessionEnd` about words and sessions; `Stop` and
        `SubagentStop`, asked before a run may end as a success. Or a `states.ports.Hooks`.
    goal: what each session that `run` begins is to reach (see there).
    only: names and patterns (`mcp__files__*`) of the tools that are offered; the others are neither sent nor run.
    defer: names and patterns of tools of which the model sees names only, until it loads their schemas (`tool_search`).
    output: what a run's result is: an attrs class, dataclass, TypedDict, or a JSON Schema (see `Result.output`).
    permission: "full" (the caller chose the tools), "ask" or "plan".
    agents: whom the model may give work to, with the tool `task`. agent_depth: how many calls of agents may stand above
        one another; 1 lets no agent call agents. lineage: where this loop stands below a call, for agents.
    prices: what models cost, by name, before `fsm.providers.prices`; for a budget that limits the cost.
    prestart: names of tools whose calls may start while the answer that asks for them is still being streamed. Each
        must declare itself `read_only` and `concurrency_safe`; nothing else starts before its turn is committed.
    limits: how many calls may run side by side, `fsm.Limits`; give loops of one process the same to share its slots.
    max_runs: how many runs and resumes of this loop may go on at once; the others wait in order.
    verifier: whom the built-in verifier asks, or a `states.ports.Verifier`; giving one makes "auto" of a contract's
        `verify` that says nothing. None: whom the loop itself asks, where the contract calls for a verifier.
    window: the model's context window in tokens, where it is not known (`fsm.providers.windows`) or should be smaller.
        Near its end the conversation is compacted; without one, only when a request did not fit.
    system: the base of the system prompt, or a file with it. prompt: the layers above it, `fsm.Prompt`, which
        replacing the base does not touch: style, project instructions (of a trusted folder), memory, environment,
        append; and whether date and place are told before each input. What was loaded is in `RunStarted.layers`.
    graph: the table; make one with `fsm.table(...)` to add gates.
    """

    def __init__(
        self,
        *,
        provider: Provider | Sequence[Provider],
        tools: "Iterable[object] | Toolbox" = (),
        context: object = None,
        workspace: str | Path | Workspace | None = None,
        journal: str | Path | Journal | None = None,
        contract: Contract = Contract(),
        budget: Budget = Budget(),
        output: "type | Mapping[str, JSON] | None" = None,
        permission: Permission | str = Permission.FULL,
        rules: Rules | Mapping[str, Iterable[str]] | None = None,
        on_approval: Approver | None = None,
        hooks: "Iterable[Hook] | Hooks" = (),
        goal: str = "",
        only: Iterable[str] | None = None,
        defer: Iterable[str] = (),
        window: int | None = None,
        system: str | Path = BASE,
        prompt: Prompt = Prompt(),
        agents: "Iterable[Agent]" = (),
        agent_depth: int = 1,
        lineage: "Lineage | None" = None,
        prestart: Iterable[str] = (),
        limits: Limits = NO_LIMITS,
        verifier: Provider | Verifier | None = None,
        graph: Graph = GRAPH,
        prices: "Prices | None" = None,
        max_runs: int | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
    ) -> None:
        self._providers = as_chain(provider)
        self._workspace = as_workspace(workspace, journal)
        self._workspace_name = root_of(workspace)
        tools, servers = parted(tools)
        self._open_journal = partial(as_journal, journal, workspace)
        self._journal = self._open_journal()
        self._own_tools = as_toolbox(tools, workspace, context)
        self._output = wanted(output)
        owed = check_contract(settled(contract, self._workspace, verifier), self._workspace)
        self._contract = owing(owed, self._output, graph)
        self._prices = prices or {}
        self._budget = self._priced(budget)
        self._permission = as_permission(permission)
        self._given_window = window
        self._window = as_window(window, self.models)
        self._system_from, self._system = words_of(system, "system")
        self._prompt = prompt
        self._limits = limits
        self._prestart = as_prestart(prestart, self._own_tools)
        self._graph = graph
        self._clock = clock or SystemClock()
        self._ids = ids or RandomIds()
        self._own_tools = with_servers(self._own_tools, servers)
        self._admission = Admission(max_runs)
        self._state_dir = (lineage and lineage.state_dir) or state_dir(workspace)
        self._drivers: dict[str, Driver] = {}
        self._lineage = lineage
        own = (secret for one in self._providers for secret in one.secrets)
        self._secrets = (*own, *(lineage.secrets if lineage else ()))
        self._crew = as_crew(
            agents,
            self._own_tools,
            self._agent_loop,
            lambda: self._journal,
            depth=agent_depth,
            place=(self._workspace_name, self._state_dir),
        )
        self._secrets += tuple(self._own_tools.secrets) if isinstance(self._own_tools, Living) else ()
        self._tools = with_crew(self._own_tools, self._crew)
        self._only = as_only(only, self._tools)
        self._defer = (*as_defer(defer, None if lineage else self._tools), *names_of_deferred(servers))
        self._rules = as_rules(rules, None if lineage else self._tools.specs)
        self._on_approval = on_approval
        self._given_hooks = tuple(hooks) if isinstance(hooks, Iterable) else hooks
        self._goal = checked_goal(goal, self._workspace, graph)
        self._hooks = as_hooks(self._given_hooks, self._workspace_name, self._secrets, graph)
        about_sessions = () if lineage else self._given_hooks  # those of an agent are its caller's
        self._session_hooks = as_session_hooks(about_sessions, self._workspace_name, self._secrets)
        self._verifier = as_verifier(verifier, self._verifier_loop)
        self._to_close = providers_of(self._providers, verifier, self._crew)

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def prestart(self) -> frozenset[str]:
        return self._prestart

    @property
    def journal(self) -> Journal:
        return self._journal

    def _redactor(self) -> Redactor:
        return Redactor(self._secrets)

    # --- running ------------------------------------------------------------------------------------------------

    async def run(
        self, task: str, *, session: str | None = None, goal: str | None = None, on_event: Publish = _ignore
    ) -> Result:
        """Run a task in a new session (named `session`, or by us) until it ends or rests.

        goal: what the session is to reach, in whichever of its runs (None: the loop's own). A fresh verifier has to
        find that it is reached before a run may succeed.
        """
        if not task.strip():
            raise ConfigError("the task is empty; say what is to be done")
        name = session or self._ids.session()
        reach = self._goal if goal is None else checked_goal(goal, self._workspace, self._graph)
        return await self._drive(name, Opening(task, create=True, goal=reach), on_event)

    async def resume(
        self,
        session: str,
        message: str | None = None,
        *,
        approve: Sequence[str] = (),
        deny: Sequence[str] = (),
        reason: str = "",
        remember: bool | Sequence[str] = False,
        budget: Budget | None = None,
        permission: Permission | str | None = None,
        rules: Rules | Mapping[str, Iterable[str]] | None = None,
        approve_plan: bool = False,
        reject_plan: str | None = None,
        on_event: Publish = _ignore,
    ) -> Result:
        """Go on with a session: after a crash, a rest, or (with a message) a finished run.

        approve, deny: calls that wait for an approval; `reason` is read by the model.
        approve_plan: the plan that waits for a review is carried out, under `permission` (by default the loop's own, or
        "ask" if that is "plan"). reject_plan: it is not, and these comments are read by the model, which plans on.
        A message answers what a tool asked (`waits_for` answer), and is a comment on a plan that waits.
        remember: calls like those that are approved (or like these of them) run unasked from here on, in this session.
        budget, permission: replace the run's own from here on, on record. rules: are added to the session's, likewise.
        Without a message a finished run's result is returned again: an answer that was lost on its way to the caller
        is delivered, and no model is asked. Follow-ups that are queued then begin.
        """
        opening = Opening(
            message,
            approve=tuple(approve),
            deny=tuple(deny),
            reason=reason,
            remember=tuple(approve) if remember is True else tuple(remember or ()),
            rules=as_rules(rules, self._tools.specs),
            budget=self._priced(budget) if budget else None,
            permission=as_permission(permission) if permission else None,
            approve_plan=approve_plan,
            reject_plan=reject_plan,
        )
        return await self._drive(session, opening, on_event)

    def _priced(self, budget: Budget) -> Budget:
        """The budget again. Raises ConfigError for one that cannot be kept."""
        if budget.reserve is not None and budget.tokens is not None and budget.reserve >= budget.tokens:
            raise ConfigError(f"budget: reserve ({budget.reserve}) has to be smaller than tokens ({budget.tokens})")
        unpriced = [model for model in self.models if price_of(model, self._prices) is None]
        if budget.cost is not None and unpriced:
            raise ConfigError(
                f"budget: a cost of {budget.cost:g} USD is asked for, but what {unpriced[0]!r} costs is not "
                "known; give Loop(prices={model: fsm.providers.prices.Price(input, cached, output)}), on the command "
                "line --price INPUT,CACHED,OUTPUT (US dollars per million tokens), or limit the tokens"
            )
        return budget

    def run_sync(self, task: str, *, session: str | None = None, on_event: Publish = _ignore) -> Result:
        """`run` for callers without an event loop. Closes the provider's connections at its end."""
        _no_event_loop("run")
        return asyncio.run(self._once(self.run(task, session=session, on_event=on_event)))

    def resume_sync(
        self,
        session: str,
        message: str | None = None,
        *,
        approve: Sequence[str] = (),
        deny: Sequence[str] = (),
        reason: str = "",
        budget: Budget | None = None,
        permission: Permission | str | None = None,
        on_event: Publish = _ignore,
    ) -> Result:
        """`resume`, with what it takes most often, for callers without an event loop. Ends as `run_sync` does."""
        _no_event_loop("resume")
        work = self.resume(
            session,
            message,
            approve=approve,
            deny=deny,
            reason=reason,
            budget=budget,
            permission=permission,
            on_event=on_event,
        )
        return asyncio.run(self._once(work))

    async def _once(self, work: Awaitable[Result]) -> Result:
        try:
            return await work
        finally:
            await self._close_tools()
            await self._close_providers()

    def stream(self, task: str, *, session: str | None = None) -> AsyncGenerator[events.Event, None]:
        """The events of a new run, the last of which is `RunEnd`. Closing it early suspends the run, committed."""
        return _streamed(lambda publish: self.run(task, session=session, on_event=publish))

    def _agent_loop(self, agent: "Agent", lineage: "Lineage", caller: History) -> "Loop":
        """A loop for an agent that a run of ours has called, in the same journal and workspace."""
        from .agents.toolset import toolset

        deeper = self._crew is not None and lineage.depth < self._crew.limit
        agents = tuple(self._crew.agents.values()) if self._crew and deeper else ()
        tools = toolset(agent, self._offered_to(caller, lineage.workspace))
        return self._below(agent, lineage, caller, tools, agents, prompt=self._prompt)

    def _verifier_loop(self, agent: "Agent", lineage: "Lineage", caller: History) -> "Loop":
        """A loop for whoever verifies a run of ours."""
        from .agents.verifier import Eyes

        eyes = Eyes(self._offered_to(caller), caller)
        return self._below(agent, lineage, caller, eyes, prompt=BARE, hooks=Unheard(self._hooks))

    def _offered_to(self, caller: History, workspace: Path | None = None) -> Toolbox:
        """What a run of ours may use at most, and so whatever works for it, in a workspace of its own if it has one."""
        from .tools.compose import elsewhere

        tools = self._own_tools if workspace is None else elsewhere(self._own_tools, workspace)
        return offered(tools, caller.started.only if caller.started else None)

    def _below(
        self,
        agent: "Agent",
        lineage: "Lineage",
        caller: History,
        tools: Toolbox,
        agents: "tuple[Agent, ...]" = (),
        *,
        prompt: Prompt,
        hooks: Hooks | None = None,
    ) -> "Loop":
        from .agents.agent import narrower, within

        return Loop(
            provider=agent.provider or self._providers,
            tools=tools,
            workspace=lineage.workspace or self._workspace,
            journal=self._journal,
            contract=agent.contract,
            budget=within(agent.budget, caller),
            permission=narrower(caller.permission, agent.permission or caller.permission),
            rules=caller.rules,
            on_approval=self._on_approval,
            hooks=hooks or self._given_hooks,
            window=None if agent.provider else self._given_window,
            system=agent.prompt,
            prompt=prompt,
            defer=self._defer if agent.tools is None else (),
            agents=agents,
            agent_depth=self._crew.limit if self._crew else 1,
            prices=self._prices,
            lineage=attrs.evolve(lineage, secrets=self._secrets, state_dir=self._state_dir),
            limits=self._limits,
            clock=self._clock,
            ids=self._ids,
        )

    async def steer(self, session: str, text: str) -> Note:
        """Say something to a running or resting session, of this or another process. Durable on return.

        It reaches the model before the current run can succeed, or starts the next one.
        """
        if not text.strip():
            raise ConfigError("the message is empty; say what the model should know")
        if self._session_hooks is not None:
            await self._session_hooks.prompted(session, text)
        return await self._journal.post(session, self._redactor().text(text))

    async def follow_up(self, session: str, text: str, *, id: str | None = None) -> FollowUp:  # noqa: A002
        if self._session_hooks is not None:
            await self._session_hooks.prompted(session, text)
        return await super().follow_up(session, text, id=id)

    async def cancel(self, session: str, reason: str = "") -> bool:
        """Stop a running session, wherever it runs; it rests and can be resumed. False if it was at rest."""
        driver = self._drivers.get(session)
        if driver is not None:
            driver.cancel(reason)
            return True
        try:
            return await self._cancel_idle(session, reason)
        except SessionBusy:
            await self._journal.post(session, None)
            return True

    async def _cancel_idle(self, session: str, reason: str) -> bool:
        """Nobody runs it: a crashed run is put to rest."""
        claim = await self._journal.claim(session)
        try:
            driver = await self._driver(claim, _ignore)
            if driver.history.started is None or driver.history.state in RESTING:
                return False
            driver.cancel(reason)
            await driver.drive()
            if driver.broken is not None:
                raise JournalUnusable(driver.broken.message)
            return True
        finally:
            await self._journal.release(claim)

    async def compact(self, session: str, *, on_event: Publish = _ignore) -> Compaction | None:
        """Let the model write a ledger that stands for the older part of a session's conversation.

        The session has to rest, or to have ended. What was committed is returned; None if there is nothing to compact.
        Raises CompactionFailed if no ledger could be had; the conversation is then as it was.
        """
        claim = await self._journal.claim(session)
        try:
            driver = await self._driver(claim, on_event)
            history = driver.history
            if history.started is None or history.state not in RESTING or history.closing:
                raise ConfigError(f"session {session!r} is in the middle of a run; resume it, or cancel it first")
            if (self.models, self._window) != (history.models, history.window):
                await driver.commit(ChainChange(self.models, self._window))
            try:
                made = await compact(driver, driver.world, Cause.ASKED)
            except ProviderTrouble as trouble:
                made = (CompactionFailure(Cause.ASKED, driver.redactor.text(trouble.message)),)
            await driver.commit(*made)
            failed_ = [record for record in made if isinstance(record, CompactionFailure)]
            done = [record for record in made if isinstance(record, Compaction)]
            if failed_ and not done:
                raise CompactionFailed(f"session {session!r} is as it was: {failed_[0].message}")
            return done[0] if done else None
        finally:
            await self._journal.release(claim)

    # --- one claim ----------------------------------------------------------------------------------------------

    async def _drive(self, session: str, opening: Opening, publish: Publish) -> Result:
        async with self._admission.admitted():
            return await self._admitted(session, opening, publish)

    async def _admitted(self, session: str, opening: Opening, publish: Publish) -> Result:
        if isinstance(self._tools, Living):
            await self._tools.open()
        heard = await self._heard(session, opening)
        claim = await self._journal.claim(session, create=opening.create)
        try:
            if isinstance(self._tools, Living):
                await self._tools.leave(session)  # what a process that is gone left running for it
            driver = await self._driver(claim, publish)
            following = await self._following(driver) if not opening.decides and not claim.lost else []
            opening = Opening(follow_up=following[0]) if following else opening
            result = await self._claimed(driver, opening, publish, heard)
            for _ in range(CHAINED - len(following[:1])):
                following = await self._following(driver)
                if not following:
                    break
                driver = await self._driver(claim, publish)
                result = await self._claimed(driver, Opening(follow_up=following[0]), publish)
            if self._session_hooks is not None and driver.broken is None:
                ended = await self._session_hooks.ended(session, result.reason)
                with suppress(JournalError):  # how the run ended is durable, whatever becomes of this
                    await driver.commit(*ended)
            return result
        finally:
            try:
                if isinstance(self._tools, Living):
                    await asyncio.shield(self._tools.leave(session))
            finally:
                with suppress(JournalError):  # a store that failed has nothing to release
                    await asyncio.shield(self._journal.release(claim))

    async def _following(self, driver: Driver) -> list[FollowUp]:
        """What is queued after a run that has succeeded."""
        if driver.broken is not None or driver.history.state is not State.SUCCEEDED:
            return []
        return await self._journal.queued(driver.session, driver.history.queued)

    async def _heard(self, session: str, opening: Opening) -> tuple[HookResult, ...]:
        """What hooks say to a session that is taken up, and to what is said to it. Raises PromptRefused."""
        if self._session_hooks is None:
            return ()
        words = opening.message if opening.reject_plan is None else opening.reject_plan
        started = await self._session_hooks.started(session, fresh=opening.create)
        return (*started, *(await self._session_hooks.prompted(session, words) if words else ()))

    async def _claimed(
        self, driver: Driver, opening: Opening, publish: Publish, heard: tuple[HookResult, ...] = ()
    ) -> Result:
        session = driver.session
        self._check_resumable(driver.history)
        records = await self._opened(driver, opening, heard)
        self._drivers[session] = driver
        listener = asyncio.create_task(self._listen(driver))
        try:
            if self._crew is not None:
                await self._crew.sweep(driver)
            if records is not None:
                untold = driver.claim.lost and not opening.message and opening.follow_up is None
                if untold and driver.history.state is State.SUCCEEDED:
                    # the last answer may not have been heard
                    driver.voice.publish(events.RunEnd(driver.history.seq, result_of(driver.history)))
                if driver.history.started is not None and driver.history.state not in ENDS:
                    driver.voice.publish(events.RunResumed(session, driver.history.run))
                await driver.begin(records)
                if self._crew is not None:
                    self._crew.take_up(driver)
                await driver.drive()
                if driver.broken is None and may_ask(driver.history):
                    await self._summarise(driver)
        except Exception as error:
            lost = Failed("internal_error", f"{type(error).__name__}: {error}")
            driver.voice.publish(events.RunEnd(None, failed(driver.history, lost)))
            raise
        finally:
            listener.cancel()
            if self._crew is not None:
                await self._crew.stop(driver, lost=driver.broken is not None)
            del self._drivers[session]
        result = failed(driver.history, driver.broken) if driver.broken else result_of(driver.history)
        if self._output is not None and result.succeeded:
            result = attrs.evolve(result, output=self._output.value(result.output, driver.history))
        driver.voice.publish(events.RunEnd(None if driver.broken else driver.history.seq, result))
        if driver.broken:
            await self._reopen(driver.journal)
        if driver.caller_cancelled:
            raise asyncio.CancelledError
        return result

    async def _opened(
        self, driver: Driver, opening: Opening, heard: tuple[HookResult, ...]
    ) -> tuple[Record, ...] | None:
        """What is to be committed first; None if there is nothing to do."""
        moved = driver.catch_up()
        records = opening.records(driver.history, self._run_started(driver), waiting=driver.words_wait)
        if records is None:
            return () if moved else None  # the move has to be durable
        records = with_hooks(tuple([await self._told(record, driver) for record in records]), heard)
        if driver.words_wait and driver.history.questions:
            return (*await driver.inputs(), *records)  # what was posted while it rested is an answer
        return records

    async def _told(self, record: Record, driver: Driver) -> Record:
        """The record with what the host has to say in it: a run's layers are read when it begins."""
        match record:
            case RunStarted():
                read = layers(self._system, self._system_from, self._prompt, self._workspace_name, os.environ)
                return attrs.evolve(record, layers=read)
            case UserInput() if self._prompt.runtime:
                told = await asyncio.to_thread(runtime_context, self._workspace_name, self._clock.now())
                return record if told == driver.history.context else attrs.evolve(record, context=told)
        return record

    async def _summarise(self, driver: Driver) -> None:
        try:
            await driver.summarise()
        except asyncio.CancelledError:
            driver.caller_cancelled = True  # the run rests already; only its caller goes

    async def _reopen(self, broken: Journal) -> None:
        """A store that failed is left as it is: what is durable is read anew by whoever resumes."""
        if self._journal is broken:
            self._journal = self._open_journal()
            if self._journal is not broken:  # the caller's own journal is the caller's to open again
                with suppress(JournalError):
                    await broken.close()

    async def _driver(self, claim: Claim, publish: Publish) -> Driver:
        noted = await self._journal.notes(claim.session, 0)  # before anything that takes time: later ones are for us
        history = fold(claim.session, await self._journal.read(claim.session))
        going_on = history.started if history.state not in ENDS else None
        schema = (history.contract if going_on else self._contract).output_schema
        tools = offered(self._tools, going_on.only if going_on else self._only)
        tools = for_contract(searchable(tools, self._defer), schema, self._output)
        ports = (self._providers, tools, self._workspace, self._clock, self._journal)
        world = World(
            *ports,
            claim,
            self._prices,
            limits=self._limits,
            hooks=self._hooks,
            verifier=self._verifier,
            outputs=self._state_dir / "output",
        )
        redactor = self._redactor()
        voice = Voice(redactor, _heard(publish))
        driver = Driver(self._graph, world, self._journal, claim, history, redactor, voice, self._prestart)
        driver.stale_notes = max((note.number for note in noted), default=0)
        driver.approver = self._on_approval
        driver.words_wait = any(note.text is not None and note.number > history.noted for note in noted)
        return driver

    def _check_resumable(self, history: History) -> None:
        """A run goes on under the table that it began with, and with what its contract needs. Raises ConfigError."""
        if history.started is None or history.state in ENDS:
            return
        if history.started.graph != graph_digest(self._graph):
            raise ConfigError(
                f"the run of session {history.session!r} was started under another table; resume it with that table "
                "(graph=...), or begin a new session"
            )
        apart = apart_of(history.started.workspace)
        if apart and apart != self._workspace_name:
            raise ConfigError(
                f"session {history.session!r} works in a worktree; resume the run that called it, or resume it with "
                f"workspace={apart!r} (on the command line: --workspace, with this --journal)"
            )
        check_contract(history.contract, self._workspace)
        owed = history.contract.output_schema
        if self._output and (not owed or schema_digest(owed) != schema_digest(self._output.schema)):
            raise ConfigError(
                f"the run of session {history.session!r} was started with "
                f"{'another output schema' if owed else 'no output schema'}; resume it with that one (or without "
                "output=...), or begin a new session"
            )

    def _run_started(self, driver: Driver) -> RunStarted:
        specs = driver.tools.specs
        return RunStarted(
            driver.history.run + 1,
            graph_digest(self._graph),
            tools_digest(specs),
            self.models[0],
            self._system + (OUTPUT if self._contract.output_schema else ""),
            self._workspace_name,
            self._contract,
            self._budget,
            self._permission,
            tuple(spec.name for spec in specs),
            self._workspace is not None,
            *((self._lineage.parent, self._lineage.agent, self._lineage.depth) if self._lineage else ("", "", 0)),
            self._only,
            driver.history.rules if driver.history.started else self._rules,
            self.models[1:],
            window=self._window,
        )

    async def _listen(self, driver: Driver) -> None:
        """Take cancellations that other processes post; inputs are taken by the run itself."""
        seen = driver.stale_notes
        with suppress(JournalError):  # a store that fails stops the run at its next commit, and says why
            while not driver.cancelled:
                await self._clock.sleep(LISTEN_SECONDS)
                for note in await self._journal.notes(driver.session, seen):
                    seen = note.number
                    if note.text is None:
                        driver.cancel("asked for by another process", note.number)

    async def close(self) -> None:
        """Close the journal, the providers, and what tools are connected to."""
        await self._close_tools()
        await self._close_providers()
        await self._journal.close()

    async def _close_tools(self) -> None:
        if isinstance(self._tools, Living):
            await self._tools.close()

    async def _close_providers(self) -> None:
        for provider in self._to_close:
            await provider.close()

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models that are asked, the first one first."""
        return tuple(provider.model for provider in self._providers)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _heard(publish: Publish) -> Publish:
    """An observer that raises has no vote: the run goes on, and the log says what happened."""

    def shown(event: events.Event) -> None:
        try:
            publish(event)
        except Exception:
            logging.getLogger(__name__).exception("on_event raised; the run goes on")

    return shown


async def _streamed(work: Callable[[Publish], Coroutine[None, None, Result]]) -> AsyncGenerator[events.Event, None]:
    """Events as they come; whoever stops reading ends the work, which then comes to rest."""
    queue: asyncio.Queue[events.Event | None] = asyncio.Queue()
    task = asyncio.create_task(work(queue.put_nowait))
    task.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        task.result()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
