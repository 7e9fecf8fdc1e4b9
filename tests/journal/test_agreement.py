"""The journal in memory and the one on disk give the same answers to the same calls, whatever the calls."""

import asyncio
import shutil
import tempfile
from pathlib import Path

import attrs
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule
from journal.kit import draft

from fsm.journal.memory import MemoryJournal
from fsm.journal.sqlite import SqliteJournal
from states.errors import InterlockError
from states.ports import Claim
from states.records import Entry, Status, ToolResult, UserInput

NAMES = st.sampled_from(["s", "S", "会话", "a/b", "", "\udc80"])
RECORDS = st.one_of(
    st.builds(UserInput, st.text(max_size=20)),
    st.builds(
        ToolResult, st.text(max_size=3), st.sampled_from(Status), st.text(max_size=9), st.just({"exit_status": 0})
    ),
)
TIMES = st.floats(-1e12, 1e12) | st.just(-0.0)


class Agreement(RuleBasedStateMachine):
    claims = Bundle("claims")

    @initialize()
    def open(self):
        self.loop = asyncio.new_event_loop()
        self.home = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self.time = 0.0
        self.journals = [MemoryJournal(now=lambda: self.time), self.on_disk()]

    def on_disk(self):
        return SqliteJournal(self.home / "runs.db", now=lambda: self.time)

    def teardown(self):
        self.loop.run_until_complete(self.journals[1].close())
        self.loop.close()
        shutil.rmtree(self.home)

    def both(self, call):
        """Ask both; they must say the same. What they said, or the kind of their refusal."""
        self.time += 1
        said = []
        for journal, other in zip(self.journals, (0, 1), strict=True):
            try:
                said.append(self.loop.run_until_complete(call(journal, other)))
            except InterlockError as error:
                said.append(type(error))
        return said

    @rule(target=claims, name=NAMES, create=st.booleans())
    def claim(self, name, create):
        one, two = self.both(lambda journal, _: journal.claim(name, create=create))
        if not isinstance(one, Claim):
            assert one == two
            return multiple()
        assert attrs.astuple(one) == attrs.astuple(two)
        return one, two

    @rule(
        pair=claims,
        records=st.lists(RECORDS, max_size=3),
        slip=st.integers(-1, 1),
        seals=st.none() | st.integers(-1, 6),
        when=st.tuples(TIMES, st.sampled_from([0, 0, 0, 1])),
    )
    def append(self, pair, records, slip, seals, when):
        at, age = when  # of the entries, and how much too new their fence is
        slip = slip if len(records) == 2 else 0

        def drafts(claim):
            made = [draft(claim, r, ahead=i + slip, at=at, seals=seals if i else None) for i, r in enumerate(records)]
            return [attrs.evolve(d, entry=attrs.evolve(d.entry, fence=claim.fence + age)) for d in made]

        one, two = self.both(lambda journal, n: journal.append(pair[n], drafts(pair[n])))
        assert one == two
        assert attrs.astuple(pair[0]) == attrs.astuple(pair[1])

    @rule(pair=claims)
    def confirm(self, pair):
        one, two = self.both(lambda journal, n: journal.confirm(pair[n]))
        assert one == two

    @rule(pair=consumes(claims) | claims)
    def release(self, pair):
        one, two = self.both(lambda journal, n: journal.release(pair[n]))
        assert one is two is None

    @rule(name=NAMES, text=st.none() | st.text(max_size=9) | st.just("\udc80\0"))
    def post(self, name, text):
        one, two = self.both(lambda journal, _: journal.post(name, text))
        assert one == two

    @rule(name=NAMES, after=st.integers(-1, 6))
    def notes(self, name, after):
        one, two = self.both(lambda journal, _: journal.notes(name, after))
        assert one == two

    @rule(name=NAMES, text=st.sampled_from(["a", "b"]), identity=st.sampled_from(["1", "2", "\udc80"]))
    def queue(self, name, text, identity):
        one, two = self.both(lambda journal, _: journal.queue(name, text, identity))
        assert one == two

    @rule(name=NAMES, after=st.integers(-1, 6))
    def queued(self, name, after):
        one, two = self.both(lambda journal, _: journal.queued(name, after))
        assert one == two

    @rule(name=NAMES, other=NAMES, noted=st.integers(0, 9))
    def adopt(self, name, other, noted):
        async def copy(journal, _):
            await journal.adopt(other, await journal.dump(name), noted=noted)

        one, two = self.both(copy)
        assert one == two

    @rule(name=NAMES)
    def delete(self, name):
        one, two = self.both(lambda journal, _: journal.delete(name))
        assert one == two

    @rule()
    def crash(self):
        """The process dies and another opens the journal."""
        self.journals[0].crash()
        self.loop.run_until_complete(self.journals[1].close())
        self.journals[1] = self.on_disk()

    @rule(name=NAMES)
    def dump(self, name):
        one, two = self.both(lambda journal, _: journal.dump(name))
        assert one == two

    @rule(name=NAMES)
    def read(self, name):
        one, two = self.both(lambda journal, _: journal.read(name))
        assert one == two
        if isinstance(one, list):
            assert [entry.seq for entry in one] == list(range(1, len(one) + 1))
            assert all(isinstance(entry, Entry) for entry in one)

    @invariant()
    def sessions(self):
        one, two = self.both(lambda journal, _: journal.sessions())
        for memory, disk in zip(one, two, strict=True):
            assert attrs.evolve(memory, owner=bool(memory.owner)) == attrs.evolve(disk, owner=bool(disk.owner))


TestAgreement = Agreement.TestCase
TestAgreement.settings = settings(max_examples=40, stateful_step_count=25, deadline=None, derandomize=True)
