"""Agents that are described in files, and what is said about files that describe none."""

import pytest

from fsm import Budget, Permission, load_agents
from fsm.providers.scripted import Scripted
from states.errors import ConfigError

WHOLE = """---
name: scout
description: Finds things.
tools: read_file, grep
permission: plan
budget:
  max_turns: 5
  tokens: 1000
---
You find things.

Say where they are.
"""


def described(folder, text, name="scout"):
    (folder / f"{name}.md").write_text(text)
    return load_agents(folder)


def test_a_file_says_everything_about_an_agent(tmp_path):
    (agent,) = described(tmp_path, WHOLE)

    assert (agent.name, agent.description) == ("scout", "Finds things.")
    assert agent.prompt == "You find things.\n\nSay where they are."
    assert agent.tools == ("read_file", "grep")
    assert agent.permission is Permission.PLAN
    assert agent.budget == Budget(max_turns=5, tokens=1000)
    assert agent.provider is None


def test_what_a_file_does_not_say_is_its_callers(tmp_path):
    (agent,) = described(tmp_path, "---\ndescription: d\ntools: [a, b]\nmodel: inherit\n---\nprompt")

    assert (agent.name, agent.tools, agent.permission, agent.budget) == ("scout", ("a", "b"), None, Budget())


def test_agents_come_in_the_order_of_their_files_and_none_from_no_folder(tmp_path):
    for name in ("b", "a"):
        described(tmp_path, "---\ndescription: d\n---\np", name)

    assert [agent.name for agent in load_agents(tmp_path)] == ["a", "b"]
    assert load_agents(tmp_path / "nowhere") == []


def test_a_model_that_is_named_is_made_by_whoever_can(tmp_path):
    (tmp_path / "scout.md").write_text("---\ndescription: d\nmodel: small\n---\np")
    (agent,) = load_agents(tmp_path, lambda name: Scripted([], name))

    assert agent.provider.model == "small"
    with pytest.raises(ConfigError, match="it names the model 'small'; give load_agents a provider_for"):
        load_agents(tmp_path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no front matter", "must begin with front matter"),
        ("---\ndescription: [\n---\np", "no YAML"),
        ("---\njust words\n---\np", "has no keys"),
        ("---\ndescription: d\ncolour: red\n---\np", "unknown key 'colour'; known: name"),
        ("---\nname: s\n---\np", "its description is empty"),
        ("---\ndescription: d\n---\n", "its prompt is empty"),
        ("---\ndescription: d\ntools: 3\n---\np", "tools: 3 is no list of names"),
        ("---\ndescription: d\nbudget: 3\n---\np", "budget: 3 is no mapping of max_turns"),
        ("---\ndescription: d\nbudget: {max_turns: -1}\n---\np", "budget: max_turns must be positive"),
        ("---\ndescription: d\npermission: all\n---\np", "unknown permission 'all'"),
    ],
)
def test_a_file_that_describes_no_agent_is_named_with_the_reason(tmp_path, text, why):
    with pytest.raises(ConfigError, match=rf"scout\.md: .*{why}".replace("\\.md", r"\.md")):
        described(tmp_path, text)
