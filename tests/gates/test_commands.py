"""Which shell texts prove which checks. One table of what counts, one of what does not; both say why they are there."""

import pytest

from gates.commands import EXAMPLES, KINDS, kinds_of, refusal

PROVES = {
    "test": """
        pytest
        pytest -q
        pytest -q tests
        pytest tests/unit/test_a.py -x --maxfail=1
        pytest -n 4 --cov=src --durations=5
        pytest -ra -vv --tb=short
        pytest --import-mode importlib "tests/with space"
        py.test
        python -m pytest
        python3 -m pytest -q
        python3.11 -B -m pytest
        python -X dev -W error -m pytest
        python -m unittest
        python -m unittest discover -s tests -p "test_*.py"
        python manage.py test
        .venv/bin/pytest -q
        ./venv/bin/python -m pytest
        /usr/bin/pytest
        /opt/tools/venv/bin/python3 -m pytest -q
        node_modules/.bin/jest
        uv run pytest -q
        uv run --with pytest-xdist pytest -n 2
        poetry run pytest
        pipenv run pytest
        hatch test
        hatch run test
        hatch run pytest -q
        pdm run test
        coverage run -m pytest
        coverage run --branch --source src -m pytest -q
        python -m coverage run -m pytest
        coverage run -m pytest && coverage report
        tox
        tox -e py311
        tox -p
        nox -s tests
        npm test
        npm t
        npm run test
        npm run test:unit
        npm run -s test
        npm --prefix web test
        npm test -- --coverage
        npm test -w packages/core
        pnpm test
        pnpm -r test
        pnpm --filter core test
        yarn test
        yarn workspace core test
        bun test
        bun run test
        npx jest
        npx vitest run
        npx playwright test
        node --test
        node --import tsx --test
        deno test
        deno task test
        ng test --watch=false
        go test ./...
        go test -race -count=1 ./...
        go test -v ./pkg/a
        gotestsum ./...
        cargo test
        cargo test --workspace --all-features
        cargo test -p core -- --nocapture
        cargo +nightly test
        cargo nextest run
        make test
        make check
        make -C sub test
        make -j4 test V=1
        just test
        task test
        mvn test
        mvn -q -B test
        mvn -pl core test
        ./mvnw test
        gradle test
        ./gradlew :core:test --info
        ctest --output-on-failure
        ctest -V
        meson test
        bazel test //...
        dotnet test --no-build
        swift test
        flutter test
        rspec
        bundle exec rspec
        phpunit
        vendor/bin/phpunit
        composer test
        mix test
        stack test
        bats tests
        CI=1 pytest
        PYTHONPATH=src:$PYTHONPATH pytest
        CI=true NO_COLOR=1 npm test
        export CI=1 && pytest
        cd sub && pytest -q
        cd sub/deeper && cd .. && pytest
        cd /w/repo && pytest
        cd /w/repo/sub && pytest
        cd . && pytest
        (cd sub && pytest)
        { pytest; }
        pytest 2>&1
        pytest > out.log 2>&1
        pytest &> out.log
        pytest >> out.log
        pytest < /dev/null
        pytest 2>/dev/null
        set -o pipefail; pytest | tail -20
        set -o pipefail && pytest 2>&1 | tee out.log
        set -o pipefail; pytest -q | grep -v warning | head -50
        set -euo pipefail; pytest |& tail
        time pytest
        timeout 600 pytest -q
        timeout -k 5 10m pytest
        timeout --signal=KILL 60 pytest
        nice -n 5 pytest
        env CI=1 pytest
        env pytest
        bash -c 'pytest -q'
        sh -c "pytest -q"
        bash -lc 'cd sub && pytest'
        bash -o pipefail -c 'pytest | tail'
        bash -euo pipefail -c 'pytest | tail'
        bash -c "bash -c 'pytest'"
        timeout 60 bash -c 'pytest'
        pytest && echo passed
        echo start && pytest
        echo start; pytest
        ls -la; pwd; pytest
        pip install -e . && pytest
        npm ci && npm test
        pytest || exit 1
        pytest || false
        pytest # the whole suite
        true && pytest && true
        pytest;
        go generate ./... && go test ./...
    """,
    "lint": """
        ruff check
        ruff check .
        python -m ruff check src
        uvx ruff check
        flake8 src
        pylint src
        eslint .
        npx eslint src --max-warnings 0
        biome check .
        biome ci
        npm run lint
        npm run lint:ts
        pnpm lint
        yarn lint
        golangci-lint run ./...
        go vet ./...
        cargo clippy --all-targets -- -D warnings
        make lint
        shellcheck run.sh
        rubocop
        pre-commit run --all-files
        python -m pre_commit run -a
        cppcheck --error-exitcode=1 src
        tox -e lint
        ruff check . && echo clean
    """,
    "type-check": """
        mypy
        mypy .
        mypy --strict src
        python -m mypy src
        pyright
        npx pyright
        tsc --noEmit
        npx tsc -p tsconfig.json --noEmit
        npm run typecheck
        npm run type-check
        yarn typecheck
        cargo check
        deno check mod.ts
        ty check
        make typecheck
        tox -e mypy
    """,
    "build": """
        python -m build
        uv build
        npm run build
        pnpm build
        go build ./...
        cargo build --release
        make
        make all
        make -j8
        make clean build
        cmake --build build
        ninja
        ninja -C out
        mvn compile
        bazel build //...
        vite build
        next build
    """,
    "test lint": """
        pytest && ruff check .
        make lint test
        tox -e py311,lint
        set -e; ruff check .; pytest
    """,
    "test type-check": "mypy . && pytest",
    "test lint type-check": """
        ruff check . && mypy . && pytest -q
        bash -ec 'ruff check .; mypy .; pytest'
    """,
    "test build": """
        gradle build
        ./gradlew clean build
        mvn clean verify
        make && make test
    """,
    "type-check build": "dotnet build",
}

PROVES_NOTHING = {
    "the failure is hidden": """
        pytest || true
        pytest || :
        pytest || echo failed
        pytest || exit 0
        pytest || exit 256
        pytest; true
        pytest; echo $?
        pytest; exit 0
        pytest ; echo done
        pytest && false || true
        ! pytest
        ! pytest -q
        pytest &
        pytest & wait
        (pytest; true)
        { pytest; true; }
        (pytest) || true
        bash -c 'pytest || true'
        bash -c 'pytest; exit 0'
        bash -c "pytest | tail"
        set +e; pytest; true
        set -e; pytest || true
        set -e; pytest && true; true
        trap 'exit 0' EXIT; pytest
        trap 'exit 0' ERR; pytest
        timeout --preserve-status 5 pytest
    """,
    "a pipe without pipefail": """
        pytest | tail
        pytest -q | tee out.log
        pytest 2>&1 | tail -5
        pytest |& cat
        set -o pipefail; set +o pipefail; pytest | tail
        bash -c 'set -o pipefail'; pytest | tail
        (set -o pipefail); pytest | tail
        pytest | cat | tail
    """,
    "nothing of the kind runs": """
        echo pytest
        printf pytest
        echo "pytest -q"
        # pytest
        true
        ls tests
        cat pytest.ini
        which pytest
        command -v pytest
        pip install pytest
        pytest_helper
        ./pytest
        tests/pytest
        python pytest.py
        python -c 'import pytest'
        python -m pytest_watch
        grep -r pytest .
        git commit -m pytest
        npm install
        npm run dev
        npm start
        npx create-thing
        make clean
        make install
        cargo run
        cargo fmt
        go run .
        build
        unittest
        tsx test.ts
        node test.js --test
        man pytest
    """,
    "it may run something else": """
        $TEST
        $(echo pytest)
        `echo pytest`
        eval pytest
        eval "pytest -q"
        exec pytest
        source run.sh && pytest
        . ./env.sh && pytest
        alias pytest=true; pytest
        pytest() { true; }; pytest
        function pytest { true; }; pytest
        hash -p /bin/true pytest; pytest
        PATH=fake:$PATH pytest
        export PATH=fake; pytest
        PATH=fake; pytest
        PYTEST_ADDOPTS=--co pytest
        env PYTEST_ADDOPTS=--co pytest
        env -i pytest
        BASH_ENV=x bash -c pytest
        GOFLAGS=-run=x go test ./...
        CI=$(rm -rf x) pytest
        python -c "import pytest; pytest.main()" || pytest
        sudo pytest
        xargs pytest
        ssh host pytest
        docker run x pytest
        bash run.sh
        bash -c pytest -- x
        bash -n -c pytest
        bash
        bash <<EOF
        pytest $OPTS
        pytest ${OPTS}
        pytest "$@"
        pytest $(cat opts)
        pytest --co\\llect-only
        pytest -{k,x}
        pytest *
        pytest [-]-co
        pytest ~/other
        ./unknown.sh && pytest
        shopt -s expand_aliases; pytest
        enable -n pytest; pytest
        unset PYTHONPATH; pytest
        make test PYTEST=true
        make CC=true
        just test cmd=true
    """,
    "a construct that is not read": """
        if true; then pytest; fi
        if pytest; then true; fi
        while false; do pytest; done
        for x in a; do pytest; done
        case x in y) pytest;; esac
        [[ -f x ]] && pytest
        [ -f x ] && pytest
        coproc pytest
        pytest <<EOF
        pytest <<< x
        pytest < input
        pytest <(ls)
        pytest > >(cat)
        pytest >&-
        pytest 3> x
        pytest && (
        pytest 'unclosed
        pytest &&
        select x in a; do pytest; done
        time
        timeout pytest
        time -v pytest
    """,
    "it runs elsewhere": """
        cd .. && pytest
        cd ../other && pytest
        cd / && pytest
        cd /w && pytest
        cd /w/repository && pytest
        cd sub/../.. && pytest
        cd - && pytest
        cd ~ && pytest
        cd && pytest
        cd $HOME && pytest
        cd sub; pytest
        cd -P sub && pytest
        pushd sub && pytest
        bash -c 'cd .. && pytest'
    """,
    "an option with which it checks nothing": """
        pytest --collect-only
        pytest --co
        pytest @options
        pytest --pyargs json
        ruff check -
        flake8 -
        mypy @options
        npm test --script-shell=true
        npm --script-shell true test
        go test -count=0 ./...
        go test --count 0 ./...
        pytest --collect
        pytest -q --co
        pytest --version
        pytest -V
        pytest -h
        pytest --help
        pytest --fixtures
        pytest --markers
        pytest --setup-plan
        pytest --snapshot-update
        pytest -o addopts=--co
        pytest -c other.ini
        python -m pytest --collect-only
        uv run pytest --co
        bash -c 'pytest --co'
        timeout 5 pytest --help
        tox --notest
        tox -l
        tox list
        nox -l
        jest --listTests
        jest --passWithNoTests
        jest -u
        jest --watch
        npm test -- --watch
        npm test -- --passWithNoTests
        npm test --if-present
        npm test -v
        npm run test:watch
        npm run lint:fix
        npx vitest watch
        npx vitest list
        node --test --watch
        go test -c ./...
        go test -list . ./...
        go test -n ./...
        go build -n ./...
        cargo test --no-run
        cargo test -- --list
        cargo clippy --fix
        ctest -N
        mvn test -DskipTests
        mvn verify -Dmaven.test.skip=true
        mvn test -Dmaven.test.failure.ignore=true
        mvn -fn test
        gradle test --dry-run
        gradle build -x test
        make -n test
        make -i test
        make -ik test
        make -t test
        make --dry-run
        make --just-print test
        make -f other.mk test
        ruff check --fix .
        ruff check --exit-zero
        ruff check -e
        ruff check --add-noqa
        ruff format
        ruff
        flake8 --version
        pylint --exit-zero src
        pylint --fail-under=0 src
        pylint --disable=all src
        eslint --fix .
        eslint --print-config a.js
        biome check --write
        golangci-lint run --issues-exit-code=0
        golangci-lint run --new
        cppcheck src
        cppcheck --error-exitcode=0 src
        pre-commit run
        rubocop -a
        mypy --version
        mypy -c x
        mypy --help
        tsc --init
        tsc --version
        tsc -v
        tsc --showConfig
        tsc --noCheck
        tsc --watch
        cmake --build build --target clean
        ninja -n
        ninja clean
        webpack serve
        deno test --no-run
    """,
    "only a part is checked": """
        pytest -k fast
        pytest -kfast
        pytest -xk fast
        pytest -m "not slow"
        pytest --deselect tests/a.py::b
        pytest --ignore=tests/slow
        pytest --lf
        pytest --last-failed
        pytest --sw
        pytest tests/test_a.py::test_b
        python -m unittest -k fast
        npx jest -t name
        npx jest --onlyChanged
        npx vitest run --changed
        npx mocha --grep name
        npx playwright test -g name
        node --test --test-name-pattern=x
        go test -run '^$' ./...
        go test -run TestA ./...
        go test --run TestA ./...
        go test -skip TestA ./...
        cargo test name
        cargo test -- name
        cargo test -- --skip name
        ctest -R name
        mvn test -Dtest=A
        gradle test --tests A
        dotnet test --filter A
        rspec -e name
        phpunit --filter name
        ruff check --select E9
        ruff check --ignore E501
        flake8 --select E9
        mypy --exclude src .
    """,
}


def lines(text):
    return [line.strip() for line in text.strip().splitlines()]


ACCEPTED = [(kinds, command) for kinds, text in PROVES.items() for command in lines(text)]
REFUSED = [(why, command) for why, text in PROVES_NOTHING.items() for command in lines(text)]


@pytest.mark.parametrize(("kinds", "command"), ACCEPTED, ids=[command for _, command in ACCEPTED])
def test_it_proves(kinds, command):
    assert kinds_of(command, root="/w/repo") == tuple(kinds.split()), refusal(command, root="/w/repo")


@pytest.mark.parametrize(("why", "command"), REFUSED, ids=[f"{why}: {command}" for why, command in REFUSED])
def test_it_proves_nothing(why, command):
    assert kinds_of(command, root="/w/repo") == ()


LONG = {
    "lines, each of which must succeed": ("set -e\npytest\nmypy .\necho done\n", ("test", "type-check")),
    "a line that is continued": ("pytest \\\n  -q \\\n  tests", ("test",)),
    "a list over lines": ("cd sub &&\n  pytest &&\n  ruff check .", ("test", "lint")),
    "a comment before it": ("# run everything\npytest", ("test",)),
    "the last line counts": ("echo hello\npytest", ("test",)),
    "a check whose failure is forgotten": ("pytest\nmypy .", ("type-check",)),
    "what comes last": ("pytest\necho done", ()),
    "a heredoc into an interpreter": ("python - <<'EOF'\nimport pytest\nEOF", ()),
    "a heredoc into a check": ("pytest <<EOF\nx\nEOF", ()),
    "a comment that ends in a backslash": ("pytest # \\\ntrue", ()),
    "a quoted backslash": ("pytest '\\\n' || true", ()),
    "a carriage return": ("pytest\r\ntrue\r", ()),
    "a space that is none": ("pytest\u00a0|| true", ()),
    "an option in another script": ("pytest \u2013\u2013co", ("test",)),
    "nothing": ("", ()),
    "too long": ("pytest " + "x " * 20_000, ()),
    "a NUL": ("pytest\0", ()),
    "set -e forgotten in a list": ("set -e\nfalse && pytest\ntrue", ()),
    "set -e in a part of a list": ("(set -e; pytest; true) && echo yes", ()),
    "set -e in a shell of its own": ("bash -c 'set -e; pytest; true' && echo yes", ("test",)),
}


@pytest.mark.parametrize(("command", "kinds"), LONG.values(), ids=LONG)
def test_texts_of_several_lines(command, kinds):
    assert kinds_of(command) == kinds


def test_an_absolute_path_is_inside_only_if_the_workspace_is_known():
    assert kinds_of("cd /w/repo && pytest") == ()
    assert kinds_of("cd /w/repo && pytest", root="/w/repo/") == ("test",)


def test_a_project_names_commands_and_kinds_of_its_own():
    own = (("test", "./run_tests.sh"), ("docs", "make docs"))

    assert kinds_of("./run_tests.sh --fast", own) == ("test",)
    assert kinds_of("cd sub && ./run_tests.sh", own) == ("test",)
    assert kinds_of("pytest && make docs", own) == ("test", "docs")
    assert kinds_of("./run_tests.sh || true", own) == ()
    assert kinds_of("./run_tests.sh --help", own) == ()
    assert kinds_of("./run_tests.shx", own) == ()
    assert kinds_of("./run_tests.sh") == ()


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_a_kind_proves_it(kind):
    assert kind in kinds_of(EXAMPLES[kind])


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("pytest | tail", "pipefail"),
        ("pytest || true", "can hide a failure"),
        ("pytest -k x", "-k"),
        ("cd .. && pytest", "out of the workspace"),
        ("pytest &", "background"),
        ("cargo test name", "`name` selects a part"),
        ("rm -rf x", ""),
        ("pytest", ""),
    ],
)
def test_a_refusal_says_why(command, said):
    assert said in refusal(command)
    assert bool(refusal(command)) is bool(said)


def test_at_least_as_many_cases_as_the_table_promises():
    assert len(ACCEPTED) + len(REFUSED) > 350
