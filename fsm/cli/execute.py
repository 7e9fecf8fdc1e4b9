"""Runs a job for a person at a terminal or for a program: the answer, the questions in between, the exit status."""

import asyncio
import sys
from collections.abc import Callable

import click

from fsm.config import Settings
from fsm.loop import Loop
from fsm.result import RunStatus

from .answer import hear
from .approve import ask
from .ending import end
from .hints import command, unasked
from .stage import Job, Stage
from .status import OF_RUN, Status
from .terminal import errors, say


def execute(
    settings: Settings,
    make_loop: Callable[[], Loop],
    job: Job,
    make_stage: Callable[[], Stage],
) -> Status:
    """Run a job, and go on after each answer that the person gives to calls that wait for one."""
    for warning in unasked(settings):
        say(warning, "yellow")
    stage = make_stage()
    asyncio.run(stage.run(make_loop(), job))
    while (stage.waiting or stage.questions) and _person_is_there(stage):
        try:
            answers = ask(stage.waiting) if stage.waiting else hear(stage.questions)
        except click.Abort:
            stage.interrupted = True
            break
        if answers is None:
            break
        stage = make_stage()
        asyncio.run(stage.run(make_loop(), answers.job(stage.session)))
    return _end(settings, stage)


def _person_is_there(stage: Stage) -> bool:
    return not stage.interrupted and not stage.as_ndjson and sys.stdin.isatty() and errors().is_terminal


def _end(settings: Settings, stage: Stage) -> Status:
    result = stage.result
    if result is None:
        go_on = f"; go on: {command(settings, 'resume', stage.session)}" if stage.started else ""
        say(f"interrupted before the first step of session {stage.session}{go_on}", "yellow")
        return Status.INTERRUPTED
    end(settings, result, stage.waiting, stage.questions)
    resting = result.status is RunStatus.SUSPENDED
    return Status.INTERRUPTED if stage.interrupted and resting else OF_RUN[result.status]
