"""A walk of Hypothesis: it draws what happens next, and shrinks what went wrong."""

import asyncio
from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from .choices import Choice, Chooser, Group
from .replay import Prefix

__all__ = ["Choice", "Group", "Walker"]


class Walker(Chooser, RuleBasedStateMachine):
    """One example. Subclasses, made by `walk.of`, say whose loop is walked."""

    starts: Sequence[Prefix]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.broken = False

    @rule(choice=st.runner().flatmap(lambda self: st.sampled_from(self.groups())).flatmap(st.sampled_from))
    def step(self, choice: Choice) -> None:
        self.step_now(choice)

    def step_now(self, choice: Choice) -> None:
        try:
            self.runner.run(self.perform(choice.do))
        except BaseException:
            self.broken = True
            raise

    def teardown(self) -> None:
        try:
            self.runner.run(self.end(broken=self.broken))
        finally:
            self.runner.close()
