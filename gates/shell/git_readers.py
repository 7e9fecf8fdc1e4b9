"""Subcommands of git that only look. Data, like `readers`.

Not here: what asks a remote, `--output`, `--ext-diff`, `--textconv`, signatures (they run a program), `-c` and `-C`.
Their options take a value as the next word only where git says that they must: after `-U`, whose value may be missing,
the next word is an option again. What a repository's own configuration runs, the tool asks git
(`fsm/workspace/programs`).
"""

from collections.abc import Mapping
from typing import Final

from .readers import Reader, Words, at_most

_DIFF: Final = """
    --stat --shortstat --numstat --dirstat --compact-summary --summary --name-only --name-status --cached --staged
    --no-color --color --color-words --word-diff --patch --no-patch --unified --raw --minimal --patience --histogram
    --no-ext-diff --no-textconv --text --ignore-all-space --ignore-space-change --ignore-space-at-eol
    --ignore-blank-lines --check --exit-code --quiet --relative --no-relative --find-renames --find-copies --no-renames
    --function-context --merge-base --submodule --ignore-submodules --abbrev --full-index --binary --no-prefix
    --pickaxe-all --pickaxe-regex --diff-algorithm --patch-with-stat --patch-with-raw --no-index
"""
_DIFF_VALUED: Final = "--diff-filter --inter-hunk-context --src-prefix --dst-prefix"
_LOG: Final = """
    --oneline --graph --decorate --no-decorate --all --branches --tags --remotes --invert-grep --all-match --merges
    --no-merges --first-parent --reverse --follow --date-order --topo-order --author-date-order --abbrev-commit
    --left-right --cherry-pick --cherry-mark --cherry --boundary --simplify-by-decoration --full-history --source
    --pretty --format --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --parents --children
    --no-walk --left-only --right-only --count --log-size --no-notes --walk-reflogs --date --max-count --skip --since
    --until --after --before --author --committer --grep
"""
_LOG_VALUED: Final = "--max-count --skip --since --until --after --before --author --committer --grep --date"

_SHOWN: Final = Reader(
    "pumsawbzRDBMCtcEFPigqW", "nSGL", f"{_DIFF} {_LOG}", f"{_DIFF_VALUED} {_LOG_VALUED}", numbered=True, tacked="U"
)


def _words(*known: str) -> Reader:
    """Exactly one of these words comes first, and nothing that matters after it."""
    return Reader(free=lambda words: bool(words) and words[0] in known, globs=False)


def _gets(words: Words) -> bool:
    return len(words) == 2 and words[0] == "get-url"


SUBCOMMANDS: Final[Mapping[str, Reader]] = {
    "blame": Reader("wMCesltpfn", "L", "--porcelain --line-porcelain --show-email --date --root"),
    "branch": Reader(
        "arv", "", "--all --remotes --verbose --show-current --no-color --color --column --no-column",
        "--contains --no-contains --merged --no-merged --sort --points-at --format", free=at_most(0), globs=False,
    ),
    "cat-file": Reader("tsep"),
    "check-ignore": Reader("vqn", "", "--verbose --quiet --no-index --non-matching"),
    "count-objects": Reader("vH"),
    "describe": Reader("", "", "--tags --all --long --always --dirty --abbrev --contains --first-parent", "--match"),
    "diff": _SHOWN,
    "diff-tree": Reader("rtpz", "", f"{_DIFF} --root --no-commit-id", _DIFF_VALUED),
    "for-each-ref": Reader("", "", "--count --sort --format", "--contains --merged --points-at"),
    "grep": Reader(
        "nHhiwlLcvpWEFPGIqzo", "eABC", "--line-number --ignore-case --word-regexp --files-with-matches --count "
        "--invert-match --cached --untracked --no-index --show-function --function-context --break --heading "
        "--fixed-strings --extended-regexp --perl-regexp --all-match --and --or --not --only-matching --column "
        "--no-color --color --max-depth --quiet --name-only", "--after-context --before-context --context",
        numbered=True,
    ),
    "log": _SHOWN,
    "ls-files": Reader(
        "cdmoiskuzt", "x", "--cached --deleted --modified --others --ignored --stage --unmerged --killed "
        "--exclude-standard --full-name --error-unmatch --abbrev --deduplicate", "--exclude",
    ),
    "ls-tree": Reader("drtlz", "", "--name-only --name-status --full-name --full-tree --long --abbrev"),
    "merge-base": Reader("a", "", "--all --is-ancestor --octopus --independent --fork-point"),
    "name-rev": Reader("", "", "--name-only --tags --all --always"),
    "reflog": Reader(
        "n", "", "--oneline --date --pretty --format --all", "--max-count",
        free=lambda words: words[:1] in ((), ("show",)), numbered=True, globs=False,
    ),
    "remote": Reader("v", "", "--verbose", free=lambda words: not words or _gets(words), globs=False),
    "rev-list": Reader("n", "", f"{_LOG} --objects --count --not", _LOG_VALUED, numbered=True),
    "rev-parse": Reader(
        "q", "", "--show-toplevel --abbrev-ref --short --verify --quiet --git-dir --is-inside-work-tree --show-prefix "
        "--symbolic-full-name --symbolic --absolute-git-dir --show-cdup --is-bare-repository --git-common-dir",
    ),
    "shortlog": Reader("sne", "", "--summary --numbered --email --no-merges --all --since --until", ""),
    "show": _SHOWN,
    "show-ref": Reader("dsq", "", "--heads --tags --head --hash --abbrev --dereference"),
    "stash": _words("list", "show"),
    "status": Reader(
        "svbuz", "", "--short --branch --porcelain --long --verbose --untracked-files --ignored --show-stash "
        "--ahead-behind --no-ahead-behind --renames --no-renames --column --no-column",
    ),
    "tag": Reader(
        "l", "", "--list --column --no-column", "--sort --contains --merged --points-at --format", free=at_most(0)
    ),
    "version": Reader(free=at_most(0)),
    "worktree": _words("list"),
}  # fmt: skip

BEFORE: Final = frozenset({"--no-pager", "--no-optional-locks", "--literal-pathspecs"})
"""Options of git itself that change nothing of what is done."""
