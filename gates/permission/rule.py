"""One rule: a pattern of tool names, and a pattern of what a call is about."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

import attrs

from gates.shell.parts import Part, parts_of
from gates.shell.plain import plain_commands
from gates.shell.read_only import is_reader, stays_inside
from gates.shell.unclear import Unclear
from states.errors import ConfigError
from states.records import JSON

from .paths import fits, path_of

_RULE: Final = re.compile(r"([A-Za-z0-9_*?-]+)(?:\((.*)\))?", re.DOTALL)
_ARGUMENT: Final = re.compile(r"([A-Za-z_][\w-]*)=(.*)", re.DOTALL)
ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "Bash": ("bash",),
    "Read": ("read_file",),
    "Write": ("write_file",),
    "Edit": ("edit_file", "write_file", "apply_patch"),
    "Glob": ("glob",),
    "Grep": ("grep",),
    "LS": ("list_dir",),
    "Task": ("task",),
}
"""Names that people know from Claude Code."""
SHELL: Final = "bash"


@attrs.frozen
class Rule:
    """`said` is the rule as it was written; `pattern` None stands for every call of the tools."""

    said: str
    names: tuple[str, ...]
    pattern: str | None = None

    def names_tool(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.names)

    def covers(self, name: str, arguments: JSON, root: str) -> bool:
        """Whether the whole call is one that this rule means: of a shell text every command. For `allow`."""
        if not self.names_tool(name) or self.pattern is None:
            return self.names_tool(name)
        if name != SHELL:
            return _argument_fits(self.pattern, arguments, root) is True
        return _covered(_command(arguments), (self.pattern,))

    def touches(self, name: str, arguments: JSON, root: str) -> bool | None:
        """Whether any part of the call is one that this rule means; None if that cannot be told. For `ask`, `deny`."""
        if not self.names_tool(name) or self.pattern is None:
            return self.names_tool(name)
        if name != SHELL:
            return _argument_fits(self.pattern, arguments, root)
        parts = parts_of(_command(arguments))
        if _command(arguments).strip() == _unescaped(self.pattern):
            return True
        if any(_shell(self.pattern, part.text) for part in parts.commands):
            return True
        return False if parts.whole and not any(_might(self.pattern, part) for part in parts.commands) else None


@lru_cache(maxsize=1024)
def parse_rule(said: str) -> Rule:
    """Raises ConfigError for a text that is no rule."""
    read = _RULE.fullmatch(said.strip())
    if read is None:
        raise ConfigError(
            f"{said!r} is no rule; write a tool such as `bash`, or `bash(git status*)`, `edit_file(src/**)`"
        )
    name, pattern = read[1], read[2]
    everything = pattern is None or pattern.strip() in ("", "*", "**", ":*")
    return Rule(said.strip(), ALIASES.get(name, (name,)), None if everything else pattern.strip())


def _command(arguments: JSON) -> str:
    command = arguments.get("command") if isinstance(arguments, dict) else None
    return command if isinstance(command, str) else ""


# --- shell texts ------------------------------------------------------------------------------------------------


def covering_together(rules: tuple[Rule, ...], name: str, arguments: JSON) -> Rule | None:
    """The first rule that has a part in it, if every command of a shell text is meant by one of them, or only reads."""
    ours = [rule for rule in rules if rule.pattern is not None and rule.names_tool(name)]
    if name != SHELL or not _covered(_command(arguments), tuple(rule.pattern or "" for rule in ours)):
        return None
    return next((rule for rule in ours if rule.touches(name, arguments, "")), None)


def _covered(text: str, patterns: tuple[str, ...]) -> bool:
    if not patterns:
        return False
    if any(text.strip() == _unescaped(pattern) for pattern in patterns):
        return True
    try:
        commands = plain_commands(text)
    except Unclear:
        return False
    moved = any(words[0].text == "cd" for words in commands)
    said = [Part(tuple(word.text for word in words)).text for words in commands]
    meant = [any(_shell(pattern, one) for pattern in patterns) for one in said]
    return any(meant) and all(
        is_meant or (is_reader(words, moved=moved) and stays_inside(words))
        for is_meant, words in zip(meant, commands, strict=True)
    )


def _might(pattern: str, part: Part) -> bool:
    """A command with a word that nobody knows yet could still become what the pattern means."""
    first = pattern.split(maxsplit=1)[0].removesuffix(":*")
    return not part.known and fnmatchcase(part.words[0], first)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> "re.Pattern[str]":
    """`*` is any text; at the end, ` *` and `:*` also stand for nothing at all. A backslash takes the meaning away."""
    ending = ""
    for end in (":*", " *"):
        if pattern.endswith(end) and not pattern.endswith("\\" + end):
            pattern, ending = pattern.removesuffix(end), r"(?: .*)?"
    parts = re.split(r"(\\.|\*|\?)", pattern.strip(), flags=re.DOTALL)
    meant = (".*" if p == "*" else "." if p == "?" else re.escape(p[1:] if p[:1] == "\\" else p) for p in parts)
    return re.compile("".join(meant) + ending, re.DOTALL)


def _shell(pattern: str, text: str) -> bool:
    return _compiled(pattern).fullmatch(text) is not None


def _unescaped(pattern: str) -> str | None:
    """The one text that a pattern without `*` and `?` means."""
    if re.search(r"(?<!\\)(?:\\\\)*[*?]", pattern):
        return None
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL).strip()


# --- other tools ------------------------------------------------------------------------------------------------


def _argument_fits(pattern: str, arguments: JSON, root: str) -> bool | None:
    """By path, where the call has one; by one named argument otherwise. None if the call has neither."""
    given = arguments if isinstance(arguments, dict) else {}
    named = _ARGUMENT.fullmatch(pattern)
    if named is not None and (named[1] in given or path_of(given) is None):
        if named[1] not in given:
            return False
        value = given[named[1]]
        return _shell(named[2], value if isinstance(value, str) else _spelled(value))
    path = path_of(given)
    return None if path is None else fits(path, pattern, root)


def _spelled(value: JSON) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
