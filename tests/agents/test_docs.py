"""The page about agents is true: its programs run, and its file describes an agent."""

import re
from pathlib import Path

from fsm import Permission, load_agents
from fsm.providers.scripted import Scripted

PAGE = (Path(__file__).parent.parent.parent / "docs" / "agents.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_its_programs_run():
    programs = blocks("python")
    for program in programs:
        exec(compile(program, "docs/agents.md", "exec"), {})  # its own asserts say what is true
    assert programs


def test_its_file_describes_an_agent(tmp_path):
    (tmp_path / "finder.md").write_text(blocks("markdown")[0])
    (agent,) = load_agents(tmp_path, lambda model: Scripted([], model))

    assert (agent.name, agent.permission, agent.budget.max_turns) == ("finder", Permission.PLAN, 10)
    assert agent.provider.model == "small-model"
