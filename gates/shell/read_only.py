"""Whether a shell text provably changes nothing: an allowlist of commands, each with an allowlist of its options.

Reading is all that is shown: a command may still take long, print a secret that lies in a file, or look outside the
workspace (`reads_inside` is for that). What is not known to be harmless is not; nothing is ever guessed.
"""

import re
from functools import lru_cache
from typing import Final

from .git_readers import BEFORE, SUBCOMMANDS
from .plain import Command, plain_commands
from .readers import ANYHOW, FED, FIND, READERS, VERSIONS, Reader
from .spelled import Word
from .unclear import Unclear

_BEHIND: Final = re.compile(r"-[A-Za-z0-9]+(/.*)")
"""A path behind short options: `-f/etc/passwd`."""
_XARGS: Final = Reader("0rt", "nLPd", "--null --no-run-if-empty")


@lru_cache(maxsize=512)
def provably_read_only(command: str) -> bool:
    """Whether every command in this shell text is known to change nothing, whichever of them run."""
    try:
        commands = plain_commands(command)
    except Unclear:
        return False
    moved = any(words[0].text == "cd" for words in commands)
    return bool(commands) and all(is_reader(words, moved=moved) for words in commands)


@lru_cache(maxsize=512)
def reads_inside(command: str) -> bool:
    """`provably_read_only`, and every word that could be a path stays under the directory where it runs.

    A link inside that leads outside is not seen. What `xargs` is fed may be any path, so it never counts as inside.
    """
    return provably_read_only(command) and all(stays_inside(words) for words in plain_commands(command))


def stays_inside(words: Command) -> bool:
    """No word of the command leads out of the directory that it begins in."""
    texts = [word.text for word in words]
    if texts[0] == "cd" and (len(texts) != 2 or texts[1].startswith("-") or not texts[1]):
        return False
    if texts[0] == "xargs":
        return False  # it is fed names that nobody has read yet
    return not any(map(_leaves, texts))


def _leaves(text: str) -> bool:
    """An absolute path or a `..`, also behind an option."""
    behind = _BEHIND.fullmatch(text)
    paths = (text, text.partition("=")[2], behind[1] if behind else "")
    return any(path.startswith("/") or ".." in path.split("/") for path in paths if path != "/dev/null")


def is_reader(words: Command, *, moved: bool = False) -> bool:
    """Whether one simple command only looks. moved: it runs after a `cd`, perhaps in somebody else's repository."""
    name, rest = words[0].text, words[1:]
    if name in ANYHOW:
        return True
    if len(rest) == 1 and rest[0].text == "--version" and name in VERSIONS:
        return True
    if name == "git":
        return not moved and _git(rest)
    if name == "find":
        return _find(rest)
    if name == "xargs":
        return _xargs(rest)
    reader = READERS.get(name)
    if name == "command" and (not rest or rest[0].text not in ("-v", "-V")):
        return False
    return reader is not None and _fits(rest, reader)


def _git(words: Command) -> bool:
    while words and words[0].text in BEFORE:
        words = words[1:]
    reader = SUBCOMMANDS.get(words[0].text) if words and not words[0].glob else None
    if reader is None:
        return False
    texts = [word.text for word in words]
    if any("%G" in text or "%(signature" in text or "%(trailers" in text for text in texts):
        return False  # a signature is checked by a program that the configuration names
    return _fits(words[1:], reader)


def _find(words: Command) -> bool:
    if any(_any_name(word) for word in words):
        return False
    left = list(words)
    while left:
        word = left.pop(0)
        if word.text in FIND:
            del left[: FIND[word.text]]
        elif word.text.startswith(("-", "(", ")", "!", ",")) and word.text not in ("-L", "-P", "-H"):
            return False
    return True


def _xargs(words: Command) -> bool:
    place = 0
    while place < len(words) and words[place].text.startswith("-"):
        option = words[place].text
        if option[1:2] in _XARGS.valued and len(option) == 2:
            place += 1
        elif not _option(option, _XARGS) or words[place].glob:
            return False
        place += 1
    return place >= len(words) or (words[place].text in FED and not words[place].glob)


def _fits(words: Command, reader: Reader) -> bool:
    """Whether there are only known options, and arguments that the command may have."""
    free: list[Word] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word.text == "--":
            free += left
            break
        if not word.text.startswith("-") or word.text == "-":
            free.append(word)
        elif word.glob or not _option(word.text, reader):
            return False
        elif _wants_value(word.text, reader) and left:
            left.pop(0)
    if any(_any_name(word) or (word.glob and not reader.globs) for word in words):
        return False
    if reader.program and free and free[0].glob:
        return False
    return reader.free(tuple(word.text for word in free))


def _any_name(word: Word) -> bool:
    """A pattern that may stand for a file that is called like an option."""
    return word.glob and word.text[:1] in "*?["


def _option(text: str, reader: Reader) -> bool:
    if text.startswith("--"):
        return text.partition("=")[0] in reader.long | reader.valued_long
    if reader.numbered and text[1:].isdigit():
        return True
    for letter in text[1:]:
        if letter in reader.valued + reader.tacked:
            return True  # the rest is its value
        if letter not in reader.letters and not (letter in reader.apart and text.endswith(letter)):
            return False
    return True


def _wants_value(text: str, reader: Reader) -> bool:
    """Whether the next word belongs to this option."""
    if text.startswith("--"):
        return "=" not in text and text in reader.valued_long
    for place, letter in enumerate(text[1:], 2):
        if letter in reader.tacked:
            return False
        if letter in reader.valued + reader.apart:
            return place == len(text)
    return False
