"""What each tool's command checks. Data: the words that a command starts with, by the kinds that it proves."""

from collections.abc import Mapping
from typing import Final

_BY_KIND: Final[Mapping[str, str]] = {
    "test": """
        pytest | py.test | -m unittest | nose2 | trial | behave | robot | tox | nox | manage.py test | hatch test
        jest | vitest | mocha | ava | tap | jasmine | karma start | cypress run | playwright test | react-scripts test
        ng test | bun test | deno test | wtr
        go test | gotestsum | ginkgo
        cargo test | cargo nextest run | cargo t
        ctest | meson test | bazel test | bazelisk test | buck2 test | zig build test
        sbt test | lein test | clojure -M:test | scala-cli test
        dotnet test | swift test | xcodebuild test | flutter test | dart test
        rspec | rails test | phpunit | pest | mix test | stack test | cabal test | prove | busted | bats
    """,
    "lint": """
        ruff check | flake8 | pylint | pycodestyle | pydocstyle | bandit | pre-commit run
        eslint | biome check | biome lint | biome ci | oxlint | tslint | stylelint | standard | xo | next lint
        ng lint | deno lint
        go vet | golangci-lint run | staticcheck | revive
        cargo clippy
        cppcheck | clang-tidy | shellcheck | hadolint | yamllint | markdownlint | actionlint
        ktlint | detekt | checkstyle | scalafix | scalastyle
        rubocop | standardrb | phpcs | phpstan analyse | phpstan analyze | psalm | credo | mix credo | hlint
        swiftlint | dart analyze | flutter analyze | tflint | buf lint
    """,
    "type-check": """
        mypy | dmypy run | pyright | basedpyright | pyre check | pytype | ty check | pyrefly check
        tsc | tsc --build | tsc -b | vue-tsc | svelte-check | astro check | flow check | deno check
        cargo check | cargo c | dotnet build | mix dialyzer | sorbet tc | srb tc | steep check
    """,
    "build": """
        -m build | hatch build | uv build | poetry build | pdm build | flit build | maturin build
        vite build | webpack | rollup | esbuild | parcel build | next build | nuxt build | astro build | ng build
        react-scripts build | bun build | tsup | tsc --build | tsc -b | turbo build | turbo run build
        go build | go install | cargo build | cargo b
        cmake --build | ninja | meson compile | bazel build | bazelisk build | buck2 build | zig build
        sbt compile | sbt package | lein uberjar | scala-cli compile
        dotnet build | dotnet publish | swift build | xcodebuild build | flutter build | dart compile
        mix compile | stack build | cabal build
    """,
}


def _starts(listed: Mapping[str, str]) -> dict[tuple[str, ...], tuple[str, ...]]:
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for kind, text in listed.items():
        for line in text.split("\n"):
            for start in filter(None, map(str.strip, line.split("|"))):
                found[tuple(start.split())] = (*found.get(tuple(start.split()), ()), kind)
    return found


STARTS: Final = _starts(_BY_KIND)
"""First words of a command -> kinds. The longest start that fits counts."""
KNOWN: Final = tuple(_BY_KIND)
"""The kinds, in the order in which they are told."""
MODULES: Final = frozenset({
    "basedpyright", "bandit", "behave", "build", "flake8", "mypy", "nose2", "nox", "pre_commit", "pycodestyle",
    "pydocstyle", "pylint", "pyright", "pytest", "robot", "ruff", "tox", "trial", "unittest",
})  # fmt: skip
"""Modules that `python -m` may start. `-m build` and `-m unittest` are commands in this form only."""
