"""Options with which a command checks nothing, hides its failure, changes what it checks, or leaves a part out. Data.

A part proves nothing about the rest, so what selects by name or expression (`-k`, `-run`, `--filter`) does not count.
Paths do: how a project is laid out is its own business.
"""

from collections.abc import Mapping
from typing import Final

import attrs


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


EVERYWHERE: Final = _set("""
    --help --version --dry-run --dryrun --list --list-tests --listTests --print-config --showConfig --show-config --init
    --clean --watch --watchAll --write --update --update-snapshot --updateSnapshot --exit-zero --passWithNoTests
    --pass-with-no-tests --if-present --ignore-scripts --script-shell --no-run -h
""")
"""Refused for every tool."""


@attrs.frozen
class Limits:
    """Of one tool. `options` are refused: as they stand, with `=value` (other than `=false`), or abbreviated.

    `letters`: refused short options that may stand together (`-xk`). `words`: refused as first argument. `free`: there
    may be arguments that are no options. `valued`: options that take a further word. `needs`: one of these has to be
    there. `node_ids`: an argument may be `path::name`.
    """

    options: frozenset[str] = attrs.field(default="", converter=_set)
    letters: str = ""
    words: frozenset[str] = attrs.field(default="", converter=_set)
    free: bool = True
    valued: frozenset[str] = attrs.field(default="", converter=_set)
    needs: frozenset[str] = attrs.field(default="", converter=_set)
    node_ids: bool = True


_JEST: Final = """
    -t --testNamePattern -o --onlyChanged --changedSince --lastCommit -f --onlyFailures --shard --findRelatedTests
    --testPathIgnorePatterns --clearCache -u -v
"""
_VITEST: Final = (
    "-t --testNamePattern --changed --exclude --shard --standalone --mergeReports --ui --typecheck.only -u -v"
)
_MOCHA: Final = "-g --grep -f --fgrep -i --invert -w --ignore --exclude -V"
_PACKAGES: Final = f"{_JEST} {_VITEST} {_MOCHA}"
"""A script can be any runner."""
_DART: Final = "--name --plain-name -n -N -t --tags -x --exclude-tags --update-goldens"

RESPONSE_FILES: Final = frozenset({"pytest", "mypy", "pylint", "ruff", "tsc", "vue-tsc"})
"""Tools that take `@file` for options which stand in a file."""

LIMITS: Final[Mapping[str, Limits]] = {
    "pytest": Limits(
        """--co --collect-only --collectonly --fixtures --fixtures-per-test --funcargs --markers --setup-plan
        --setup-only --cache-show
        --deselect --ignore --ignore-glob --last-failed --lf --stepwise --sw --stepwise-skip --sw-skip
        --testmon --picked --suppress-no-test-exit-code --suppress-tests-failed-exit-code --snapshot-update
        --force-regen --regen-all --override-ini --pyargs""",
        letters="kmhVoc",
        node_ids=False,
    ),
    "unittest": Limits(letters="kh"),
    "tox": Limits(
        "--notest --listenvs --listenvs-all --showconfig --devenv --skip-env",
        letters="lanh",
        words="l list c config d devenv q quickstart e exec de depends schema man",
    ),
    "nox": Limits("--list-sessions --install-only --json --keywords --tags", letters="lkt"),
    "behave": Limits("--name --tags --include --exclude --wip", letters="ntiedw"),
    "robot": Limits("-t --test -s --suite -i --include -e --exclude -R --rerunfailed --nostatusrc"),
    "jest": Limits(_JEST),
    "react-scripts": Limits(_JEST),
    "vitest": Limits(_VITEST, words="watch dev bench init list related"),
    "mocha": Limits(_MOCHA),
    "ava": Limits("-m --match -u -w --update-snapshots"),
    "playwright": Limits("-g --grep --grep-invert -u --update-snapshots --last-failed --only-changed --shard --ui"),
    "node": Limits(
        """-e --eval -p --print --check -c --test-only --test-name-pattern --test-skip-pattern --test-update-snapshots
        --test-shard -v""",
        needs="--test",
    ),
    "bun": Limits("-t --test-name-pattern --only --todo -u --update-snapshots -v"),
    "deno": Limits("--filter --ignore --permit-no-files --fix -V"),
    "go": Limits("-run -skip -list -c -n -exec -toolexec -vettool -fuzz -overlay"),
    "gotestsum": Limits("-run -skip --rerun-fails"),
    "cargo": Limits(
        """--skip --exact --ignored --fix -E --filterset --filter-expr --run-ignored --no-tests --partition --cap-lints
        -A --allow -V""",
        free=False,
        valued="""-p --package -F --features --manifest-path -j --jobs --test --bin --example --target --target-dir
        --profile -P --config --color --message-format -Z --test-threads --cargo-profile --retries -D --deny -W
        --warn""",
    ),
    "ctest": Limits("""
        -N --show-only -R --tests-regex -E --exclude-regex -L --label-regex -LE --label-exclude -I --tests-information
        -U -FA -FS -FC --rerun-failed --print-labels --no-tests
    """),
    "mvn": Limits("""
        -fn --fail-never -v -rf --resume-from -N --non-recursive -Dtest -Dit.test -DskipTests -DskipITs
        -Dmaven.test.skip -Dmaven.test.failure.ignore -DfailIfNoTests
    """),
    "gradle": Limits("""
        --tests -x --exclude-task -m -t --continuous --test-dry-run -v -I --init-script -b --build-file -PskipTests
        -DskipTests -Dtest.single
    """),
    "dotnet": Limits("--filter -t -?"),
    "swift": Limits("--filter --skip -l"),
    "xcodebuild": Limits("-n -dry-run -list -only-testing -skip-testing -showBuildSettings -version"),
    "flutter": Limits(_DART),
    "dart": Limits(_DART),
    "rspec": Limits("-e --example -E --example-matches -t --tag --only-failures --next-failure -v"),
    "phpunit": Limits("--filter --exclude-filter --group --exclude-group --list-groups --list-suites"),
    "mix": Limits("--only --exclude --failed --stale"),
    "bats": Limits("-f --filter --filter-tags --filter-status -c --count"),
    "prove": Limits("-D --dry"),
    "bazel": Limits("--test_filter --nobuild --test_tag_filters --check_tests_up_to_date"),
    "ruff": Limits(
        """--fix --fix-only --add-noqa --show-files --show-settings --select --ignore --extend-ignore --exclude
        --extend-exclude --per-file-ignores --isolated --config --diff""",
        letters="ehwV",
    ),
    "flake8": Limits("--select --ignore --extend-ignore --exclude --extend-exclude --per-file-ignores --bug-report"),
    "pylint": Limits(
        """--list-msgs --list-msgs-enabled --list-groups --list-conf-levels --list-extensions --help-msg --fail-under
        --disable --enable --errors-only --ignore --ignore-paths --ignore-patterns --generate-rcfile
        --generate-toml-config""",
        letters="edEh",
    ),
    "bandit": Limits("--tests --skip --severity-level --confidence-level", letters="lits"),
    "pre-commit": Limits(needs="--all-files -a"),
    "eslint": Limits("""
        --fix --fix-dry-run --fix-type --env-info --ignore-pattern --rule --prune-suppressions --suppress-all
        --suppress-rule --pass-on-unpruned-suppressions --no-eslintrc --no-config-lookup --pass-on-no-patterns
        --no-error-on-unmatched-pattern -v
    """),
    "biome": Limits("""
        --fix --apply --apply-unsafe --suppress --only --skip --changed --staged --since --no-errors-on-unmatched
    """),
    "oxlint": Limits("--fix --fix-suggestions --fix-dangerously -A --allow --rules --ignore-pattern"),
    "stylelint": Limits("--fix --allow-empty-input --aei"),
    "standard": Limits("--fix"),
    "xo": Limits("--fix"),
    "tslint": Limits("--fix"),
    "golangci-lint": Limits("""
        --fix --issues-exit-code --new --new-from-rev --new-from-patch --new-from-merge-base -n -D --disable
        --disable-all --enable-only --exclude -e --default
    """),
    "cppcheck": Limits("--errorlist --suppress -i --error-exitcode=0", needs="--error-exitcode"),
    "clang-tidy": Limits("""
        --fix -fix --fix-errors -fix-errors --fix-notes -fix-notes --list-checks -list-checks --checks -checks
        --config -config
    """),
    "shellcheck": Limits("-e --exclude -i --include -S --severity --list-optional -V"),
    "rubocop": Limits("""
        -a --autocorrect -A --autocorrect-all --auto-correct -x --fix-layout -l --lint --only --except --fail-level
        --auto-gen-config -L --list-target-files -v -V
    """),
    "ktlint": Limits("-F --format"),
    "detekt": Limits("-ac --auto-correct"),
    "hadolint": Limits("--no-fail --ignore"),
    "phpstan": Limits("--generate-baseline -b"),
    "psalm": Limits("--alter --set-baseline --update-baseline"),
    "mypy": Limits("--exclude", letters="cmhV"),
    "pyright": Limits("--createstub --verifytypes -w --skipunannotated"),
    "basedpyright": Limits("--createstub --verifytypes -w --skipunannotated --writebaseline"),
    "ty": Limits("--exclude --ignore --add-ignore --fix"),
    "pyrefly": Limits("--suppress-errors --remove-unused-ignores"),
    "tsc": Limits("--listFilesOnly --noCheck --all --dry -w -v"),
    "vue-tsc": Limits("--listFilesOnly --noCheck --all --dry -w -v"),
    "svelte-check": Limits("--ignore"),
    "make": Limits(
        """--file --makefile --ignore-errors --just-print --recon --question --touch --old-file --assume-old --new-file
        --what-if --assume-new --eval --environment-overrides --print-data-base""",
        letters="nfiqtpvhoWeE",
    ),
    "just": Limits("--show -s --summary --evaluate --dump --choose --edit -e --fmt --set -n -l -f --justfile"),
    "task": Limits("--dry -n --list-all -l --summary --status -t --taskfile -w"),
    "npm": Limits(_PACKAGES),
    "pnpm": Limits(_PACKAGES),
    "yarn": Limits(_PACKAGES),
    "ninja": Limits("-n -t", words="clean"),
    "cmake": Limits("--target -t"),
    "meson": Limits("--suite --no-suite"),
    "webpack": Limits("-w", words="serve server s watch w init info i configtest t version v help h"),
    "rollup": Limits("-w -v"),
    "esbuild": Limits("--serve"),
    "vite": Limits("-w"),
}
"""By the tool's name."""
