"""Commands that only look, with every option that is known to only look. Data.

An option that is not here makes the command one that may do anything: `find -delete`, `sort -o`, `rg --pre`, `git -c`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

import attrs

Words = tuple[str, ...]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _anything(_: Words) -> bool:
    return True


@attrs.frozen
class Reader:
    """One command. `letters` may stand together (`-la`), those of `valued` take a value, as do the long `valued_long`.

    `numbered`: `-20` is an option too. `tacked`: letters whose value, if any, is the rest of the word. `apart`: letters
    whose value is the next word, while the rest of their own word is letters again: they may only stand last.
    `free` judges the arguments that are no options; with `globs` they may be patterns, of which nobody knows how many
    names they become. `program`: the first of them is one, and no pattern.
    """

    letters: str = ""
    valued: str = ""
    long: frozenset[str] = attrs.field(default="", converter=_set)
    valued_long: frozenset[str] = attrs.field(default="", converter=_set)
    numbered: bool = False
    globs: bool = True
    program: bool = False
    tacked: str = ""
    apart: str = ""
    free: Callable[[Words], bool] = _anything


def at_most(count: int) -> Callable[[Words], bool]:
    return lambda words: len(words) <= count


ANYHOW: Final = _set("""
    ls dir cat head tail wc nl tac rev cut tr paste comm cmp fold expand unexpand od hexdump stat du df
    grep egrep fgrep basename dirname realpath readlink pwd true false : echo uname whoami id groups nproc arch
    cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum seq expr cd uptime free tsort
""")
"""Commands none of whose options writes, runs or sends anything, or shows an environment (`ps e` does)."""

FED: Final = ANYHOW - _set("cd : true false pwd")
"""Those that `xargs` may feed, since whatever it feeds them does no harm."""

_SED: Final = re.compile(
    r"""
    (?: (?:\d+|\$)(?:,\+?(?:\d+|\$))? | /[^/\\\n]+/(?:,/[^/\\\n]+/|,\d+|,\$)? )? \s* !? \s* [pdq=]
    | s(?P<mark>[/|,#:@]) (?:(?!(?P=mark))[^\\\n]|\\[^\n])* (?P=mark)
      (?:(?!(?P=mark))[^\\\n]|\\[^\n])* (?P=mark) [gpiI0-9]*
    """,
    re.VERBOSE,
)
"""Scripts of sed that print, leave out or replace: no `w`, `e`, `r`, `W`, and one command only."""
_AWK: Final = re.compile(r"[|>@`]|system|getline|close|fflush|ENVIRON|PROCINFO|ARGV|ARGC")
"""What a program of awk needs to write or run anything, to show the environment, or to choose other files; the harmless
use is refused too."""
_ENVIRONMENT: Final = re.compile(r"\benv\b|\$ENV|\bimport\b|\binclude\b")
"""What a program of jq needs to show the environment or to read a file that it names itself."""
_FORMAT: Final = re.compile(r"(?:[^%]|%[-0-9.]*[sdiuxXcfgq]|%%)*")
"""Formats of printf without `%n`, `%b` and `%(...)T`, the first of which runs what stands in an index."""
_TESTS: Final = _set("-e -f -d -r -w -x -s -L -h -n -z = == != ! -a -o ( ) -nt -ot -ef")


def _prints(words: Words) -> bool:
    return bool(words) and not words[0].startswith("-") and _FORMAT.fullmatch(words[0]) is not None


def _dates(words: Words) -> bool:
    return all(word.startswith("+") for word in words)


def _scripted(words: Words) -> bool:
    return bool(words) and _SED.fullmatch(words[0].strip(" ")) is not None


def _awk(words: Words) -> bool:
    return bool(words) and not _AWK.search(words[0])


def _jq(words: Words) -> bool:
    return not any(_ENVIRONMENT.search(word) for word in words)


def _tested(words: Words) -> bool:
    return all(not word.startswith("-") or word in _TESTS for word in words)


READERS: Final[Mapping[str, Reader]] = {
    "awk": Reader(valued="Fv", program=True, free=_awk),
    "column": Reader("tx", "scN", "--table"),
    "command": Reader("vV"),
    "date": Reader(
        "uR", "dr", "--utc --universal --iso-8601 --rfc-3339 --rfc-email", "--date --reference", free=_dates,
        globs=False,
    ),
    "diff": Reader(
        "uUcCrNqwbBiyaEdsZTtp", "", "--brief --unified --recursive --new-file --color --side-by-side "
        "--ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --text --minimal "
        "--report-identical-files --strip-trailing-cr --suppress-common-lines --no-dereference",
        "--exclude --label",
    ),
    "fd": Reader(
        "HIaugpis0", "tedE", "--hidden --no-ignore --absolute-path --glob --follow --full-path --ignore-case "
        "--case-sensitive --print0", "--type --extension --max-depth --exclude",
    ),
    "file": Reader("bikLhN", "", "--brief --mime --mime-type --mime-encoding --dereference"),
    "jq": Reader(
        "rcSsneMCj", "", "--raw-output --compact-output --sort-keys --slurp --null-input --exit-status "
        "--monochrome-output --color-output --join-output --tab --raw-input", program=True, free=_jq,
    ),
    "printf": Reader(free=_prints, globs=False),
    "rg": Reader(
        "nNHIiSswxvlcouUPFLabp.0q", "eACBmgtTjMrdE",
        "--line-number --no-line-number --ignore-case --smart-case --case-sensitive --word-regexp --line-regexp "
        "--invert-match --files --files-with-matches --files-without-match --count --count-matches --only-matching "
        "--no-ignore --no-ignore-vcs --hidden --multiline --multiline-dotall --pcre2 --fixed-strings --follow --text "
        "--heading --no-heading --with-filename --no-filename --column --vimgrep --json --stats --quiet --pretty "
        "--null --trim --no-messages --no-config --type-list --passthru --unrestricted --color --colors",
        "--regexp --after-context --before-context --context --max-count --glob --iglob --type --type-not --threads "
        "--max-depth --max-columns --max-filesize --sort --sortr --replace --encoding",
    ),
    "sed": Reader(
        "nErszu", "", "--quiet --silent --regexp-extended --separate --null-data --unbuffered", program=True,
        free=_scripted,
    ),
    "sort": Reader(
        "bdfgiMhnrRVcCmsuz", "kt", "--ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort "
        "--month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --check --merge "
        "--stable --unique --zero-terminated", "--key --field-separator",
    ),
    "test": Reader("efdrwxsLhnzao", free=_tested, globs=False),
    "tree": Reader(
        "adfisphDCnFlugQ", "", "--dirsfirst --noreport --gitignore --prune --du --si", "--filelimit", apart="PIL"
    ),
    "type": Reader("atpP"),
    "uniq": Reader(
        "cdDuiz", "fsw", "--count --repeated --unique --ignore-case --zero-terminated",
        "--skip-fields --skip-chars --check-chars", free=at_most(1), globs=False,
    ),
    "which": Reader("a"),
}  # fmt: skip

FIND: Final[Mapping[str, int]] = {
    **dict.fromkeys(_set("-not -a -and -o -or ! ( ) , -print -print0 -prune -depth -mount -xdev -empty -true"), 0),
    **dict.fromkeys(
        _set("-readable -writable -executable -daystart -follow -noleaf -nouser -nogroup -ls -quit -false"), 0
    ),
    **dict.fromkeys(_set("-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype"), 1),
    **dict.fromkeys(_set("-size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -user -group -perm"), 1),
    **dict.fromkeys(_set("-maxdepth -mindepth -links -inum -lname -ilname -samefile -printf -uid -gid -fstype"), 1),
}
"""Words of an expression of `find`, and how many more each takes. What deletes, runs or writes is not among them."""

VERSIONS: Final = _set("""
    python python3 node npm pnpm yarn bun deno go rustc cargo ruby java javac gcc g++ clang make cmake git docker pytest
    ruff mypy uv poetry pip pip3 tsc rg fd jq bash
""")
"""Programs that are asked for their version."""
